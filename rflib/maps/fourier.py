"""Fourier features of any spectral measure; RFF, ORF and the other named methods are special cases."""

from __future__ import annotations

from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from rflib.frequencies.directions import DIRECTIONS
from rflib.frequencies.draw import RADII, Frequencies, sample_frequencies
from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array
from rflib.kernels.sparse_rows import Rows, canonical
from rflib.maps.parameters import Directions, Layout, Radii, with_parameters
from rflib.maps.wave_features import WaveFeatures
from rflib.maps.waves import Waves
from rflib.measures.base import Sampling, SpectralMeasure
from rflib.measures.construct import MeasureLike, construct, construction_of
from rflib.measures.domain import Domain, distances_from
from rflib.measures.exact_measures import has_exact_measure
from rflib.validation import check_choice

LAYOUTS = get_args(Layout)
_OF_THE_KERNEL_ALONE = ("exact", "digmm_reference", "reference", "truncated_fourier")


@with_parameters
class FourierFeatures(WaveFeatures):
    """Approximate a kernel with cosines and sines of frequencies drawn from any of its spectral measures.

    RFF, ORF, QMC, GRFF, GORF, SRF and DIGMM are this class with their own defaults. If the frequencies are
    v_f and their signed weights w_f, then the estimate K_hat(x, y) is sum_f w_f cos(<v_f, x - y>), in expectation
    over random phases.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `RandomFeatureMap`.
    measure : str, dict or SpectralMeasure, default="auto"
        What the frequencies are drawn from; see `rflib.measures.construct`.
    directions : {"iid", "orthogonal", "distance", "frame", "halton", "sobol"}, default="iid"
        How the directions of the frequencies are drawn; see `rflib.frequencies.directions`.
    radii : {"iid", "paired", "stratified", "halton", "joint"}, default="iid"
        How the norms of the frequencies are drawn; see `rflib.frequencies.draw`.
    layout : {"cos_sin", "phase"}, default="cos_sin"
        The columns of a frequency; both layouts are those of Rahimi and Recht 2007.

        - "cos_sin": D/2 frequencies have the two columns sqrt(|w_f|) cos(<v_f, x>) and sqrt(|w_f|) sin(<v_f, x>).
          All cosines come before the sines. If D is odd, one more frequency has a single column as in "phase".
        - "phase": D frequencies have one column sqrt(2 |w_f|) cos(<v_f, x> + b_f) each, with uniform random phases
          b_f. This layout has more variance for rows that are near each other.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_frequencies, n_features_in_)
        The frequencies v_f, in inverse units of the inputs.
    weights_ : ndarray of shape (n_frequencies,)
        The signed weights w_f, in units of the kernel.
    phases_ : ndarray of shape (n_frequencies,)
        The phases b_f in radians, zero for a frequency with a cosine and a sine. A zero frequency, which stands
        for a constant, has the phase pi/4, so that none of its columns is zero.
    measure_ : SpectralMeasure
        The measure that was used.
    centre_ : ndarray of shape (n_features_in_,)
        Centre of the training rows; zero for rows of unit norm, and if the measure is exact.
    radius_ : float
        Distance from the centre up to which the measure represents the kernel, in units of the inputs; infinite
        for an exact measure.

    Warns
    -----
    RangeWarning
        If `transform` gets rows unlike the training rows, and its measure was fitted to the kernel near these only
        (`rflib.measures.RangeWarning`).

    See Also
    --------
    RFF : Independent frequencies of the exact measure.
    ORF : Orthogonal ones.
    rflib.measures.construct : What a measure may be.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import FourierFeatures
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> features = FourierFeatures(Gaussian("median"), 64, directions="orthogonal", radii="paired", random_state=0)
    >>> features.fit_transform(X).shape
    (178, 64)
    """

    measure: MeasureLike = "auto"
    directions: Directions | Literal["distance"] = "iid"
    radii: Radii | Literal["joint"] = "iid"
    layout: Layout = "cos_sin"

    # For signed measures, the papers' s counts the positive frequencies and again the negative ones.
    frequencies_per_s: ClassVar[int] = 1

    @property
    def columns_per_s(self) -> int:
        """Number of columns for one feature as the papers count them, which has one frequency or two."""
        return self.frequencies_per_s * (2 if self.layout == "cos_sin" else 1)

    @property
    def _needs_rows(self) -> bool:
        """Whether the measure is made for the rows or has a range, which rows of unit norm have in common."""
        measure, kernel = self.measure, self._resolved_kernel()
        if isinstance(measure, SpectralMeasure):
            return bool(np.isfinite(measure.zmax)) and not kernel.unit_norm
        name = construction_of(measure, kernel)["type"]
        if name == "srf":
            return not kernel.unit_norm
        return not has_exact_measure(kernel) if name == "digmm" else name not in _OF_THE_KERNEL_ALONE

    def spectrum(self, X: ArrayLike) -> SpectralMeasure:
        """Return the measure that `fit` constructs for the rows X, which may be given as ``measure``."""
        how = {"dtype": [np.float64, np.float32], "order": "C", "accept_sparse": self._accepted_sparse}
        rows = canonical(check_array(X, **how, estimator=self))
        kernel, rows = self._resolved_kernel().for_rows(rows).isotropic(rows)
        kernel.check_rows(rows)
        return construct(self.measure, kernel, Domain.of(rows))

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        self._check_parameters()
        rules, n = self._rules(), self._n_frequencies()
        self._construct(kernel, X, Sampling(n, **rules))
        self._keep_frequencies(sample_frequencies(self.measure_, n, **rules, rng=rng), rng)

    def _rules(self) -> dict[str, str]:
        """Return how directions and norms are drawn."""
        return {"directions": self.directions, "radii": self.radii}

    def _check_parameters(self) -> None:
        check_choice(self, "directions", tuple(DIRECTIONS))
        check_choice(self, "radii", RADII)
        check_choice(self, "layout", LAYOUTS)

    def _n_frequencies(self) -> int:
        return self.n_components if self.layout == "phase" else (self.n_components + 1) // 2

    def _construct(self, kernel: Kernel, X: Rows, sampling: Sampling) -> None:
        """Set the measure for the sampling, and the ball around the rows X in which it represents the kernel."""
        domain = Domain.of(X)
        measure = construct(self.measure, kernel, domain)
        self.measure_: SpectralMeasure = measure.for_sampling(sampling)
        self.radius_ = self.measure_.zmax / 2
        self.centre_ = domain.ball[0].copy() if np.isfinite(self.radius_) else np.zeros(domain.dimension)

    def _keep_frequencies(self, frequencies: Frequencies, rng: Generator) -> None:
        """Set the state; a zero frequency comes last, where it may have one column instead of two."""
        order = np.argsort(~frequencies.vectors.any(axis=1), kind="stable")
        vectors, weights = frequencies.vectors[order], frequencies.weights[order]
        n_pairs = 0 if self.layout == "phase" else self.n_components // 2
        self._keep(Waves.of(vectors, weights, n_pairs, rng))

    def _reach(self, X: Rows) -> Array | None:
        if not np.isfinite(self.radius_):
            return None
        return (distances_from(self.centre_, X) / float(self.radius_)) ** 2
