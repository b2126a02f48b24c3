"""SRF: spherical random features."""

from __future__ import annotations

from dataclasses import KW_ONLY

from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import not_radial
from rflib.maps.parameters import Directions, Layout, Radii, with_parameters
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
    kernel : Kernel, callable or None, default=None
        Kernel to approximate; None means Gaussian("scale"), and a function of one array is the profile of a
        kernel.
    n_components : int, default=100
        Number of columns D.
    measure : str, dict or SpectralMeasure, default="srf"
        What the frequencies are drawn from; see `rflib.measures.construct`. A mapping with the type "srf" sets
        options of the fit (`rflib.measures.srf`).
    directions : {"iid", "orthogonal", "frame", "halton", "sobol"}, default="iid"
        How the directions of the frequencies are drawn; see `rflib.frequencies.directions`.
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

    kernel: KernelLike = None
    n_components: int = 100
    _: KW_ONLY
    measure: MeasureLike = "srf"
    directions: Directions = "iid"
    radii: Radii = "iid"
    layout: Layout = "cos_sin"
    random_state: Seed = None

    unsupported = staticmethod(not_radial)
