"""GORF: generalised orthogonal random features of an indefinite kernel."""

from __future__ import annotations

from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures, Harmonics
from rflib.maps.kernel_requirements import not_radial
from rflib.measures.construct import MeasureLike


class GORF(FourierFeatures):
    """Generalised orthogonal random features (luo2021, algorithm 1): a signed measure, orthogonal frequencies.

    Unbiased for the kernel of the measure; variance: theorem 6, with the sign of theorem 5 corrected.

    Parameters and attributes are those of `FourierFeatures`. The measure is as for `GRFF`. The directions:

    Parameters
    ----------
    directions : {"orthogonal", "frame"}
        "orthogonal": separate blocks of d Haar-orthogonal directions for either part of the measure, which
        gives the published delta-Gaussian errors. "frame": the printed algorithm, normalised columns of the
        first d rows of an orthogonal matrix of order max(2s, 2d), which are orthogonal only where 2s <= d.
    """

    frequencies_per_s = 2
    unsupported = staticmethod(not_radial)

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        measure: MeasureLike = "paper",
        directions: str = "orthogonal",
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
