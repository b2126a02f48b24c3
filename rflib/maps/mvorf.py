"""MVORF: minimum-variance orthogonal random features (ours)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from rflib.frequencies.composition import bound_of_left_out, mean_squared_error
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.sparse_rows import Rows
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures, Harmonics
from rflib.maps.kernel_requirements import not_radial
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.construct import MeasureLike
from rflib.measures.row_pairs import RowPairs

N_PAIRS_OF_PREDICTION = 2000


class MVORF(FourierFeatures):
    """Minimum-variance orthogonal random features of any kernel of the distance, definite or not (ours).

    A few signed atoms represent the kernel on the data's distances, chosen by linear programs. The lowest
    spherical harmonics of the kernel, seen from the mean of the training rows, are exact columns; the rest is
    sampled by whole orthogonal bases that are as far apart as possible, cosines and sines apart. How many columns
    each part gets, and which parts are worth any, is what has the least predicted error at this number of columns
    (`rflib.frequencies.composition`; docs/mvorf.md has the derivation). For a positive definite kernel all signs
    are positive.

    With ``harmonics=None, parity=False, coupled=False`` it is the plain map: the atoms have the least variance by
    themselves (`rflib.measures.minimum_variance`), and all columns are drawn. The same holds where ``layout``,
    ``directions`` or ``radii`` are others.

    Parameters and attributes are those of `FourierFeatures`, and

    Attributes
    ----------
    bias_bound_ : float
        Largest |E k_hat(x, y) - k(x, y)| for rows within radius_ of centre_. For the atoms' part it is found on a
        fine grid of distances; what parts are shrunk by counts with a bound.
    predicted_error_ : float
        Predicted root mean square error of one kernel value over pairs of training rows, n of n^2 being those of a
        row and itself. For the plain map the latter do not count, though its bias may be largest there, and
        directions from a low-discrepancy sequence are predicted as independent ones.
    composition_ : rflib.frequencies.composition.Composition
        What the columns are (after `fit`, not after `restore`; not for the plain map).
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

    def construction(self) -> MeasureLike:
        """Return the measure that is asked for; by default the one that suits the options."""
        if self.measure is not None:
            return self.measure
        return "minimum_residual" if self._has_options() else "minimum_variance"

    def _draw(self, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        self._check_parameters()
        if self._has_options() and not self._is_composed():
            raise ValueError(
                "MVORF: harmonics, parity and coupled need layout='cos_sin', directions='orthogonal' and "
                "radii='stratified'. GORF takes them with other directions and norms."
            )
        super()._draw(X, y, rng)
        if not isinstance(self.measure_, AtomicMeasure):
            raise ValueError(
                f"MVORF needs an atomic measure, got {self.measure!r}: use GORF for other measures."
            )
        self.bias_bound_ = self.measure_.bias_bound
        if self._has_options():
            radius = self.radius_ + float(np.linalg.norm(self.centre_ - self.pole_))
            self.bias_bound_ += bound_of_left_out(self.composition_, self.pole_, radius)
            pairs = RowPairs.of(X, N_PAIRS_OF_PREDICTION)
            self.predicted_error_ = mean_squared_error(self.composition_, self._exact_at(pairs), pairs) ** 0.5
        else:
            self.predicted_error_ = self.measure_.predicted_error(self._sampling())
