"""DIGMM: double-infinite Gaussian mixture model features of an indefinite kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY

from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import not_radial
from rflib.maps.parameters import Directions, Layout, Radii, with_parameters
from rflib.measures.construct import MeasureLike


@with_parameters
class DIGMM(FourierFeatures):
    """Approximate an indefinite kernel with frequencies drawn from two infinite Gaussian mixtures.

    The positive and the negative part of the spectral measure are each replaced by a Dirichlet-process Gaussian
    mixture, from which the frequencies are drawn. The estimate is biased by the error of these mixtures. The
    method is the baseline of luo2021; `rflib.measures.digmm` says how this implementation departs from the
    authors' code. What that code computes is measure="digmm_reference" (`rflib.measures.digmm_reference`): the
    same features for every kernel, with at least 2 d frequencies.

    Parameters
    ----------
    kernel : Kernel, callable or None, default=None
        Kernel to approximate; None means Gaussian("scale"), and a function of one array is the profile of a
        kernel.
    n_components : int, default=100
        Number of columns D.
    measure : str, dict or SpectralMeasure, default="digmm"
        What the frequencies are drawn from; see `rflib.measures.construct`. A mapping with the type "digmm" sets
        options of the mixtures.
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
    GRFF : The signed measure without mixtures.
    MVORF : Less error for the same number of columns.

    References
    ----------
    Liu, Huang, Shi, Yang, Suykens: A double-variational Bayesian framework in random Fourier features for
    indefinite kernels, IEEE Transactions on Neural Networks and Learning Systems 31, 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rflib.kernels import DeltaGaussian
    >>> from rflib.maps import DIGMM
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> DIGMM(DeltaGaussian((1, -1), (1, 10), "median"), 64, random_state=0).fit_transform(X).shape
    (178, 64)
    """

    kernel: KernelLike = None
    n_components: int = 100
    _: KW_ONLY
    measure: MeasureLike = "digmm"
    directions: Directions = "iid"
    radii: Radii = "iid"
    layout: Layout = "cos_sin"
    random_state: Seed = None

    unsupported = staticmethod(not_radial)

    @property
    def columns_per_s(self) -> int:
        """Number of columns for one s of the papers, which draws a frequency for each part of the measure.

        Those of "digmm_reference" are differences of frequencies of both parts.
        """
        name = self.measure.get("type") if isinstance(self.measure, Mapping) else self.measure
        return super().columns_per_s * (1 if name == "digmm_reference" else 2)
