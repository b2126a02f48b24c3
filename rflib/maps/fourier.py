"""Fourier features of any spectral measure: the composition that the named methods are cases of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from rflib.frequencies.sample import Frequencies, sample_frequencies
from rflib.kernels.base import Kernel
from rflib.maps.base import RandomFeatureMap, Seed
from rflib.maps.waves import waves
from rflib.measures.base import SpectralMeasure
from rflib.measures.construct import MeasureLike, construct

LAYOUTS = ("cos_sin", "phase")


class FourierFeatures(RandomFeatureMap):
    """Fourier features: a spectral measure, directions and norms of the frequencies, and a layout of columns.

    RFF, ORF, QMC, GRFF, GORF, MVORF, SRF and DIGMM are this class with their own defaults. With frequencies
    v_f and signed weights w_f, K_hat(x, y) is (in expectation over the phases) sum_f w_f cos(<v_f, x - y>).

    Parameters
    ----------
    kernel : Kernel, callable or None
        Kernel to approximate, or its profile as a function of the distance; None is Gaussian(sigma=1).
    n_components : int
        Number of columns D.
    measure : str, dict or SpectralMeasure
        What the frequencies are drawn from; see `rflib.measures.construct`.
    directions : {"iid", "orthogonal", "frame", "halton", "sobol"}
        Directions of the frequencies.
    radii : {"iid", "stratified", "halton"}
        Norms of the frequencies.
    layout : {"cos_sin", "phase"}
        "cos_sin": columns sqrt(|w_f|) cos(<v_f, x>) for D/2 frequencies, then the sines (the lecture's first
        map); for odd D one more frequency has a single column of the other kind. "phase": columns
        sqrt(2 |w_f|) cos(<v_f, x> + b_f) with uniform phases for D frequencies (its second map), which has
        more variance for rows that are near each other.
    random_state : int, Generator, SeedSequence, RandomState or None
        Seed; the same integer gives the same features on every machine.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_frequencies, n_features_in_)
        The v_f, in inverse units of the inputs.
    weights_ : ndarray of shape (n_frequencies,)
        The signed w_f.
    phases_ : ndarray of shape (n_frequencies,)
        The b_f. A zero frequency, the constant, has pi/4: then its columns are equal and none is zero.
    measure_ : SpectralMeasure
        The measure that was used (after `fit`, not after `restore`).
    """

    _state = ("frequencies_", "weights_", "phases_")

    frequencies_: NDArray[np.float64]
    weights_: NDArray[np.float64]
    phases_: NDArray[np.float64]

    def __init__(
        self,
        kernel: Kernel | Callable[[NDArray], NDArray] | None = None,
        n_components: int = 100,
        *,
        measure: MeasureLike = "auto",
        directions: str = "iid",
        radii: str = "iid",
        layout: str = "cos_sin",
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.measure = measure
        self.directions = directions
        self.radii = radii
        self.layout = layout
        self.random_state = random_state

    @property
    def columns_per_s(self) -> int:
        """Columns for one of the papers' features: 2 with cosine and sine, 1 with phases."""
        return 2 if self.layout == "cos_sin" else 1

    def _surely_finite(self, X: NDArray) -> bool:
        largest = max(1.0, float(X.max()), -float(X.min()))
        return bool(largest * np.abs(self.frequencies_).sum(axis=1).max() < np.finfo(X.dtype).max)

    def spectrum(self, X: ArrayLike) -> SpectralMeasure:
        """Return the measure that `fit` would construct for the rows X, to be given as ``measure``."""
        rows = self._checked(X, reset=True)
        kernel = self._resolved_kernel()
        kernel.check_rows(rows)
        return construct(self.measure, kernel, rows)

    def _draw(self, X: NDArray, y: ArrayLike | None, rng: Generator) -> None:
        n = self._n_frequencies()
        block = X.shape[1] if self.directions == "orthogonal" else 1
        self.measure_ = construct(self.measure, self.kernel_, X).for_frequencies(
            n, block, by_atom=self.radii == "stratified"
        )
        self._keep(
            sample_frequencies(self.measure_, n, directions=self.directions, radii=self.radii, rng=rng), rng
        )

    def _n_frequencies(self) -> int:
        if self.layout not in LAYOUTS:
            raise ValueError(
                f"{type(self).__name__}: unknown layout {self.layout!r}, choose one of {LAYOUTS}."
            )
        return self.n_components if self.layout == "phase" else (self.n_components + 1) // 2

    def _keep(self, frequencies: Frequencies, rng: Generator) -> None:
        """Set the state; a constant goes last, where it may need one column instead of two."""
        order = np.argsort(~frequencies.vectors.any(axis=1), kind="stable")
        self.frequencies_, self.weights_ = frequencies.vectors[order], frequencies.weights[order]
        n, pairs = len(order), self._n_pairs()
        phases = np.concatenate([np.zeros(pairs), rng.uniform(0, 2 * np.pi, n - pairs)])
        self.phases_ = np.where(self.frequencies_.any(axis=1), phases, np.pi / 4)
        sign = np.where(self.weights_ < 0, -1.0, 1.0)
        self.signature_ = np.concatenate([sign[:pairs], sign[:pairs], sign[pairs:]])

    def _n_pairs(self) -> int:
        return 0 if self.layout == "phase" else self.n_components // 2

    def _columns(self, X: NDArray) -> NDArray[np.floating]:
        pairs = self.n_components_ - len(self.weights_)
        amplitudes = np.sqrt(np.abs(self.weights_))
        amplitudes[pairs:] *= np.sqrt(2)
        return waves(X, self.frequencies_, self.phases_, amplitudes, pairs)
