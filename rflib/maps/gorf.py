"""GORF: generalised orthogonal random features of an indefinite kernel."""

from typing import Literal

from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import not_radial
from rflib.maps.parameters import Directions, with_parameters
from rflib.measures.construct import MeasureLike


@with_parameters
class GORF(FourierFeatures):
    """Approximate an indefinite kernel with orthogonal frequencies of a signed measure.

    These are the generalised orthogonal random features of luo2021 (algorithm 1). The estimate is unbiased for the
    kernel that the measure represents. Its variance is given by theorem 5, whose sign must be corrected, for
    directions="orthogonal", and by theorem 6 for "frame" (`rflib.measures.variance`).

    Parameters
    ----------
    kernel, n_components, radii, layout, random_state
        As for `FourierFeatures`, whose attributes it has, too.
    measure : str, dict or SpectralMeasure, default="paper"
        What the frequencies are drawn from; `GRFF` explains the default.
    directions : {"orthogonal", "frame", "iid", "distance", "halton", "sobol"}, default="orthogonal"
        How directions are drawn. "orthogonal" draws separate blocks of d Haar-distributed orthogonal directions
        for each part of the measure, which gives the published errors for the delta-Gaussian kernel. "frame" is
        the algorithm as printed: the normalised columns of the first d rows of an orthogonal matrix of order
        max(n, 2d) for n frequencies, which are not orthogonal to each other.

    See Also
    --------
    GRFF : Independent frequencies.
    MVORF : Less error for the same number of columns.

    References
    ----------
    Luo, Fang, Yang, Huang: Towards unbiased random features with lower variance for stationary indefinite kernels,
    IJCNN 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rflib.kernels import DeltaGaussian
    >>> from rflib.maps import GORF
    >>> X, _ = load_digits(return_X_y=True)
    >>> features = GORF(DeltaGaussian((1, -1), (1, 10), "median"), 64, random_state=0).fit(X)
    >>> int((features.signature_ < 0).sum())
    32
    """

    measure: MeasureLike = "paper"
    directions: Directions | Literal["distance"] = "orthogonal"

    frequencies_per_s = 2
    unsupported = staticmethod(not_radial)
