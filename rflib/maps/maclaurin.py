"""RandomMaclaurin: products of random signs for dot-product kernels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from rflib.kernels.base import DotProductKernel, Kernel
from rflib.kernels.namespaces import Array, held_beside
from rflib.kernels.polynomial import Polynomial
from rflib.kernels.sparse_rows import Rows
from rflib.maps.base import RandomFeatureMap
from rflib.maps.row_blocks import filled

_BLOCK_ELEMENTS = 1 << 19


class RandomMaclaurin(RandomFeatureMap):
    """Approximate a kernel of the inner product by products of random sign projections.

    These are the random Maclaurin features of a kernel f(<x, y>) = sum_N a_N <x, y>^N. For each column a degree N
    is drawn with the probability P(N), which is proportional to 2^-(N+1) among the degrees with a_N != 0. The
    column is sqrt(|a_N| / (P(N) D)) times the product of N Rademacher projections of x. Its sign is that of a_N;
    the paper considers positive a_N only. The estimate is unbiased, and the variance of K_hat(x, y) is (sum_N
    a_N^2 / P(N) m(x, y)^N - f(<x, y>)^2) / D with m = ||x||^2 ||y||^2 + 2 <x, y>^2 - 2 sum_i x_i^2 y_i^2.

    Parameters
    ----------
    kernel : DotProductKernel or None, default=None
        Kernel to approximate; None means Polynomial(degree=2, coef0=1).
    n_components : int, default=100
        Number of columns D.
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the random draws. An integer gives the same features on every machine.

    Attributes
    ----------
    degrees_ : ndarray of shape (n_components,)
        Degree of each column, in increasing order.
    signs_ : ndarray of shape (sum of the degrees, n_features_in_), int8
        Rademacher vectors. The columns of a degree N come together: first the first vectors of all of them, then
        the second vectors, up to the N-th.

    References
    ----------
    Kar, Karnick: Random feature maps for dot product kernels, AISTATS 2012.
    """

    _kernels = (DotProductKernel, "not a function of the inner product")
    _takes_sparse = True
    _needs_rows = False

    def _default_kernel(self) -> Kernel:
        return Polynomial(degree=2, coef0=1.0)

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        probabilities = self._probabilities()
        self.degrees_ = np.sort(rng.choice(len(probabilities), size=self.n_components, p=probabilities))
        signs = rng.integers(0, 2, (int(self.degrees_.sum()), X.shape[1]), dtype=np.int8)
        self.signs_ = 2 * signs - 1
        assert isinstance(kernel, DotProductKernel)
        self.signature_ = np.where(kernel.maclaurin()[self.degrees_] < 0, -1.0, 1.0)

    def _probabilities(self) -> NDArray[np.float64]:
        assert isinstance(self.kernel_, DotProductKernel)
        coefficients = self.kernel_.maclaurin()
        weights = np.where(coefficients != 0, 0.5 ** (np.arange(len(coefficients)) + 1.0), 0)
        return weights / weights.sum()

    def _columns(self, X: Rows) -> Array:
        assert isinstance(self.kernel_, DotProductKernel)
        coefficients, probabilities = self.kernel_.maclaurin(), self._probabilities()
        signs = held_beside(self.signs_, X).T
        groups, used = [], 0
        for degree in np.unique(self.degrees_):
            first, stop = np.searchsorted(self.degrees_, [degree, degree + 1])
            scale = np.sqrt(np.abs(coefficients[degree]) / (probabilities[degree] * self.n_components_))
            ends = used + (stop - first) * np.arange(degree + 1)
            factors = [signs[:, a:b] for a, b in pairwise(ends)]
            if issparse(X):  # scipy's product would copy a matrix that is not contiguous for each block
                factors = list(map(np.ascontiguousarray, factors))
            groups.append((slice(first, stop), float(scale), factors))
            used = ends[-1]

        def fill(block: Rows, out: Array) -> None:
            for columns, scale, factors in groups:
                out[:, columns] = scale
                for factor in factors:
                    out[:, columns] *= block @ factor

        return filled(X, self.n_components_, fill, _BLOCK_ELEMENTS // self.n_components_)
