"""GRFF: generalised random Fourier features of an indefinite kernel."""

from __future__ import annotations

from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import not_radial
from rflib.measures.construct import MeasureLike


class GRFF(FourierFeatures):
    """Generalised random Fourier features (luo2021, eq. 7): a signed measure, independent frequencies.

    The frequencies are divided equally between the positive and the negative part of the measure. Unbiased
    for the kernel of the measure; the variance is theorem 4's.

    Parameters and attributes are those of `FourierFeatures`. The default measure "paper" is the exact one, or,
    for SphericalPolynomial, which has no finite one, the `reference` measure that the paper's authors ran: it
    is biased, more so the higher the degree. measure="auto" takes `minimum_variance` (ours) in its place; the
    printed "truncated_fourier" has a mass that diverges.
    """

    frequencies_per_s = 2
    unsupported = staticmethod(not_radial)

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        measure: MeasureLike = "paper",
        radii: str = "iid",
        layout: str = "cos_sin",
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernel,
            n_components,
            measure=measure,
            directions="iid",
            radii=radii,
            layout=layout,
            random_state=random_state,
        )
