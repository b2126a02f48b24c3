"""RFF: random Fourier features."""

from __future__ import annotations

from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import without_positive_measure


class RFF(FourierFeatures):
    """Random Fourier features of a positive definite kernel (Rahimi & Recht 2007): independent frequencies.

    Unbiased; with F = D/2 frequencies (layout "cos_sin") the variance at x - y = z is
    ((1 + k(2z))/2 - k(z)^2) / F.

    Parameters and attributes are those of `FourierFeatures`, with the exact measure.
    """

    measure = "exact"
    directions = "iid"

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        radii: str = "iid",
        layout: str = "cos_sin",
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.radii = radii
        self.layout = layout
        self.random_state = random_state

    unsupported = staticmethod(without_positive_measure)
