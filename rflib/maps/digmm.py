"""DIGMM: double-infinite Gaussian mixture features of an indefinite kernel."""

from __future__ import annotations

from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import not_radial
from rflib.measures.construct import MeasureLike


class DIGMM(FourierFeatures):
    """Double-infinite Gaussian mixture features (Liu et al. 2020, TNNLS, the baseline in luo2021).

    The positive and the negative part of the spectral measure are each replaced by a Dirichlet-process
    Gaussian mixture, from which the frequencies are drawn; biased by the error of the mixtures. See
    `rflib.measures.digmm` for where this departs from the authors' procedure.

    Parameters and attributes are those of `FourierFeatures`, with the measure "digmm".
    """

    frequencies_per_s = 2
    unsupported = staticmethod(not_radial)

    def __init__(
        self,
        kernel: KernelLike = None,
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
