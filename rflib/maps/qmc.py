"""QMC: quasi-Monte Carlo features."""

from __future__ import annotations

from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import without_positive_measure
from rflib.maps.parameters import with_parameters


@with_parameters
class QMC(FourierFeatures):
    """Approximate a positive definite kernel with frequencies from a low-discrepancy sequence.

    The points of a scrambled Halton sequence are mapped to frequencies by the inverse distribution functions of
    the exact measure. For the Gaussian, Laplacian and Cauchy kernels these are the distribution functions of the
    frequency's coordinates. For other radial kernels a point has one more coordinate: one of them gives the norm
    of the frequency, and the others a normal vector that has its direction. The estimate is unbiased.

    Parameters
    ----------
    kernel, n_components, layout, random_state
        As for `FourierFeatures`, whose attributes it has, too. The kernel must be positive definite. There may be
        at most 5,000 input columns, for which the sequence takes 3.4 GB; its memory grows with their square.

    See Also
    --------
    FourierFeatures : With ``measure="exact", directions="sobol", radii="joint"``, those of Sobol's sequence.
    ORF : Orthogonal frequencies.

    References
    ----------
    Yang, Sindhwani, Avron, Mahoney: Quasi-Monte Carlo feature maps for shift-invariant kernels, ICML 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Laplacian
    >>> from rflib.maps import QMC
    >>> X = load_iris().data
    >>> features = QMC(Laplacian("median"), 64, random_state=0).fit(X)
    >>> print(abs(features.kernel_matrix(X) - features.kernel_(X)).mean().round(2))
    0.05
    """

    measure = "exact"
    directions = "halton"
    radii = "joint"
    unsupported = staticmethod(without_positive_measure)
