"""ORF: orthogonal random features."""

from __future__ import annotations

from rflib.kernels.base import Kernel
from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures, Harmonics
from rflib.maps.kernel_requirements import not_radial, without_positive_measure


class ORF(FourierFeatures):
    """Orthogonal random features of a positive definite radial kernel (Yu et al. 2016, Choromanski et al. 2018).

    Frequencies are orthogonal in blocks of d. Unbiased; with s frequencies in one block (s <= d)
    Var(ORF) - Var(RFF) = (s-1)/s (E Omega_d(sqrt(R1^2 + R2^2) z) - (E Omega_d(R z))^2).

    Parameters and attributes are those of `FourierFeatures`, with the exact measure.
    """

    measure = "exact"
    directions = "orthogonal"

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        radii: str = "iid",
        layout: str = "cos_sin",
        harmonics: Harmonics = None,
        parity: bool | str = False,
        coupled: bool | str = False,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.radii = radii
        self.layout = layout
        self.harmonics = harmonics
        self.parity = parity
        self.coupled = coupled
        self.random_state = random_state

    @classmethod
    def unsupported(cls, kernel: Kernel) -> str | None:
        """Return why the kernel is not positive definite and radial; None if it is."""
        return not_radial(kernel) or without_positive_measure(kernel)
