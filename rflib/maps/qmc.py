"""QMC: quasi-Monte Carlo features."""

from __future__ import annotations

from typing import Literal

from rflib.maps.fourier import LAYOUTS, FourierFeatures
from rflib.maps.kernel_requirements import without_positive_measure
from rflib.maps.parameters import with_parameters
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
    kernel, n_components, layout, random_state
        As for `FourierFeatures`, whose attributes it has, too. The kernel must be positive definite.
    sequence : {"halton", "sobol"}, default="halton"
        The low-discrepancy sequence, from ``scipy.stats.qmc``. Halton's is for at most 5,000 input columns,
        because its memory grows with the square of their number (3.4 GB for 5,000). Sobol's is for at most 21,200.

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

    sequence: Literal["halton", "sobol"] = "halton"

    measure = "exact"
    directions = "halton"
    radii = "joint"
    unsupported = staticmethod(without_positive_measure)

    def _check_parameters(self) -> None:
        check_choice(self, "sequence", ("halton", "sobol"))
        check_choice(self, "layout", LAYOUTS)

    def _rules(self) -> dict[str, str]:
        return {"directions": self.sequence, "radii": "joint"}
