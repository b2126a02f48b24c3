"""RFF: random Fourier features."""

from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import without_positive_measure
from rflib.maps.parameters import with_parameters


@with_parameters
class RFF(FourierFeatures):
    """Approximate a positive definite kernel with independent random frequencies.

    These are the random Fourier features of Rahimi and Recht, drawn from the exact measure. The estimate is
    unbiased. With F = D/2 frequencies in the layout "cos_sin", its variance at x - y = z is ((1 + k(2z))/2 -
    k(z)^2) / F.

    Parameters
    ----------
    kernel, n_components, radii, layout, random_state
        As for `FourierFeatures`, whose attributes it has, too. The kernel must be positive definite.

    See Also
    --------
    ORF : Orthogonal frequencies, which mostly have less error.
    MercerFeatures : Less error for the same number of columns.
    sklearn.kernel_approximation.RBFSampler : RFF(layout="phase") for the Gaussian kernel.

    References
    ----------
    Rahimi, Recht: Random features for large-scale kernel machines, NIPS 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import RFF
    >>> from rflib.metrics import relative_frobenius_error
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> features = RFF(Gaussian("median"), 64, random_state=0).fit(X)
    >>> print(f"{relative_frobenius_error(features.kernel_(X), features.kernel_matrix(X)):.2f}")
    0.11
    """

    measure = "exact"
    directions = "iid"
    unsupported = staticmethod(without_positive_measure)
