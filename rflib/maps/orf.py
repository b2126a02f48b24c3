"""ORF: orthogonal random features."""

from rflib.kernels.base import Kernel
from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import not_radial, without_positive_measure
from rflib.maps.parameters import with_parameters


@with_parameters
class ORF(FourierFeatures):
    """Approximate a positive definite kernel of the distance with orthogonal random frequencies.

    The frequencies are drawn from the exact measure, and are orthogonal in blocks of d, the number of input
    columns. The estimate is unbiased. With F <= d frequencies, its variance at the distance z differs from that of
    `RFF` by (F - 1) / F (E Omega_d(sqrt(R1^2 + R2^2) z) - (E Omega_d(R z))^2), where R, R1 and R2 are independent
    norms of frequencies and Omega_d(t) is the mean of cos(t <u, e>) over unit vectors u (`rflib.measures.omega`).

    Parameters
    ----------
    kernel, n_components, radii, layout, random_state
        As for `FourierFeatures`, whose attributes it has, too. The kernel must be positive definite.
        radii="paired" gives the norm-coupled features of Reid et al.

    See Also
    --------
    RFF : Independent frequencies.
    MercerFeatures : Less error, if the rows may be looked at.
    SORF : Fast transforms, from about 2,000 input columns on.

    References
    ----------
    - Yu, Suresh, Choromanski, Holtmann-Rice, Kumar: Orthogonal random features, NIPS 2016.
    - Choromanski, Rowland, Sarlos, Sindhwani, Turner, Weller: The geometry of random features, AISTATS 2018.
    - Reid, Markou, Choromanski, Turner, Weller: Variance-reducing couplings for random features, ICLR 2025.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import ORF
    >>> from rflib.metrics import relative_frobenius_error
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> features = ORF(Gaussian("median"), 64, random_state=0).fit(X)
    >>> print(f"{relative_frobenius_error(features.kernel_(X), features.kernel_matrix(X)):.2f}")
    0.06
    """

    measure = "exact"
    directions = "orthogonal"

    @classmethod
    def unsupported(cls, kernel: Kernel) -> str | None:
        """Return what to use for a kernel that is not positive definite or not radial, or None if it is both."""
        return not_radial(kernel) or without_positive_measure(kernel)
