"""MVORF: minimum-variance orthogonal random features, a method that was introduced in rflib."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from rflib.frequencies.axial_harmonics import AxialHarmonics, axial_harmonics
from rflib.frequencies.composition import Composition, compose
from rflib.frequencies.radial_harmonics import RadialHarmonics, radial_harmonics
from rflib.frequencies.rings import Rings, rings
from rflib.frequencies.stratified_pairs import StratifiedPairs, joined
from rflib.kernels.base import Kernel, RadialKernel, radial
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.sparse_rows import Rows
from rflib.maps.base import Seed
from rflib.maps.cosines_and_sines import CosinesAndSines
from rflib.maps.fourier import FourierFeatures
from rflib.maps.harmonics import Harmonics, harmonics_of
from rflib.maps.kernel_requirements import not_radial
from rflib.maps.parameters import with_parameters
from rflib.measures.atomic import AtomicMeasure, CandidateMeasures
from rflib.measures.construct import MeasureLike, construct
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import is_positive_definite
from rflib.measures.row_pairs import RowPairs

_N_PAIRS = 225
# Harmonics alone are preferred up to this ratio of the mean squared errors, because they are better for learners.
_PREFERENCE = 1.1

Choice = Composition | Rings | RadialHarmonics | AxialHarmonics


@with_parameters
class MVORF(FourierFeatures):
    """Approximate any kernel of the distance with exact low harmonics and frequencies of least variance.

    These minimum-variance orthogonal random features (MVORF) were introduced in rflib; docs/mvorf.md derives them.
    Linear programs choose a few signed atoms that represent the kernel at the distances of the data. The lowest
    spherical harmonics of the kernel, as seen from the mean of the training rows, have exact columns. The rest of
    the kernel is sampled by cosines and sines of different frequencies, whose directions are orthogonal bases. The
    columns are divided among these parts so that the predicted error is least, and parts that are not worth their
    columns are left out (`rflib.frequencies.composition`). If harmonics alone have a lower error, all columns are
    harmonics. In the order of the eigenvalues of the kernel, some functions have all of their harmonics and others
    a sample (`rflib.frequencies.radial_harmonics`). Two more choices are rings of equispaced directions, with two
    input columns (`rflib.frequencies.rings`), and harmonics about the axis through the mean of the rows, for a
    kernel that is positive definite on the unit sphere only (`rflib.frequencies.axial_harmonics`). The kernel may
    be indefinite; for a kernel that is known to be positive definite, all signs are +1.

    Waves that are all drawn, from the atoms that have the least variance without exact harmonics, are those of
    `GORF` with measure="minimum_variance", directions="orthogonal" and radii="stratified".

    Parameters
    ----------
    kernel : Kernel, callable or None, default=None
        Kernel to approximate; None means Gaussian("scale"), and a function of one array is the profile of a
        kernel.
    n_components : int, default=100
        Number of columns D.
    measure : str, dict or SpectralMeasure, default="minimum_residual"
        What the frequencies are drawn from; see `rflib.measures.construct`. It must be atomic.
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the random draws. An integer gives the same features on every machine.

    Attributes
    ----------
    frequencies_, weights_, phases_, measure_, centre_, radius_
        As for `FourierFeatures`. A map of harmonics alone has no frequencies.
    bias_estimate_ : float
        Estimate of the largest |E k_hat(x, y) - k(x, y)| for rows within radius_ of centre_. It is the largest one
        that was found on grids, not a bound: a profile that turns fast can be farther off between their points.
        The grid is one of distances for the atoms, of pairs of rows where harmonics replace parts of both signs,
        and of the axis for harmonics about an axis; the bias of shrunk parts is bounded.
    predicted_error_ : float
        Predicted root mean square error of one kernel value over all n^2 pairs of n rows like the training rows, n
        of which pair a row with itself; n is the number of training rows, but 1,000 if they are more. It is
        an absolute error: divide it by the root mean square of the kernel's values to compare it with
        `rflib.metrics.relative_frobenius_error`.
    composition_ : Composition, Rings, RadialHarmonics or AxialHarmonics
        The chosen columns (`rflib.frequencies`).
    """

    kernel: KernelLike = None
    n_components: int = 100
    _: KW_ONLY
    measure: MeasureLike = "minimum_residual"
    random_state: Seed = None

    directions = "orthogonal"
    radii = "stratified"
    layout = "cos_sin"
    frequencies_per_s = 2
    unsupported = staticmethod(not_radial)

    @classmethod
    def _called_here(cls, name: str, value: object) -> str | None:
        if name == "objective":
            return "For a learner use MercerFeatures, whose columns are the leading eigenfunctions of the kernel."
        if name in ("directions", "radii", "layout"):
            return 'For waves that are all drawn use GORF(measure="minimum_variance"), which has it.'
        return super()._called_here(name, value)

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        kernel, domain = radial(kernel), Domain.of(X)
        measure = construct(self.construction(), kernel, domain)
        if not isinstance(measure, CandidateMeasures | AtomicMeasure):
            raise ValueError(
                f"MVORF: measure must be an atomic measure, got {self.measure!r}. Use GORF for other measures."
            )
        self._keep_range(measure, domain)
        rows, few = StratifiedPairs.of(X), domain.pairs(_N_PAIRS)
        _, best, pairs = min(
            _choices(kernel, measure, rows, few, joined(domain.all_pairs, rows.pairs), self.n_components),
            key=lambda each: each[0],
        )
        self.composition_, self.measure_ = best, best.measure
        exact = np.asarray(kernel.at_distance(pairs.distances), dtype=np.float64)
        self.predicted_error_ = float(np.sqrt(_error_over(best, exact.tobytes(), pairs)))
        self._keep(_block(best, pairs.centre.copy(), self.n_components, rng, unit_rows=kernel.unit_norm))
        offset = float(np.linalg.norm(self.centre_ - pairs.centre))
        nearest = max(0.0, 1 - offset) if kernel.unit_norm else 0.0
        self.bias_estimate_ = best.bias_estimate(kernel, nearest, float(self.radius_) + offset)


def _choices(
    kernel: RadialKernel,
    measure: CandidateMeasures | AtomicMeasure,
    rows: StratifiedPairs,
    few: RowPairs,
    many: RowPairs,
    n_columns: int,
) -> list[tuple[float, Choice, RowPairs]]:
    """Return the choices of columns, each with its predicted mean squared error and the pairs as it sees them.

    Seen from the origin of the unit sphere, no harmonic of a kernel that is positive definite there has a negative
    sign. Seen from the mean of the rows, harmonics of low degree hold more of the kernel.
    """
    definite, candidates = measure.definite, measure.candidates
    found: list[tuple[float, Choice, RowPairs]] = []
    seen = [(few, many)]
    if definite and kernel.unit_norm:
        seen.append((few.from_the_origin(), many.from_the_origin()))
    for sample, pairs in seen:
        exact = np.asarray(kernel.at_distance(pairs.distances), dtype=np.float64)
        alone = radial_harmonics(candidates, exact, pairs, n_columns, positive=definite)
        found.append((alone.mean_squared_error, alone, pairs))
        at_sample = np.asarray(kernel.at_distance(sample.distances), dtype=np.float64)
        waves = compose(candidates, at_sample, sample, n_columns, positive=definite)
        in_plane = None
        if len(sample.centre) == 2:
            allowed = [each for each in candidates if not definite or each.negative is None]
            in_plane = rings(allowed, at_sample, sample, n_columns)
        for each in (waves, in_plane):
            if each is not None:
                found.append((_PREFERENCE * _error_over(each, exact.tobytes(), pairs), each, pairs))
    if kernel.unit_norm and is_positive_definite(kernel):
        axial = axial_harmonics(kernel, rows, many, n_columns, found[0][1].measure)
        if axial is not None:
            found.append((axial.mean_squared_error, axial, many))
    return found


def _block(
    best: Choice, pole: NDArray, n_columns: int, rng: Generator, *, unit_rows: bool
) -> CosinesAndSines | Harmonics:
    """Return the columns of a choice, whose random parts are drawn."""
    if isinstance(best, RadialHarmonics | AxialHarmonics):
        return harmonics_of(best, pole, n_columns, rng, unit_rows=unit_rows)
    frequencies, weights, n_sines = best.draw(rng)
    controls = best.controls if isinstance(best, Composition) else ()
    # If further columns would not lower the error, the remaining ones are zero.
    spare = n_columns - sum(control.n_columns for control in controls) - len(weights)
    frequencies = np.concatenate([np.zeros((spare, len(pole))), frequencies])
    weights = np.concatenate([np.zeros(spare), weights])
    return CosinesAndSines.of(frequencies, weights, n_sines, pole, controls, unit_rows=unit_rows)


@lru_cache(maxsize=64)
def _error_over(found: Choice, values: bytes, pairs: RowPairs) -> float:
    return found.error_over(np.frombuffer(values), pairs)
