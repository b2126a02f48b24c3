"""DIGMM: double-infinite Gaussian mixture features of an indefinite kernel."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import NDArray

from rflib.kernels.base import Kernel
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures
from rflib.maps.positive import not_radial
from rflib.measures.construct import MeasureLike


class DIGMM(FourierFeatures):
    """Double-infinite Gaussian mixture features (Liu et al. 2020, TNNLS, the baseline in luo2021).

    The positive and the negative part of the spectral measure are each replaced by a Dirichlet-process
    Gaussian mixture, from which the frequencies are drawn; biased by the error of the mixtures. See
    `rflib.measures.digmm` for where this departs from the authors' procedure.

    Parameters and attributes are those of `FourierFeatures`, with the measure "digmm".
    """

    def __init__(
        self,
        kernel: Kernel | Callable[[NDArray], NDArray] | None = None,
        n_components: int = 100,
        *,
        measure: MeasureLike = "digmm",
        directions: str = "iid",
        radii: str = "iid",
        layout: str = "cos_sin",
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernel,
            n_components,
            measure=measure,
            directions=directions,
            radii=radii,
            layout=layout,
            random_state=random_state,
        )

    @property
    def columns_per_s(self) -> int:
        """Columns for one of the papers' features: s positive and s negative frequencies."""
        return 2 * super().columns_per_s

    unsupported = staticmethod(not_radial)
