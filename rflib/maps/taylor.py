"""TaylorFeatures: the monomials of the Gaussian kernel."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.special import gammaln

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, beside, in_type_of, namespace, take_columns, widest
from rflib.kernels.sparse_rows import Rows, mean_row, squared_norms
from rflib.maps.product_features import ProductFeatures

# Rows so far from the origin that the exponential is smaller have no features: their monomials may overflow.
_LEAST = 1e-30


class TaylorFeatures(ProductFeatures):
    """Approximate the Gaussian kernel by monomials of the rows times an exponential.

    The kernel is exp(-|x|^2 / 2 sigma^2) exp(-|y|^2 / 2 sigma^2) sum_n (<x, y> / sigma^2)^n / n!. So its columns
    are exp(-|x|^2 / 2 sigma^2) prod_i (x_i / sigma)^a_i / sqrt(a_i!), one for each multi-index a. All of them up
    to the degree n lack at most (|x| |y| / sigma^2)^(n+1) / (n+1)! of the kernel. Nothing is drawn at random.

    The authors take all monomials up to a degree. Here the columns are the D monomials with the largest mean
    squares, descending, as if the input columns were independent and normal with their mean squares; their degrees
    mostly ascend. So every number of columns has its best monomials.

    The series is about the origin: centre dense rows. Features fade beyond the training rows; `transform` warns.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `RandomFeatureMap`; the kernel is Gaussian.

    Attributes
    ----------
    tree_ : ProductTree
        The multi-indices.
    sigma_ : float
        The width of the kernel, in units of the inputs.

    See Also
    --------
    MercerFeatures : Eigenfunctions, which need fewer columns.
    OptimizedMaclaurin : Random products.

    References
    ----------
    Cotter, Keshet, Srebro: Explicit approximations of the Gaussian kernel, 2011 (arXiv 1109.4603).

    Examples
    --------
    >>> import numpy as np
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import TaylorFeatures
    >>> X = np.array([[0.5, 0.0], [0.0, 1.0]])
    >>> TaylorFeatures(Gaussian(1.0), 3).fit(X).transform(X).round(3)
    array([[0.882, 0.   , 0.441],
           [0.607, 0.607, 0.   ]])
    """

    _takes_sparse = True
    _kernels = (attrgetter("is_gaussian"), "not Gaussian")

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        self.sigma_ = kernel.single_width
        scaled = X / self.sigma_
        with np.errstate(divide="ignore"):
            share = 1 / (2 + 1 / mean_row(scaled.power(2) if issparse(X) else scaled**2))
        powers = np.arange(1.0, self._n_functions(X.shape[1]))
        sizes = np.cumprod((2 - 1 / powers) * share[:, None], axis=1)
        self._keep_largest(np.hstack([np.ones((len(share), 1)), sizes]))

    def _factors(self, X: Rows, axes: NDArray, powers: NDArray) -> tuple[Array, Array]:
        root = in_type_of(namespace(X).exp(squared_norms(X) / (-2 * self.sigma_**2)), X)
        columns = X[:, axes].toarray() if issparse(X) else take_columns(X, axes)
        xp, t = namespace(root), widest(columns).T / self.sigma_
        size = xp.where((t == 0) | (root < _LEAST), xp.full_like(t, _LEAST), xp.abs(t))
        log_norms, degrees = (beside(each, t)[:, None] for each in (gammaln(powers + 1.0) / 2, powers + 0.0))
        odd = beside(powers % 2 + 0.0, t)[:, None]
        values = xp.exp(degrees * xp.log(size) - log_norms)
        return root, in_type_of(xp.where((odd > 0) & (t < 0), -values, values), X)
