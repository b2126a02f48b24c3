"""QuadratureFeatures: frequencies on the grid of Gauss-Hermite nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import nnls
from scipy.special import roots_hermitenorm
from sklearn.utils.extmath import row_norms

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array
from rflib.kernels.sparse_rows import Rows
from rflib.maps.parameters import with_parameters
from rflib.maps.row_blocks import row_blocks
from rflib.maps.wave_features import GaussianCosines
from rflib.measures.domain import distances_from, enclosing_ball
from rflib.validation import check_choice, refuse

Grid = Literal["auto", "dense", "reweighted"]
# Nodes for each input column of the grid from which frequencies are drawn.
_NODES = 16
# Pairs of rows for the weights of one frequency, pairs that the grids are compared on, and pairs at a time.
_PAIRS, _HELD, _BLOCK, _BLOCK_ELEMENTS = 10, 2000, 2048, 1 << 22
# How much weights are drawn to equal ones, as a share of the mean square of a cosine.
_RIDGE = 0.1


@with_parameters
class QuadratureFeatures(GaussianCosines):
    """Approximate the Gaussian kernel by Gauss-Hermite quadrature of its spectral measure.

    The dense grid has m nodes for each of the d input columns. Its estimate of k(z) is a product over the columns,
    and each factor is exact up to the power 2m - 1 of the frequency, so that the error falls exponentially with m.
    But it takes m^d columns, with antipodes left out: these are the quadrature Fourier features of Mutny and
    Krause, for a few input columns.

    For more input columns, Dao et al. draw frequencies from a dense grid with its weights as probabilities, and
    then find non-negative weights by least squares of the kernel at pairs of training rows. Here this grid has
    16 nodes for each column, and the weights are drawn slightly towards equal ones.

    Both represent the kernel at the distances of the training rows only; `transform` warns of rows outside of a
    ball around these.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `FourierFeatures`, as are frequencies_, weights_ and phases_; the kernel is a Gaussian. Frequencies
        that the dense grid does not need are zero, and no weight is negative.
    grid : {"auto", "dense", "reweighted"}, default="auto"
        "auto" is the one with the lower error at other pairs of training rows.

    Attributes
    ----------
    centre_ : ndarray of shape (n_features_in_,)
        Centre of the ball around the training rows.
    radius_ : float
        Its radius, in units of the inputs.

    See Also
    --------
    QuadratureRFF : Random rules.
    HilbertSpaceFeatures : Eigenfunctions on a box, for few input columns too.

    References
    ----------
    Dao, De Sa, Re: Gaussian quadrature for kernel features, NIPS 2017.
    Mutny, Krause: Efficient high dimensional Bayesian optimization with additivity and quadrature Fourier
    features, NeurIPS 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import QuadratureFeatures
    >>> X = np.random.default_rng(0).uniform(size=(50, 2))
    >>> features = QuadratureFeatures(Gaussian(0.5), 100, grid="dense").fit(X)
    >>> bool(abs(features.kernel_matrix(X) - features.kernel_(X)).max() < 1e-4)
    True
    """

    _needs_rows = True

    grid: Grid = "auto"

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_choice(self, "grid", get_args(Grid))
        self.centre_, self.radius_ = enclosing_ball(X)
        D, d, found = self.n_components, X.shape[1], []
        n = (D + 1) // 2
        if self.grid != "reweighted" and 2 ** min(d, 62) <= D:
            found.append(dense_grid(int(D ** (1 / d) + 1e-9), d, n))
        elif self.grid == "dense":
            least = f"the 2^{d} columns of a dense grid with two nodes for each of {d} input columns"
            refuse(self, "grid", f"'auto' or 'reweighted', because n_components={D} is below {least}")
        if self.grid != "dense":
            vectors, _ = self._sample(n, d, rng)
            found.append((vectors, least_squares_weights(pairs(kernel, X, _PAIRS * n, rng), vectors)))
        errors = np.zeros(len(found))
        for rows, values in pairs(kernel, X, _HELD, rng):
            errors += [((np.cos(rows @ nodes.T) @ weights - values) ** 2).sum() for nodes, weights in found]
        self._keep_frequencies(*found[int(errors.argmin())], kernel.single_width, rng)

    def _reach(self, X: Rows) -> Array:
        return distances_from(self.centre_, X) / self.radius_

    def _sample(self, n: int, d: int, rng: Generator) -> tuple[NDArray, NDArray]:
        nodes, weights = roots_hermitenorm(_NODES)
        return nodes[rng.choice(_NODES, (n, d), p=weights / weights.sum())], np.full(n, 1 / n)


def dense_grid(m: int, d: int, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the frequencies (n, d) and weights (n,) of the grid of m^d nodes, one of each pair of antipodes.

    There are zero frequencies without weight where the grid has fewer than n pairs.
    """
    nodes, weights = roots_hermitenorm(m)
    half = (m**d + 1) // 2
    places = np.stack(np.unravel_index(np.arange(half), (m,) * d), axis=1)
    products = (weights / weights.sum())[places].prod(axis=1)
    products[: m**d // 2] *= 2
    return np.pad(nodes[places], ((0, n - half), (0, 0))), np.pad(products, (0, n - half))


def pairs(kernel: Kernel, X: Rows, n: int, rng: Generator) -> Iterator[tuple[Rows, NDArray]]:
    """Yield, in blocks, the differences of n pairs of rows in units of the width, and the kernel at them."""
    left, right = rng.integers(0, X.shape[0], (2, n))
    for block in row_blocks(n, max(1, min(_BLOCK, _BLOCK_ELEMENTS // X.shape[1]))):
        differences = (X[left[block]] - X[right[block]]).astype(np.float64)
        yield differences / kernel.single_width, kernel.at_distance(row_norms(differences))


def least_squares_weights(blocks: Iterable[tuple[Rows, NDArray]], vectors: NDArray) -> NDArray[np.float64]:
    """Return non-negative weights of the cosines of frequencies that fit the kernel at differences of rows."""
    n = len(vectors)
    gram, products = np.zeros((n, n)), np.zeros(n)
    for rows, values in blocks:
        cosines = np.cos(rows @ vectors.T)
        gram += cosines.T @ cosines
        products += cosines.T @ values
    ridge = _RIDGE * gram.trace() / n
    factor = np.linalg.cholesky(gram + ridge * np.eye(n))
    weights, _ = nnls(factor.T, solve_triangular(factor, products + ridge / n, lower=True))
    return np.asarray(weights)
