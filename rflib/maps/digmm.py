"""DIGMM: double-infinite Gaussian mixture model features of an indefinite kernel."""

from collections.abc import Mapping

from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import not_radial
from rflib.maps.parameters import with_parameters
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
    kernel, n_components, directions, radii, layout, random_state
        As for `FourierFeatures`, whose attributes it has, too.
    measure : str, dict or SpectralMeasure, default="digmm"
        What the frequencies are drawn from; see `rflib.measures.construct`. A mapping with the type "digmm" sets
        options of the mixtures.

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
    >>> from sklearn.datasets import load_digits
    >>> from rflib.kernels import DeltaGaussian
    >>> from rflib.maps import DIGMM
    >>> X, _ = load_digits(return_X_y=True)
    >>> DIGMM(DeltaGaussian((1, -1), (1, 10), "median"), 64, random_state=0).fit_transform(X).shape
    (1797, 64)
    """

    measure: MeasureLike = "digmm"

    unsupported = staticmethod(not_radial)

    @property
    def columns_per_s(self) -> int:
        """Number of columns for one s of the papers, which draws a frequency for each part of the measure.

        Those of "digmm_reference" are differences of frequencies of both parts.
        """
        name = self.measure.get("type") if isinstance(self.measure, Mapping) else self.measure
        return super().columns_per_s * (1 if name == "digmm_reference" else 2)
