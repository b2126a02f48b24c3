"""SRF: spherical random features."""

from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import not_radial
from rflib.maps.parameters import with_parameters
from rflib.measures.construct import MeasureLike


@with_parameters
class SRF(FourierFeatures):
    """Approximate any kernel of the distance by the nearest positive definite kernel, and draw its features.

    These are the spherical random features of pennington2015. A positive definite kernel whose measure is a
    clipped sum of Gaussians is fitted to the kernel on [0, zmax], where zmax is 2 for rows of unit norm; the
    frequencies are drawn from this measure. The estimate is biased by the error of the fit, which does not fall
    with n_components. The paper uses layout="phase". The default "cos_sin" has a lower error, and with
    directions="orthogonal" the error is still lower.

    Parameters
    ----------
    kernel, n_components, directions, radii, layout, random_state
        As for `FourierFeatures`, whose attributes it has, too.
    measure : str, dict or SpectralMeasure, default="srf"
        What the frequencies are drawn from; see `rflib.measures.construct`. A mapping with the type "srf" sets
        options of the fit (`rflib.measures.srf`).

    See Also
    --------
    TensorSketch : Products of count sketches, for rows of any norm.
    MVORF : Less error for the same number of columns.

    References
    ----------
    Pennington, Yu, Kumar: Spherical random features for polynomial kernels, NIPS 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from rflib.kernels import SphericalPolynomial
    >>> from rflib.maps import SRF
    >>> X = normalize(load_digits().data[:300])
    >>> SRF(SphericalPolynomial(a=4, p=10), 64, random_state=0).fit_transform(X).shape
    (300, 64)
    """

    measure: MeasureLike = "srf"

    unsupported = staticmethod(not_radial)
