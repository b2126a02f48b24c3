"""QMC: quasi-Monte Carlo features."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Literal

from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import Seed
from rflib.maps.fourier import LAYOUTS, FourierFeatures
from rflib.maps.kernel_requirements import without_positive_measure
from rflib.maps.parameters import Layout, with_parameters
from rflib.validation import check_choice


@with_parameters
class QMC(FourierFeatures):
    """Approximate a positive definite kernel with frequencies from a low-discrepancy sequence.

    The points of a scrambled sequence are mapped to frequencies by the inverse distribution functions of the exact
    measure. For the Gaussian, Laplacian and Cauchy kernels these are the distribution functions of the frequency's
    coordinates. For other radial kernels a point has one more coordinate: one of them gives the norm of the
    frequency, and the others a normal vector that has its direction. The estimate is unbiased.

    Parameters
    ----------
    kernel : Kernel, callable or None, default=None
        Positive definite kernel to approximate; None means Gaussian("scale").
    n_components : int, default=100
        Number of columns D.
    sequence : {"halton", "sobol"}, default="halton"
        The low-discrepancy sequence, from ``scipy.stats.qmc``. Halton's is for at most 5,000 input columns,
        because its memory grows with the square of their number (3.4 GB for 5,000). Sobol's is for at most 21,200.
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
    RFF : Random frequencies.
    ORF : Orthogonal ones.

    References
    ----------
    Yang, Sindhwani, Avron, Mahoney: Quasi-Monte Carlo feature maps for shift-invariant kernels, ICML 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rflib.kernels import Laplacian
    >>> from rflib.maps import QMC
    >>> from rflib.metrics import relative_frobenius_error
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> kernel = Laplacian("median")
    >>> features = QMC(kernel, 64, random_state=0).fit(X)
    >>> print(f"{relative_frobenius_error(features.kernel_(X), features.kernel_matrix(X)):.2f}")
    0.24
    """

    kernel: KernelLike = None
    n_components: int = 100
    _: KW_ONLY
    sequence: Literal["halton", "sobol"] = "halton"
    layout: Layout = "cos_sin"
    random_state: Seed = None

    measure = "exact"
    unsupported = staticmethod(without_positive_measure)

    def _check_parameters(self) -> None:
        check_choice(self, "sequence", ("halton", "sobol"))
        check_choice(self, "layout", LAYOUTS)

    def _rules(self) -> dict[str, str]:
        return {"directions": self.sequence, "radii": "joint"}
