"""Fourier features of any spectral measure: the composition that the named methods are cases of."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from rflib.frequencies.directions import DIRECTIONS
from rflib.frequencies.draw import RADII, Frequencies, sample_frequencies
from rflib.kernels.base import UNIT_NORM_TOLERANCE
from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import RandomFeatureMap, Seed
from rflib.maps.cosine_features import cosine_features
from rflib.measures.base import Sampling, SpectralMeasure
from rflib.measures.construct import MeasureLike, construct
from rflib.measures.domain import Domain, RangeWarning, distances_from
from rflib.validation import check_choice

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
    radii : {"iid", "stratified", "halton", "joint"}
        Norms of the frequencies; see `rflib.frequencies.draw`.
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
    centre_ : ndarray of shape (n_features_in_,)
        Centre of the training rows, where the measure has a range; zero on the unit sphere.
    radius_ : float
        Distance from the centre up to which the measure represents the kernel; infinite for an exact measure.

    Warns
    -----
    RangeWarning
        If `transform` gets rows farther than radius_ from the centre (`rflib.measures.RangeWarning`).
    """

    # The papers count s positive and s negative frequencies of signed measures.
    frequencies_per_s: ClassVar[int] = 1
    _state = ("frequencies_", "weights_", "phases_", "centre_", "radius_")

    def __init__(
        self,
        kernel: KernelLike = None,
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
        """Columns for one of the papers' features: of each frequency 2 with cosine and sine, 1 with phases."""
        return self.frequencies_per_s * (2 if self.layout == "cos_sin" else 1)

    def _surely_finite(self, X: NDArray) -> bool:
        largest = max(1.0, float(X.max()), -float(X.min()))
        return bool(largest * np.abs(self.frequencies_).sum(axis=1).max() < np.finfo(X.dtype).max)

    def spectrum(self, X: ArrayLike) -> SpectralMeasure:
        """Return the measure that `fit` would construct for the rows X, to be given as ``measure``."""
        rows = check_array(X, dtype=[np.float64, np.float32], order="C", estimator=self)
        kernel, rows = self._resolved_kernel().for_rows(rows).isotropic(rows)
        kernel.check_rows(rows)
        return construct(self.measure, kernel, Domain.of(rows))

    def _draw(self, X: NDArray, y: ArrayLike | None, rng: Generator) -> None:
        sampling = self._sampling()
        self._construct(X, sampling)
        rules = {"directions": self.directions, "radii": self.radii}
        self._keep(sample_frequencies(self.measure_, sampling.n, **rules, rng=rng), rng)

    def _check_parameters(self) -> None:
        check_choice(self, "directions", tuple(DIRECTIONS))
        check_choice(self, "radii", RADII)
        check_choice(self, "layout", LAYOUTS)

    def _n_frequencies(self) -> int:
        self._check_parameters()
        return self.n_components if self.layout == "phase" else (self.n_components + 1) // 2

    def _sampling(self) -> Sampling:
        n = self._n_frequencies()
        return Sampling(n, self.directions, self.radii, phases=n - self._n_pairs())

    def _construct(self, X: NDArray, sampling: Sampling) -> None:
        """Set the measure for the sampling and the range, around the rows X, on which it represents the kernel."""
        domain = Domain.of(X)
        self.measure_ = construct(self.measure, self.kernel_, domain).for_sampling(sampling)
        self.radius_ = self.measure_.zmax / 2
        self.centre_ = domain.ball[0] if np.isfinite(self.radius_) else np.zeros(X.shape[1])

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
        self._warn_beyond_range(X)
        pairs = self.n_components_ - len(self.weights_)
        amplitudes = np.sqrt(np.abs(self.weights_))
        amplitudes[pairs:] *= np.sqrt(2)
        return cosine_features(X, self.frequencies_, self.phases_, amplitudes, pairs)

    def _warn_beyond_range(self, X: NDArray) -> None:
        if not np.isfinite(self.radius_):
            return
        distances = distances_from(self.centre_, X)
        beyond = int(np.sum(distances > self.radius_ * (1 + UNIT_NORM_TOLERANCE)))
        if beyond:
            warnings.warn(
                f"{type(self).__name__}: {beyond} of {len(X)} rows are outside the range of the training rows, "
                f"at a distance of up to {distances.max():.4g} from their centre, and the features represent the "
                f"kernel up to {self.radius_:.4g} only. Fit the map on rows that cover these, or use one with "
                "an exact measure, such as RFF, ORF or GORF.",
                RangeWarning,
                stacklevel=6,
            )
