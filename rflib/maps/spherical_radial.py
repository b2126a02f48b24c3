"""SphericalRadialRFF: Gauss's nodes for the norms times orthogonal or distant directions, with optimal weights."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve

from rflib.frequencies.directions import DIRECTIONS
from rflib.kernels.base import Kernel
from rflib.kernels.sparse_rows import Rows
from rflib.maps.parameters import with_parameters
from rflib.maps.wave_features import GaussianCosines
from rflib.measures.base import chi_squared_nodes
from rflib.validation import check_choice, check_flag, check_integer

# Added to the diagonal of the directions' kernel matrix, as in the authors' code.
_RIDGE = 1e-5


@with_parameters
class SphericalRadialRFF(GaussianCosines):
    """Approximate the Gaussian kernel by a quadrature rule for norms times a quadrature rule for directions.

    Let v be a standard normal vector in d dimensions. The norms and their weights are the Gauss quadrature of
    |v|^2, which is exact for polynomials up to the degree 2 n_radii - 1. Each norm has the same random directions
    u. Their weights w are equal, or those of optimal kernel quadrature on the sphere: the solution of
    (K + 1e-5 I) w = 1, scaled to the sum one, where K holds 2 cosh(<u, u'>) / e for the directions u and u'. This
    is the sum of the Gaussian kernels of width 1 of u with u' and with -u', whose cosines are the same.

    The error falls nearly exponentially with n_components if sigma is large compared with the distances of the
    rows. With narrower kernels or fewer columns, a norm for each direction is better, as `ORF` has it.

    If the number of frequencies is no multiple of n_radii, the norms of largest weight have one more direction.
    With equal weights, the estimate is unbiased for the kernel of the norms. Optimal weights may be negative.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `FourierFeatures`, as are frequencies_, weights_ and phases_; the kernel is a Gaussian.
    n_radii : int, default=3
        Number of norms, at most that of frequencies. The default is that of the authors' code. More norms are
        exact at larger distances and leave fewer directions.
    directions : {"orthogonal", "distance"}, default="orthogonal"
        How the directions are drawn (`rflib.frequencies.directions`). With "distance" and enough norms, this is
        QMC slicing (Hertrich, Jahn and Quellmalz) with Gauss quadrature in place of a Fourier series.
    optimal_weights : bool, default=True
        Whether directions have optimal weights (OKQ-SOMC) or equal ones (SR-OMC).

    See Also
    --------
    ORF : Random norms.
    QuadratureRFF : Random rules of degree three.

    References
    ----------
    - Belhadji, Zhu, Marzouk: On the design of scalable, high-precision spherical-radial Fourier features, 2024
      (arXiv 2408.13231).
    - Hertrich, Jahn, Quellmalz: Fast summation of radial kernels via QMC slicing, ICLR 2025.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import SphericalRadialRFF
    >>> from rflib.metrics import relative_frobenius_error
    >>> X, _ = load_iris(return_X_y=True)
    >>> kernel = Gaussian(sigma=4.0)
    >>> features = SphericalRadialRFF(kernel, 96, random_state=0).fit(X)
    >>> relative_frobenius_error(kernel(X), features.kernel_matrix(X)) < 0.01
    True
    """

    n_radii: int = 3
    directions: Literal["orthogonal", "distance"] = "orthogonal"
    optimal_weights: bool = True

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_integer(self, "n_radii", at_least=1)
        check_choice(self, "directions", ("orthogonal", "distance"))
        check_flag(self, "optimal_weights")
        super()._draw(kernel, X, y, rng)

    def _sample(self, n: int, d: int, rng: Generator) -> tuple[NDArray, NDArray]:
        n_radii = min(self.n_radii, n)
        squares, masses = chi_squared_nodes(d, n_radii)
        order = np.argsort(-masses)
        radii, masses = np.sqrt(squares[order]), masses[order]
        counts = [len(range(j, n, n_radii)) for j in range(n_radii)]
        unit = DIRECTIONS[self.directions](counts[0], d, rng)
        vectors = [radius * unit[:count] for radius, count in zip(radii, counts, strict=True)]
        gram = 2 * np.exp(-1.0) * np.cosh(unit @ unit.T) + _RIDGE * np.eye(len(unit))
        weights = []
        for mass, count in zip(masses, counts, strict=True):
            own = np.ones(count)
            if self.optimal_weights:
                own = solve(gram[:count, :count], own, assume_a="pos")
            weights.append(mass * own / own.sum())
        return np.concatenate(vectors), np.concatenate(weights)
