"""MVORF: minimum-variance orthogonal random features (ours)."""

from __future__ import annotations

from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from rflib.frequencies.composition import mean_squared_error
from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures, Harmonics
from rflib.maps.kernel_requirements import not_radial
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.construct import MeasureLike
from rflib.measures.row_pairs import RowPairs

N_PAIRS_OF_PREDICTION = 2000


class MVORF(FourierFeatures):
    """Minimum-variance orthogonal random features of any kernel of the distance, definite or not (ours).

    A few signed atoms represent the kernel on the data's distances, chosen by a linear program so that their
    sampling has the least variance (`rflib.measures.minimum_variance`); the frequencies are divided among the
    atoms in whole orthogonal bases where possible (`rflib.measures.atomic`). Biased by at most `bias_bound_`,
    which is chosen together with the atoms for the least predicted error at this number of columns.

    Parameters and attributes are those of `FourierFeatures`, and

    Attributes
    ----------
    bias_bound_ : float
        Largest |E k_hat(z) - k(z)| for distances z in [0, 2 radius_], found on a fine grid. Any two rows within
        radius_ of centre_ have such a distance.
    predicted_error_ : float
        Predicted root mean square error of one kernel value over the pairs of different training rows. Pairs
        that are nearer to each other than those, and the diagonal, do not count, though the bias may be largest
        there. Directions from a low-discrepancy sequence are predicted as independent ones.
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

    def construction(self) -> MeasureLike:
        """Return the measure that is asked for; by default the one that suits the options."""
        if self.measure is not None:
            return self.measure
        return "minimum_residual" if self._has_options() else "minimum_variance"

    def _draw(self, X: NDArray, y: ArrayLike | None, rng: Generator) -> None:
        super()._draw(X, y, rng)
        if not isinstance(self.measure_, AtomicMeasure):
            raise ValueError(
                f"MVORF needs an atomic measure, got {self.measure!r}: use GORF for other measures."
            )
        self.bias_bound_ = self.measure_.bias_bound
        if self._has_options():
            pairs = RowPairs.of(X, N_PAIRS_OF_PREDICTION)
            self.predicted_error_ = mean_squared_error(self.composition_, self._exact_at(pairs), pairs) ** 0.5
        else:
            self.predicted_error_ = self.measure_.predicted_error(self._sampling())
