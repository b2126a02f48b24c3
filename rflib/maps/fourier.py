"""Fourier features of any spectral measure; RFF, ORF and the other named methods are special cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from typing import ClassVar, NoReturn

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.extmath import row_norms

from rflib.frequencies.composition import Composition, Ranks, compose, share_of_cosines
from rflib.frequencies.directions import DIRECTIONS
from rflib.frequencies.draw import RADII, Frequencies, sample_frequencies
from rflib.frequencies.leading_harmonics import LeadingHarmonics, lead
from rflib.frequencies.products import NO_PRODUCTS, Products
from rflib.kernels.base import Kernel, RadialKernel
from rflib.kernels.namespaces import Array, beside, in_type_of, namespace
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.sparse_rows import Rows, ShiftedRows, canonical, largest_size
from rflib.maps.base import RandomFeatureMap, Seed
from rflib.maps.cosine_features import cosine_features
from rflib.maps.cosine_gradients import cosine_gradients
from rflib.maps.exact_harmonics import ExactHarmonics
from rflib.maps.row_dependence import measure_needs_rows
from rflib.measures.atomic import AtomicLadder, AtomicMeasure
from rflib.measures.base import ProductMeasure, RadialMeasure, Sampling, SpectralMeasure
from rflib.measures.construct import MeasureLike, construct
from rflib.measures.control_variates import ControlVariate, control_variates
from rflib.measures.digmm_reference import DifferenceOfMixtures
from rflib.measures.domain import Domain, DomainOfRows, distances_from
from rflib.measures.row_pairs import RowPairs
from rflib.measures.variance import signed_atoms
from rflib.validation import check_choice, refuse

LAYOUTS = ("cos_sin", "phase")
_N_PAIRS = 225
# The rank of degree 0 where harmonics is a number: each unit of this rank costs one column only.
_RANK_OF_CONSTANTS = 4
_N_NORMS = 512
# Harmonics alone are preferred up to this ratio of the mean squared errors, because they are better for learners.
_PREFERENCE = 1.1

_EXACT = tuple(field.name for field in fields(ExactHarmonics))

Harmonics = None | str | int | tuple[int, int, int] | tuple[int, int, int, int]


def _is_harmonics(value: object) -> bool:
    if isinstance(value, tuple | list):
        return len(value) in (3, 4) and all(
            isinstance(rank, int | np.integer) and rank >= 0 for rank in value
        )
    return value is None or (not isinstance(value, bool) and value in ("auto", 0, 1, 2, 3))


class FourierFeatures(RandomFeatureMap):
    """Approximate a kernel with cosines and sines of frequencies drawn from any of its spectral measures.

    RFF, ORF, QMC, GRFF, GORF, MVORF, SRF and DIGMM are this class with their own defaults. If the frequencies are
    v_f and their signed weights w_f, then the estimate K_hat(x, y) is sum_f w_f cos(<v_f, x - y>), in expectation
    over random phases.

    Parameters
    ----------
    kernel : Kernel, callable or None, default=None
        Kernel to approximate; None means Gaussian("scale"), and a function of one array is the profile of a
        kernel.
    n_components : int, default=100
        Number of columns D.
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
    harmonics : None, "auto", int or tuple of 3 or 4 int, default=None
        The spherical harmonics of the kernel, as seen from the mean of the training rows, that have exact columns
        and are removed from the drawn ones (`rflib.measures.control_variates`). They need a radial measure.

        - None: no harmonics.
        - An integer q from 0 to 3: the degrees 0 to q, with rank 4 for degree 0 and rank 1 for the others.
        - Three or four integers: the ranks for the degrees 0, 1, 2 and 3. Each unit of rank costs 1, d,
          d(d+1)/2 - 1 and d(d-1)(d+4)/6 columns, respectively.
        - "auto": the choice with the least predicted error. It needs atoms with stratified norms and orthogonal
          directions, and is an error elsewhere. Parts with much noise are then shrunk, which adds a bias that
          vanishes as n_components grows.
    parity : bool or "auto", default=False
        Whether cosines and sines have different frequencies, in the numbers that have the least variance. "auto"
        takes the choice with the least predicted error where harmonics="auto" is possible; elsewhere it is True if
        harmonics are exact, and otherwise False.
    coupled : bool or "auto", default=False
        Whether the orthogonal bases of an atom, or of a part of the measure, share one random rotation and are as
        far apart as possible (`rflib.frequencies.coupled`). "auto" couples them wherever this is possible,
        which is with directions="orthogonal" and layout="cos_sin".
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the random draws. An integer gives the same features on every machine.

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
    composition_ : Composition or LeadingHarmonics
        The chosen columns, if they were chosen by their predicted error (`rflib.frequencies.composition`).
    predicted_error_ : float
        Predicted root mean square error of one kernel value over all n^2 pairs of n rows like the training rows, n
        of which pair a row with itself; n is the number of training rows, but 1,000 if they are more. It is
        an absolute error: divide it by the root mean square of the kernel's values to compare it with
        `rflib.metrics.relative_frobenius_error`. It is set where composition_ is.

    Warns
    -----
    RangeWarning
        If `transform` gets rows unlike the training rows, and the map represents the kernel near these only
        (`rflib.measures.RangeWarning`): its measure was fitted, or it has exact columns.
    """

    # For signed measures, the papers' s counts the positive frequencies and again the negative ones.
    frequencies_per_s: ClassVar[int] = 1
    _takes_sparse = True
    measure: MeasureLike | None
    measure_: SpectralMeasure
    # The values for subclasses without these parameters, and for maps without exact columns.
    harmonics: Harmonics = None
    parity: bool | str = False
    coupled: bool | str = False
    n_sines_ = 0

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        measure: MeasureLike = "auto",
        directions: str = "iid",
        radii: str = "iid",
        layout: str = "cos_sin",
        harmonics: Harmonics = None,
        parity: bool | str = False,
        coupled: bool | str = False,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.measure = measure
        self.directions = directions
        self.radii = radii
        self.layout = layout
        self.harmonics = harmonics
        self.parity = parity
        self.coupled = coupled
        self.random_state = random_state

    @property
    def columns_per_s(self) -> int:
        """Number of columns for one feature as the papers count them.

        Each of its frequencies has two columns with layout="cos_sin" and one column with layout="phase".
        """
        return self.frequencies_per_s * (2 if self.layout == "cos_sin" else 1)

    @property
    def _needs_rows(self) -> bool:
        return self._has_options() or measure_needs_rows(self.construction(), self._resolved_kernel())

    def _surely_finite(self, X: Rows) -> bool:
        exact, d = self._exact(), X.shape[1]
        largest = max(1.0, largest_size(X)) + np.abs(exact.pole).max()
        norm = row_norms(self.frequencies_).max(initial=0.0)
        reach = largest * max(float(norm) * d**0.5, d / exact.unit)
        return bool(reach ** max(1, exact.degrees.max(initial=0)) < namespace(X).finfo(X.dtype).max)

    def spectrum(self, X: ArrayLike) -> SpectralMeasure:
        """Return the measure that `fit` constructs for the rows X, which may be given as ``measure``."""
        sparse = self._accepted_sparse
        rows = check_array(X, dtype=[np.float64, np.float32], order="C", accept_sparse=sparse, estimator=self)
        rows = canonical(rows)
        kernel, rows = self._resolved_kernel().for_rows(rows).isotropic(rows)
        kernel.check_rows(rows)
        return construct(self.construction(), kernel, Domain.of(rows))

    def construction(self) -> MeasureLike:
        """Return the measure, or its name and options, that `rflib.measures.construct` is asked for."""
        assert self.measure is not None
        return self.measure

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        self._check_parameters()
        if self._has_options():
            self._draw_with_options(kernel, X, rng)
            return
        sampling = self._sampling()
        self._construct(kernel, X, sampling)
        rules = {"directions": self.directions, "radii": self.radii}
        self._keep(sample_frequencies(self.measure_, sampling.n, **rules, rng=rng), rng)
        self._keep_exact(np.zeros(X.shape[1]), ())

    def _is_composed(self) -> bool:
        """Return whether columns are chosen by predicted error with this layout, directions and radii."""
        return (self.layout, self.directions, self.radii) == ("cos_sin", "orthogonal", "stratified")

    def _has_options(self) -> bool:
        """Return whether harmonics, parity or coupled is requested and applies."""
        can_couple = self.directions == "orthogonal" and self.layout == "cos_sin"
        coupled = self.coupled is True or (self.coupled == "auto" and can_couple)
        parity = self.parity is True or (self.parity == "auto" and self._is_composed())
        return coupled or parity or self.harmonics is not None

    def _ranks(self) -> Ranks | None:
        """Return the requested ranks, or None for the best ones."""
        if self.harmonics == "auto":
            return None
        if isinstance(self.harmonics, tuple | list):
            zeroth, first, second, third = (*self.harmonics, 0)[:4]
            return zeroth, first, second, third
        highest = -1 if self.harmonics is None else int(self.harmonics)
        zeroth = _RANK_OF_CONSTANTS if highest >= 0 else 0
        return zeroth, int(highest >= 1), int(highest >= 2), int(highest >= 3)

    def _draw_with_options(self, kernel: Kernel, X: Rows, rng: Generator) -> None:
        domain = Domain.of(X)
        pairs = domain.pairs(_N_PAIRS)
        measure = construct(self.construction(), kernel, domain)
        radial = not isinstance(measure, ProductMeasure | DifferenceOfMixtures)
        if self.layout != "cos_sin" or self.radii == "joint" or not radial:
            raise ValueError(
                f"{type(self).__name__}: harmonics, parity and coupled need layout='cos_sin', norms that are not "
                "drawn jointly with the directions (radii='joint'), and a radial measure of the kernel. "
                "Change these, or leave out harmonics, parity and coupled."
            )
        self._keep_range(measure, domain)
        if self._is_composed() and isinstance(measure, AtomicLadder | AtomicMeasure):
            composition, pairs = self._best(kernel, measure.rungs, pairs, positive=measure.definite)
            exact = self._draw_composition(composition, rng)
            every = domain.all_pairs if pairs.centre.any() else domain.all_pairs.from_the_origin()
            values = _exact_at(kernel, every).tobytes()
            self.predicted_error_ = _predicted_error(composition, values, every)
        else:
            exact = self._sample(measure, pairs, rng)
        self.phases_ = np.zeros(len(self.weights_))
        self.signature_ = np.where(self.weights_ < 0, -1.0, 1.0)
        self._keep_exact(pairs.centre.copy(), *exact)

    def _best(
        self, kernel: Kernel, rungs: Sequence[AtomicMeasure], pairs: RowPairs, *, positive: bool
    ) -> tuple[Composition | LeadingHarmonics, RowPairs]:
        """Return the columns with the least predicted error for atoms with stratified norms, and their pole.

        Seen from the origin of the unit sphere, no harmonic of a kernel that is positive definite there has a
        negative sign. Seen from the mean of the rows, harmonics of low degree hold more of the kernel.
        """
        poles = [pairs, pairs.from_the_origin()] if positive and kernel.unit_norm else [pairs]
        found = [(self._composition(kernel, rungs, each, positive=positive), each) for each in poles]
        chosen = [(composition, each) for composition, each in found if composition is not None]
        if not chosen:
            self._refuse_few(len(pairs.centre))
        return min(chosen, key=lambda each: each[0].mean_squared_error)

    def _draw_composition(
        self, composition: Composition | LeadingHarmonics, rng: Generator
    ) -> tuple[tuple[ControlVariate, ...], Products]:
        self.composition_, self.measure_ = composition, composition.measure
        frequencies, weights, self.n_sines_ = composition.draw(rng)
        # If further columns would not lower the error, the remaining ones are zero.
        spare = self.n_components - composition.n_exact - len(weights)
        self.frequencies_ = np.concatenate([np.zeros((spare, frequencies.shape[1])), frequencies])
        self.weights_ = np.concatenate([np.zeros(spare), weights])
        return composition.controls, composition.products(rng)

    def _composition(
        self, kernel: Kernel, rungs: Sequence[AtomicMeasure], pairs: RowPairs, *, positive: bool
    ) -> Composition | LeadingHarmonics | None:
        """Return the columns with the least predicted error, where required with the sign +1 only."""
        exact, ranks = _exact_at(kernel, pairs), self._ranks()
        parity = None if self.parity == "auto" else bool(self.parity)
        options = {"coupled": bool(self.coupled), "positive": positive}
        best = compose(rungs, exact, pairs, self.n_components, ranks=ranks, parity=parity, **options)
        if ranks is None and parity is None:
            leading = lead(rungs, exact, pairs, self.n_components, **options)
            if leading and (
                best is None or leading.mean_squared_error < _PREFERENCE * best.mean_squared_error
            ):
                return leading
        return best

    def _sample(
        self, measure: SpectralMeasure, pairs: RowPairs, rng: Generator
    ) -> tuple[tuple[ControlVariate, ...], Products]:
        """Draw columns of frequencies whose norms follow the measure."""
        ranks = self._ranks()
        measure = measure.for_sampling(self._sampling())
        assert isinstance(measure, RadialMeasure)
        if ranks is None:
            raise ValueError(
                f"{type(self).__name__}: harmonics='auto' needs an atomic measure, such as 'minimum_residual', "
                "directions='orthogonal' and radii='stratified'. Set these, or set harmonics to a number or to "
                "three ranks."
            )
        radii, weights = signed_atoms(measure, _N_NORMS)
        exact = control_variates(len(pairs.centre), radii, weights, pairs.anchors, ranks)
        controls = tuple(control for control in exact if control.n_columns)
        left = self.n_components - sum(control.n_columns for control in controls)
        least = sum(1 for _ in measure.parts())
        if left < 2 * least:
            self._refuse_few(len(pairs.centre))
        coupled = self.coupled and self.directions == "orthogonal"
        rules = {"directions": "coupled" if coupled else self.directions, "radii": self.radii}
        apart = any(ranks) if self.parity == "auto" else self.parity
        shared = not apart and left % 2 == 0
        n_cosines = left // 2
        if not shared:
            n_cosines = int(
                np.clip(round(share_of_cosines(measure, ranks, pairs) * left), least, left - least)
            )
        cosines = sample_frequencies(measure, n_cosines, **rules, rng=rng)
        sines = cosines if shared else sample_frequencies(measure, left - n_cosines, **rules, rng=rng)
        self.measure_ = measure
        self.frequencies_ = np.concatenate([cosines.vectors, sines.vectors])
        self.weights_ = np.concatenate([cosines.weights, sines.weights])
        self.n_sines_ = len(sines.weights)
        return controls, NO_PRODUCTS

    def _refuse_few(self, d: int) -> NoReturn:
        raise ValueError(
            f"{type(self).__name__}: n_components={self.n_components} columns are too few for "
            f"harmonics={self.harmonics!r} in {d} dimensions and a column for each atom or part of the measure. "
            "Use more columns or fewer harmonics."
        )

    def _keep_exact(
        self, pole: NDArray, controls: Sequence[ControlVariate], products: Products = NO_PRODUCTS
    ) -> None:
        exact = ExactHarmonics.of(pole, controls, self.frequencies_, products)
        for name in _EXACT:
            setattr(self, f"exact_{name}_", getattr(exact, name))
        self.signature_ = np.concatenate([self.signature_, exact.column_signs()])

    def _exact(self) -> ExactHarmonics:
        return ExactHarmonics(*(getattr(self, f"exact_{name}_") for name in _EXACT))

    def _check_parameters(self) -> None:
        check_choice(self, "directions", tuple(rule for rule in DIRECTIONS if rule != "coupled"))
        check_choice(self, "radii", RADII)
        check_choice(self, "layout", LAYOUTS)
        for name in ("parity", "coupled"):
            if getattr(self, name) not in (True, False, "auto"):
                refuse(self, name, "True, False or 'auto'")
        if not _is_harmonics(self.harmonics):
            refuse(self, "harmonics", "None, 'auto', 0, 1, 2, 3, or three or four ranks of at least 0")
        if self.coupled is True and self.directions != "orthogonal":
            refuse(
                self, "coupled", f"False or 'auto' unless directions='orthogonal' (it is {self.directions!r})"
            )

    def _n_frequencies(self) -> int:
        self._check_parameters()
        return self.n_components if self.layout == "phase" else (self.n_components + 1) // 2

    def _sampling(self) -> Sampling:
        n = self._n_frequencies()
        return Sampling(n, self.directions, self.radii, phases=n - self._n_pairs())

    def _construct(self, kernel: Kernel, X: Rows, sampling: Sampling) -> None:
        """Set the measure for the sampling, and the ball around the rows X in which it represents the kernel."""
        domain = Domain.of(X)
        self.measure_ = construct(self.construction(), kernel, domain).for_sampling(sampling)
        self._keep_range(self.measure_, domain)

    def _keep_range(self, measure: SpectralMeasure, domain: DomainOfRows) -> None:
        """Set the ball around the rows of the domain in which the measure represents the kernel."""
        self.radius_ = measure.zmax / 2
        self.centre_ = domain.ball[0].copy() if np.isfinite(self.radius_) else np.zeros(domain.dimension)

    def _keep(self, frequencies: Frequencies, rng: Generator) -> None:
        """Set the state; a zero frequency comes last, where it may have one column instead of two."""
        order = np.argsort(~frequencies.vectors.any(axis=1), kind="stable")
        self.frequencies_, self.weights_ = frequencies.vectors[order], frequencies.weights[order]
        n, pairs = len(order), self._n_pairs()
        phases = np.concatenate([np.zeros(pairs), rng.uniform(0, 2 * np.pi, n - pairs)])
        self.phases_ = np.where(self.frequencies_.any(axis=1), phases, np.pi / 4)
        sign = np.where(self.weights_ < 0, -1.0, 1.0)
        self.signature_ = np.concatenate([sign[:pairs], sign[:pairs], sign[pairs:]])
        self.n_sines_ = 0

    def _n_pairs(self) -> int:
        return 0 if self.layout == "phase" else self.n_components // 2

    def _columns(self, X: Rows) -> Array:
        exact = self._exact()
        n_exact = len(exact.column_signs())
        n_sines = int(self.n_sines_)
        phases, shifted = self.phases_, bool(self.exact_pole_.any())
        if not shifted:
            Y = X
        elif issparse(X):  # the products with X minus the pole are those with X minus those with the pole
            Y, phases = X, phases - self.frequencies_ @ self.exact_pole_
        else:
            Y = X - beside(self.exact_pole_, X)
        if not n_exact:
            amplitudes, pairs = self._amplitudes_and_pairs()
            return cosine_features(Y, self.frequencies_, phases, amplitudes, pairs, n_sines=n_sines)
        amplitudes = np.sqrt(np.abs(self.weights_))
        Y = in_type_of(Y / exact.unit, X)
        frequencies = self.frequencies_ * exact.unit
        seen = ShiftedRows.less(Y, self.exact_pole_ / exact.unit) if issparse(X) else Y
        norms = _norms(seen)
        if self.kernel_.unit_norm and not shifted:  # their rounding errors would be amplified
            norms = namespace(norms).ones_like(norms) / exact.unit
        functions = in_type_of(exact.functions(norms), X)
        features = cosine_features(
            Y,
            frequencies,
            phases,
            amplitudes,
            n_pairs=0,
            n_sines=n_sines,
            n_more=n_exact,
            remove=exact.remover(functions, norms, frequencies, amplitudes, n_sines),
        )
        exact.fill(seen, functions, features[:, len(self.weights_) :])
        return features

    def _amplitudes_and_pairs(self) -> tuple[NDArray[np.float64], int]:
        """Return the factors of the waves of a map without exact columns, and how many have two columns."""
        amplitudes, pairs = np.sqrt(np.abs(self.weights_)), self.n_components_ - len(self.weights_)
        amplitudes[pairs:] *= np.where(self.phases_[pairs:] > 0, np.sqrt(2), 1)
        return amplitudes, pairs

    def _gradients(self, X: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._fades:
            return super()._gradients(X, weights)
        phases, waves = self.phases_ - self.frequencies_ @ self.exact_pole_, self._amplitudes_and_pairs()
        return cosine_gradients(X, weights, self.frequencies_, phases, *waves, int(self.n_sines_))

    @property
    def _fades(self) -> bool:
        return bool(len(self.exact_degrees_))

    def _reach(self, X: Rows) -> Array | None:
        if not np.isfinite(self.radius_):
            return None
        return (distances_from(self.centre_, X) / float(self.radius_)) ** 2


def _exact_at(kernel: Kernel, pairs: RowPairs) -> NDArray[np.float64]:
    assert isinstance(kernel, RadialKernel)
    return np.asarray(kernel.at_distance(pairs.distances), dtype=np.float64)


def _norms(X: Array | ShiftedRows) -> Array:
    if isinstance(X, ShiftedRows):
        return X.norms()
    xp = namespace(X)
    return row_norms(X) if xp is np else xp.linalg.vector_norm(X, axis=1)


@lru_cache(maxsize=32)
def _predicted_error(composition: Composition | LeadingHarmonics, values: bytes, pairs: RowPairs) -> float:
    return float(np.sqrt(composition.error_over(np.frombuffer(values), pairs)))
