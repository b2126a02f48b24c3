"""GRFF: generalised random Fourier features of an indefinite kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY

from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import not_radial
from rflib.maps.parameters import Layout, Radii, with_parameters
from rflib.measures.construct import MeasureLike


@with_parameters
class GRFF(FourierFeatures):
    """Approximate an indefinite kernel with independent frequencies of a signed measure.

    These are the generalised random Fourier features of luo2021 (equation 7). The frequencies are divided equally
    between the positive and the negative part of the measure. The estimate is unbiased for the kernel that the
    measure represents, and its variance is given by theorem 4.

    Parameters
    ----------
    kernel : Kernel, callable or None, default=None
        Kernel to approximate; None means Gaussian("scale"), and a function of one array is the profile of a
        kernel.
    n_components : int, default=100
        Number of columns D.
    measure : str, dict or SpectralMeasure, default="paper"
        What the frequencies are drawn from; see `rflib.measures.construct`. "paper" is the exact measure if the
        kernel has a finite one. SphericalPolynomial has none; for it, "paper" is the measure that the paper's
        authors used (`rflib.measures.reference`), which is biased, and the more so the higher the degree. "auto"
        replaces it by the minimum-variance measure, which was introduced in rflib. The measure as printed,
        "truncated_fourier", has a mass that diverges with its cutoff.
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
    GORF : Orthogonal frequencies.
    MVORF : Less error for the same number of columns.

    References
    ----------
    Luo, Fang, Yang, Huang: Towards unbiased random features with lower variance for stationary indefinite kernels,
    IJCNN 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rflib.kernels import DeltaGaussian
    >>> from rflib.maps import GRFF
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> GRFF(DeltaGaussian((1, -1), (1, 10), "median"), 64, random_state=0).fit_transform(X).shape
    (178, 64)
    """

    kernel: KernelLike = None
    n_components: int = 100
    _: KW_ONLY
    measure: MeasureLike = "paper"
    radii: Radii = "iid"
    layout: Layout = "cos_sin"
    random_state: Seed = None

    directions = "iid"
    frequencies_per_s = 2
    unsupported = staticmethod(not_radial)
