"""MVORF: minimum-variance orthogonal random features (ours)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from rflib.frequencies.composition import Composition
from rflib.frequencies.leading_harmonics import LeadingHarmonics, lead
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.sparse_rows import Rows
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures, Harmonics
from rflib.maps.kernel_requirements import not_radial
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.construct import MeasureLike
from rflib.measures.row_pairs import RowPairs
from rflib.validation import check_choice

OBJECTIVES = ("kernel", "learner")


class MVORF(FourierFeatures):
    """Minimum-variance orthogonal random features of any kernel of the distance, definite or not (ours).

    A few signed atoms represent the kernel on the data's distances, chosen by linear programs. The lowest
    spherical harmonics of the kernel, seen from the mean of the training rows, are exact columns; the rest is
    sampled by whole orthogonal bases that are as far apart as possible, cosines and sines apart. How many columns
    each part gets, and which parts are worth any, is what has the least predicted error at this number of columns
    (`rflib.frequencies.composition`). Where that is lower, there are harmonics alone, in the order of the kernel's
    eigenvalues (`rflib.frequencies.leading_harmonics`). docs/mvorf.md has the derivation. For a positive definite
    kernel all signs are positive.

    With ``harmonics=None, parity=False, coupled=False`` it is the plain map: the atoms have the least variance by
    themselves (`rflib.measures.minimum_variance`), and all columns are drawn. The same holds where ``layout``,
    ``directions`` or ``radii`` are others.

    Parameters and attributes are those of `FourierFeatures`, and

    Parameters
    ----------
    objective : {"kernel", "learner"}
        What the columns are chosen for: "kernel", the least error of the kernel; "learner", the span that is best
        for ridge regression and support vector machines, which is that of the kernel's leading eigenfunctions
        whatever they leave out of the kernel. Take "learner" where features go into a learner and the kernel
        itself is of no interest, above all for narrow kernels.

    Attributes
    ----------
    bias_bound_ : float
        Largest |E k_hat(x, y) - k(x, y)| for rows within radius_ of centre_. For the atoms' part it is found on a
        fine grid of distances; what parts are shrunk by counts with a bound.
    predicted_error_ : float
        Predicted root mean square error of one kernel value over pairs of training rows, n of n^2 being those of a
        row and itself. For the plain map the latter do not count, though its bias may be largest there, and
        directions from a low-discrepancy sequence are predicted as independent ones.
    composition_ : Composition or LeadingHarmonics
        What the columns are (`rflib.frequencies`; after `fit`, not after `restore`; not for the plain map).
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
        """Return the measure that is asked for; by default the one that suits the options."""
        if self.measure is not None:
            return self.measure
        return "minimum_residual" if self._has_options() else "minimum_variance"

    def _composition(
        self, rungs: Sequence[AtomicMeasure], pairs: RowPairs
    ) -> Composition | LeadingHarmonics | None:
        if self.objective == "learner":
            return lead(rungs, self._exact_at(pairs), pairs, self.n_components, coupled=bool(self.coupled))
        return super()._composition(rungs, pairs)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "objective", OBJECTIVES)
        if self._has_options() and not self._is_composed():
            raise ValueError(
                "MVORF: harmonics, parity and coupled need layout='cos_sin', directions='orthogonal' and "
                "radii='stratified'. GORF takes them with other directions and norms."
            )
        if self.objective == "learner" and (self.harmonics, self.parity) != ("auto", "auto"):
            raise ValueError(
                "MVORF: objective='learner' chooses the harmonics: leave harmonics='auto' and parity='auto'."
            )

    def _draw(self, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        super()._draw(X, y, rng)
        if not isinstance(self.measure_, AtomicMeasure):
            raise ValueError(
                f"MVORF needs an atomic measure, got {self.measure!r}: use GORF for other measures."
            )
        self.bias_bound_ = self.measure_.bias_bound
        if self._has_options():
            radius = self.radius_ + float(np.linalg.norm(self.centre_ - self.exact_pole_))
            self.bias_bound_ += _bound_of_left_out(self.composition_, radius)
        else:
            self.predicted_error_ = self.measure_.predicted_error(self._sampling())


@lru_cache(maxsize=32)
def _bound_of_left_out(composition: Composition | LeadingHarmonics, radius: float) -> float:
    return composition.bound_of_left_out(radius)
