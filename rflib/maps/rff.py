"""RFF: random Fourier features."""

from __future__ import annotations

from dataclasses import KW_ONLY

from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import without_positive_measure
from rflib.maps.parameters import Layout, Radii, with_parameters


@with_parameters
class RFF(FourierFeatures):
    """Approximate a positive definite kernel with independent random frequencies.

    These are the random Fourier features of Rahimi and Recht, drawn from the exact measure. The estimate is
    unbiased. With F = D/2 frequencies in the layout "cos_sin", its variance at x - y = z is ((1 + k(2z))/2 -
    k(z)^2) / F.

    Parameters
    ----------
    kernel : Kernel, callable or None, default=None
        Positive definite kernel to approximate; None means Gaussian("scale").
    n_components : int, default=100
        Number of columns D.
    radii : {"iid", "paired", "stratified", "halton"}, default="iid"
        How the norms of the frequencies are drawn; see `rflib.frequencies.draw`.
    layout : {"cos_sin", "phase"}, default="cos_sin"
        Whether each frequency has a cosine and a sine as columns, or one cosine with a random phase; see
        `FourierFeatures`.
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the random draws. An integer gives the same features on every machine.

    Attributes
    ----------
    frequencies_, weights_, phases_, measure_, centre_, radius_
        As for `FourierFeatures`.

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
    >>> kernel = Gaussian("median")
    >>> features = RFF(kernel, 64, random_state=0).fit(X)
    >>> print(f"{relative_frobenius_error(features.kernel_(X), features.kernel_matrix(X)):.2f}")
    0.11
    """

    kernel: KernelLike = None
    n_components: int = 100
    _: KW_ONLY
    radii: Radii = "iid"
    layout: Layout = "cos_sin"
    random_state: Seed = None

    measure = "exact"
    directions = "iid"
    unsupported = staticmethod(without_positive_measure)
