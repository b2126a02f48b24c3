"""SRF: spherical random features."""

from __future__ import annotations

from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures, Harmonics
from rflib.maps.kernel_requirements import not_radial
from rflib.measures.construct import MeasureLike


class SRF(FourierFeatures):
    """Spherical random features (pennington2015): the best positive sum of Gaussians in place of the kernel.

    Any radial kernel on [0, zmax] (2 on the unit sphere) is fitted by a positive definite one, whose Fourier
    features are drawn; the estimate is biased by the error of the fit, which does not shrink with D.

    Parameters and attributes are those of `FourierFeatures`. The paper uses layout "phase"; "cos_sin", the
    default, has the lower error, and directions "orthogonal" lower still. The measure is "srf", or a mapping
    with its options (see `rflib.measures.srf`).
    """

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        measure: MeasureLike = "srf",
        directions: str = "iid",
        radii: str = "iid",
        layout: str = "cos_sin",
        harmonics: Harmonics = None,
        parity: bool | str = False,
        coupled: bool | str = False,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernel,
            n_components,
            measure=measure,
            directions=directions,
            radii=radii,
            layout=layout,
            harmonics=harmonics,
            parity=parity,
            coupled=coupled,
            random_state=random_state,
        )

    unsupported = staticmethod(not_radial)
