"""GRFF: generalised random Fourier features of an indefinite kernel."""

from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import not_radial
from rflib.maps.parameters import with_parameters
from rflib.measures.construct import MeasureLike


@with_parameters
class GRFF(FourierFeatures):
    """Approximate an indefinite kernel with independent frequencies of a signed measure.

    These are the generalised random Fourier features of luo2021 (equation 7). The frequencies are divided equally
    between the positive and the negative part of the measure. The estimate is unbiased for the kernel that the
    measure represents, and its variance is given by theorem 4.

    Parameters
    ----------
    kernel, n_components, radii, layout, random_state
        As for `FourierFeatures`, whose attributes it has, too.
    measure : str, dict or SpectralMeasure, default="paper"
        What the frequencies are drawn from; see `rflib.measures.construct`. "paper" is the exact measure if the
        kernel has a finite one. SphericalPolynomial has none; for it, "paper" is the measure that the paper's
        authors used (`rflib.measures.reference`), which is biased, and the more so the higher the degree. "auto"
        replaces it by the minimum-variance measure, which was introduced in rflib. The measure as printed,
        "truncated_fourier", has a mass that diverges with its cutoff.

    See Also
    --------
    GORF : Orthogonal frequencies.
    MVORF : Less error for the same number of columns.

    References
    ----------
    Luo, Fang, Yang, Huang: Towards unbiased random features with lower variance for stationary indefinite kernels,
    IJCNN 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rflib.kernels import DeltaGaussian
    >>> from rflib.maps import GRFF
    >>> X, _ = load_digits(return_X_y=True)
    >>> GRFF(DeltaGaussian((1, -1), (1, 10), "median"), 64, random_state=0).fit_transform(X).shape
    (1797, 64)
    """

    measure: MeasureLike = "paper"

    directions = "iid"
    frequencies_per_s = 2
    unsupported = staticmethod(not_radial)
