"""QMC: quasi-Monte Carlo features."""

from __future__ import annotations

from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import without_positive_measure
from rflib.validation import check_choice


class QMC(FourierFeatures):
    """Quasi-Monte Carlo features of a positive definite kernel (Yang et al. 2014).

    Scrambled low-discrepancy points go through the inverse distribution functions of the frequency's
    coordinates (Gaussian, Laplacian, Cauchy), or, with one coordinate more, of its norm and of a normal vector
    that gives its direction (other radial kernels). Unbiased.

    Parameters and attributes are those of `FourierFeatures`, with the exact measure, and

    Parameters
    ----------
    sequence : {"halton", "sobol"}
        Point set (scipy.stats.qmc).
    """

    measure = "exact"
    radii = "joint"

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        sequence: str = "halton",
        layout: str = "cos_sin",
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.sequence = sequence
        self.layout = layout
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice(self, "sequence", ("halton", "sobol"))
        super()._check_parameters()

    @property
    def directions(self) -> str:  # type: ignore[override]
        """The point set."""
        return self.sequence

    unsupported = staticmethod(without_positive_measure)
