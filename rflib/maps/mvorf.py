"""MVORF: minimum-variance orthogonal random features, a method that was introduced in rflib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from rflib.frequencies.axial_harmonics import AxialHarmonics, axial_harmonics
from rflib.frequencies.composition import Composition, compose
from rflib.frequencies.leading_harmonics import LeadingHarmonics, lead
from rflib.frequencies.radial_harmonics import RadialHarmonics, radial_harmonics
from rflib.frequencies.rings import rings
from rflib.frequencies.sampled_harmonics import SampledHarmonics
from rflib.frequencies.spanning_harmonics import spanning_harmonics
from rflib.frequencies.stratified_pairs import StratifiedPairs, joined
from rflib.kernels.base import Kernel, radial
from rflib.kernels.namespaces import Array, beside, in_type_of, namespace, zeros
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.sparse_rows import Rows, ShiftedRows
from rflib.maps.axial_columns import NO_AXIAL_COLUMNS, AxialColumns
from rflib.maps.base import Seed
from rflib.maps.exact_harmonics import ExactHarmonics
from rflib.maps.fourier import _EXACT, _N_PAIRS, _PREFERENCE, FourierFeatures, Harmonics, _exact_at, _norms
from rflib.maps.kernel_requirements import not_radial
from rflib.maps.sample_columns import NO_SAMPLES, SampleColumns
from rflib.measures.atomic import AtomicLadder, AtomicMeasure
from rflib.measures.construct import MeasureLike, construct
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import is_positive_definite
from rflib.measures.row_pairs import RowPairs, share_of_diagonal
from rflib.validation import check_choice

OBJECTIVES = ("kernel", "learner")
# Up to this number of input columns, the columns for the kernel are candidates for a learner too.
_FEW_INPUTS = 3
_AXIAL = tuple(field.name for field in fields(AxialColumns))
_SAMPLES = tuple(field.name for field in fields(SampleColumns))


class MVORF(FourierFeatures):
    """Approximate any kernel of the distance with exact low harmonics and frequencies of least variance.

    These minimum-variance orthogonal random features (MVORF) were introduced in rflib; docs/mvorf.md derives them.
    Linear programs choose a few signed atoms that represent the kernel at the distances of the data. The lowest
    spherical harmonics of the kernel, as seen from the mean of the training rows, have exact columns. The rest of
    the kernel is sampled by cosines and sines of different frequencies, whose directions are whole orthogonal
    bases that are as far apart as possible. The columns are divided among these parts so that the predicted error
    is least, and parts that are not worth their columns are left out (`rflib.frequencies.composition`). If
    harmonics alone have a lower error, all columns are harmonics. In the order of the eigenvalues of the kernel,
    some functions have all of their harmonics and others a sample (`rflib.frequencies.radial_harmonics`). Two more
    choices are rings of equispaced directions, with two input columns (`rflib.frequencies.rings`), and harmonics
    about the axis through the mean of the rows, for a kernel that is positive definite on the unit sphere only
    (`rflib.frequencies.axial_harmonics`). The kernel may be indefinite; for a kernel that is known to be positive
    definite, all signs are +1.

    With ``harmonics=None, parity=False, coupled=False`` the map is the plain one: all columns are drawn, from the
    atoms that have the least variance without exact columns (`rflib.measures.minimum_variance`). The map is also
    the plain one if ``layout``, ``directions`` or ``radii`` differ from their defaults.

    Parameters
    ----------
    kernel : Kernel, callable or None, default=None
        Kernel to approximate; None means Gaussian("scale"), and a function of one array is the profile of a
        kernel.
    n_components : int, default=100
        Number of columns D.
    measure : str, dict or SpectralMeasure, optional
        What the frequencies are drawn from; see `rflib.measures.construct`. It must be atomic. By default it is
        "minimum_residual", and "minimum_variance" for the plain map.
    directions : {"iid", "orthogonal", "frame", "halton", "sobol"}, default="orthogonal"
        How the directions of the frequencies are drawn; see `rflib.frequencies.directions`.
    radii : {"iid", "paired", "stratified", "halton"}, default="stratified"
        How the norms of the frequencies are drawn; see `rflib.frequencies.draw`.
    layout : {"cos_sin", "phase"}, default="cos_sin"
        Whether each frequency has a cosine and a sine as columns, or one cosine with a random phase; see
        `FourierFeatures`.
    harmonics : None, "auto", int or tuple of 3 or 4 int, default="auto"
        The spherical harmonics of the kernel that have exact columns; see `FourierFeatures`.
    parity : bool or "auto", default="auto"
        Whether cosines and sines have different frequencies; see `FourierFeatures`.
    coupled : bool or "auto", default="auto"
        Whether orthogonal bases share one random rotation and are as far apart as possible; see `FourierFeatures`.
    objective : {"kernel", "learner"}, default="kernel"
        What the columns are chosen for. "kernel" makes the error of the kernel small. "learner" spans the leading
        eigenfunctions of the kernel, which is best for ridge regression and support vector machines, even if the
        error of the kernel is larger. Use "learner" if the features go into a learner and the kernel itself is of
        no interest, above all for narrow kernels. If the rows vary in far fewer directions than they have columns,
        as images do, it takes fewer linear columns and more of higher degrees. With up to three input columns,
        the columns for "kernel" are taken unless those eigenfunctions have a lower predicted error of the kernel.
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the random draws. An integer gives the same features on every machine.

    Attributes
    ----------
    frequencies_, weights_, phases_, measure_, centre_, radius_
        As for `FourierFeatures`.
    bias_estimate_ : float
        Estimate of the largest |E k_hat(x, y) - k(x, y)| for rows within radius_ of centre_. It is the largest one
        that was found on grids, not a bound: a profile that turns fast can be farther off between their points.
        The grid is one of distances for the atoms, of pairs of rows where harmonics replace parts of both signs,
        and of the axis for harmonics about an axis; the bias of shrunk parts is bounded.
    predicted_error_ : float
        As for `FourierFeatures`. For the plain map, low-discrepancy directions are treated as independent ones.
    composition_ : Composition, LeadingHarmonics or SampledHarmonics
        The chosen columns (`rflib.frequencies.composition`), of which `Rings`, `RadialHarmonics` and
        `AxialHarmonics` are kinds. The plain map has none.
    """

    frequencies_per_s = 2
    unsupported = staticmethod(not_radial)

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        measure: MeasureLike | None = None,
        directions: str = "orthogonal",
        radii: str = "stratified",
        layout: str = "cos_sin",
        harmonics: Harmonics = "auto",
        parity: bool | str = "auto",
        coupled: bool | str = "auto",
        objective: str = "kernel",
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernel,
            n_components,
            measure=measure,  # type: ignore[arg-type]
            directions=directions,
            radii=radii,
            layout=layout,
            harmonics=harmonics,
            parity=parity,
            coupled=coupled,
            random_state=random_state,
        )
        self.objective = objective

    def construction(self) -> MeasureLike:
        """Return the parameter ``measure``, or by default the measure that suits the other parameters."""
        if self.measure is not None:
            return self.measure
        return "minimum_residual" if self._has_options() else "minimum_variance"

    def _has_options(self) -> bool:
        """Return whether harmonics, parity or coupled applies; "auto", the default, does not for the plain map."""
        given = (self.harmonics, self.parity, self.coupled)
        if any(option == "auto" for option in given) and self._is_composed():
            return True
        return self.harmonics not in (None, "auto") or True in (self.parity, self.coupled)

    def _composition(
        self, kernel: Kernel, rungs: Sequence[AtomicMeasure], pairs: RowPairs, *, positive: bool
    ) -> Composition | LeadingHarmonics | None:
        if self.objective != "learner":
            return super()._composition(kernel, rungs, pairs, positive=positive)
        coupled = bool(self.coupled)
        return lead(
            rungs, _exact_at(kernel, pairs), pairs, self.n_components, coupled=coupled, positive=positive
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "objective", OBJECTIVES)
        if self._has_options() and not self._is_composed():
            raise ValueError(
                "MVORF: harmonics, parity and coupled need layout='cos_sin', directions='orthogonal' and "
                "radii='stratified'. For other directions and norms use GORF."
            )
        if self.objective == "learner" and (self.harmonics, self.parity) != ("auto", "auto"):
            raise ValueError(
                "MVORF: objective='learner' chooses the harmonics itself. Leave harmonics='auto' and "
                "parity='auto'."
            )

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        self._keep_axial(NO_AXIAL_COLUMNS)
        self._keep_samples(NO_SAMPLES)
        super()._draw(kernel, X, y, rng)
        if not isinstance(self.measure_, AtomicMeasure):
            raise ValueError(
                f"MVORF: measure must be an atomic measure, got {self.measure!r}. Use GORF for other measures."
            )
        if self._has_options():
            offset = float(np.linalg.norm(self.centre_ - self.exact_pole_))
            nearest = max(0.0, 1 - offset) if kernel.unit_norm else 0.0
            farthest = float(self.radius_) + offset
            self.bias_estimate_ = self.composition_.bias_estimate(radial(kernel), nearest, farthest)
        else:
            self.bias_estimate_ = self.measure_.bias_estimate
            self.predicted_error_ = self._plain_error(kernel, X.shape[0])

    def _plain_error(self, kernel: Kernel, n_rows: int) -> float:
        """Return the predicted error of columns that are all drawn: over different rows, and on the diagonal."""
        assert isinstance(self.measure_, AtomicMeasure)
        itself = RowPairs.of_themselves(np.zeros(1), np.zeros(1))
        of_diagonal = replace(self.measure_, distances=itself.distances, values=_exact_at(kernel, itself))
        share, sampling = share_of_diagonal(n_rows), self._sampling()
        different, same = (each.predicted_error(sampling) for each in (self.measure_, of_diagonal))
        return float(np.sqrt((1 - share) * different**2 + share * same**2))

    def _draw_with_options(self, kernel: Kernel, X: Rows, rng: Generator) -> None:
        free = (self.harmonics, self.parity, self.coupled) == ("auto", "auto", "auto")
        domain = Domain.of(X)
        measure = construct(self.construction(), kernel, domain)
        if not free or not isinstance(measure, AtomicLadder | AtomicMeasure):
            super()._draw_with_options(kernel, X, rng)
            return
        self._keep_range(measure, domain)
        if self.objective == "kernel" or X.shape[1] <= _FEW_INPUTS:
            self._draw_freely(kernel, X, measure, rng)
            return
        pairs, D, definite = domain.all_pairs, self.n_components, measure.definite
        spanning = spanning_harmonics(measure.rungs, _exact_at(kernel, pairs), pairs, D, positive=definite)
        if spanning is None:
            super()._draw_with_options(kernel, X, rng)
        else:
            self.predicted_error_ = float(np.sqrt(spanning.mean_squared_error))
            self._keep_alone(spanning, pairs.centre.copy(), rng)

    def _draw_freely(
        self, kernel: Kernel, X: Rows, measure: AtomicLadder | AtomicMeasure, rng: Generator
    ) -> None:
        """Draw any columns, those with the least predicted error of the kernel.

        For a learner, the leading harmonics are one more candidate.
        """
        domain, rows = Domain.of(X), StratifiedPairs.of(X)
        definite, rungs = measure.definite, measure.rungs
        of_mean = domain.pairs(_N_PAIRS), joined(domain.all_pairs, rows.pairs)
        of_origin = of_mean[0].from_the_origin(), of_mean[1].from_the_origin()
        seen = [of_mean, of_origin] if definite and kernel.unit_norm else [of_mean]
        found: list[tuple[float, Composition | LeadingHarmonics | SampledHarmonics, RowPairs]] = []
        for few, pairs in seen:
            exact = _exact_at(kernel, pairs)
            alone = radial_harmonics(rungs, exact, pairs, self.n_components, positive=definite)
            found.append((alone.mean_squared_error, alone, pairs))
            for each in self._composed(kernel, rungs, few, positive=definite):
                penalty = _PREFERENCE if isinstance(each, Composition) else 1.0
                found.append((penalty * _error_over(each, exact.tobytes(), pairs), each, pairs))
        if kernel.unit_norm and is_positive_definite(kernel):
            axial = axial_harmonics(radial(kernel), rows, of_mean[1], self.n_components, found[0][1].measure)
            if axial is not None:
                found.append((axial.mean_squared_error, axial, of_mean[1]))
        _, best, pairs = min(found, key=lambda each: each[0])
        self.predicted_error_ = float(np.sqrt(_error_over(best, _exact_at(kernel, pairs).tobytes(), pairs)))
        if isinstance(best, SampledHarmonics):
            self._keep_alone(best, pairs.centre.copy(), rng)
            return
        exact_part = self._draw_composition(best, rng)
        self.phases_ = np.zeros(len(self.weights_))
        self.signature_ = np.where(self.weights_ < 0, -1.0, 1.0)
        self._keep_exact(pairs.centre.copy(), *exact_part)

    def _composed(
        self, kernel: Kernel, rungs: Sequence[AtomicMeasure], pairs: RowPairs, *, positive: bool
    ) -> list[Composition | LeadingHarmonics]:
        """Return candidates with cosines and sines, and for a learner its leading harmonics."""
        exact, D = _exact_at(kernel, pairs), self.n_components
        found: list[Composition | LeadingHarmonics | None] = [
            compose(rungs, exact, pairs, D, coupled=True, positive=positive)
        ]
        if len(pairs.centre) == 2:
            allowed = [rung for rung in rungs if not positive or rung.negative is None]
            found.append(rings(allowed, exact, pairs, D))
        if self.objective == "learner":
            found.append(lead(rungs, exact, pairs, D, coupled=True, positive=positive))
        return [each for each in found if each is not None]

    def _keep_alone(self, found: SampledHarmonics, pole: NDArray, rng: Generator) -> None:
        """Keep columns that are harmonics alone, and draw their samples."""
        d = found.measure.dimension
        self.composition_ = found  # type: ignore[assignment]
        self.measure_, self.n_sines_ = found.measure, 0
        self.frequencies_, self.weights_ = np.zeros((0, d)), np.zeros(0)
        self.phases_ = self.signature_ = np.zeros(0)
        samples = SampleColumns.of(found.draw(rng), found.samples, found.dimension)
        self._keep_samples(samples)
        if isinstance(found, AxialHarmonics):
            self._keep_exact(pole, ())
            self._keep_axial(AxialColumns.of(pole / found.length, found.functions, samples))
            self.signature_ = np.ones(self.n_components)
            return
        assert isinstance(found, RadialHarmonics)
        scales = np.append(np.ones(len(found.degrees) - len(found.samples)), samples.scales(d))
        scaled = [
            replace(each, combination=each.combination * scale)
            for each, scale in zip(found.functions, scales, strict=True)
        ]
        exact = ExactHarmonics.of(pole, scaled, self.frequencies_)
        for name in _EXACT:
            setattr(self, f"exact_{name}_", getattr(exact, name))
        whole = self._whole_harmonics()
        of_samples = np.repeat(self.exact_signs_[len(whole.degrees) :], samples.sizes)
        signs = np.concatenate([whole.column_signs(), of_samples])
        self.signature_ = np.append(signs, np.ones(self.n_components - len(signs)))

    def _whole_harmonics(self) -> ExactHarmonics:
        """Return the functions that have all their harmonics."""
        exact, n = self._exact(), len(self.exact_degrees_) - len(self.sample_degrees_)
        return replace(
            exact,
            combination=exact.combination[:, :n],
            degrees=exact.degrees[:n],
            signs=exact.signs[:n],
            removal=exact.removal[:, :n],
        )

    def _keep_axial(self, columns: AxialColumns) -> None:
        for name in _AXIAL:
            setattr(self, f"axial_{name}_", getattr(columns, name))

    def _keep_samples(self, columns: SampleColumns) -> None:
        for name in _SAMPLES:
            setattr(self, f"sample_{name}_", getattr(columns, name))

    @property
    def _fades(self) -> bool:
        return super()._fades or bool(len(self.axial_degrees_))

    def _columns(self, X: Rows) -> Array:
        samples = SampleColumns(*(getattr(self, f"sample_{name}_") for name in _SAMPLES))
        axial = AxialColumns(*(getattr(self, f"axial_{name}_") for name in _AXIAL))
        exact = self._exact()
        if not len(axial.degrees) and (len(self.weights_) or exact.products.size):
            return super()._columns(X)
        features = zeros((X.shape[0], self.n_components_), X.data if issparse(X) else X)
        if len(axial.degrees):
            axial.fill(X, samples, features)
            return features
        if issparse(X):
            Y = ShiftedRows.less(in_type_of(X / exact.unit, X), self.exact_pole_ / exact.unit)
        else:
            Y = in_type_of((X - beside(self.exact_pole_, X)) / exact.unit, X)
        norms = _norms(Y)
        if self.kernel_.unit_norm and not self.exact_pole_.any():  # their rounding errors would be amplified
            norms = namespace(norms).ones_like(norms) / exact.unit
        functions, whole = in_type_of(exact.functions(norms), X), self._whole_harmonics()
        n_exact, n_whole = len(whole.column_signs()), len(whole.degrees)
        whole.fill(Y, functions, features[:, :n_exact])
        samples.fill(Y, functions[:, n_whole:], features[:, n_exact : n_exact + int(samples.sizes.sum())])
        return features


@lru_cache(maxsize=64)
def _error_over(
    found: Composition | LeadingHarmonics | SampledHarmonics, values: bytes, pairs: RowPairs
) -> float:
    return found.error_over(np.frombuffer(values), pairs)
