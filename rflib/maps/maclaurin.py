"""RandomMaclaurin: products of random signs for dot-product kernels."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array
from rflib.kernels.polynomial import Polynomial
from rflib.kernels.sparse_rows import Rows
from rflib.maps.base import RandomFeatureMap
from rflib.maps.product_sketch import Sketch
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
    kernel, n_components, random_state
        As for `RandomFeatureMap`; the kernel is a function of the inner product.

    Attributes
    ----------
    degrees_ : ndarray of shape (n_components,)
        Degree of each column, in increasing order.
    sketches_ : tuple of Sketch
        The random signs of each degree that occurs (`rflib.maps.product_sketch`).

    See Also
    --------
    OptimizedMaclaurin : Degrees that are shared out by their variance.
    TensorSketch : For polynomial kernels.

    References
    ----------
    Kar, Karnick: Random feature maps for dot product kernels, AISTATS 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Polynomial
    >>> from rflib.maps import RandomMaclaurin
    >>> RandomMaclaurin(Polynomial(degree=3), 64, random_state=0).fit_transform(load_iris().data).shape
    (150, 64)
    """

    _kernels = (attrgetter("is_dot_product"), "not a function of the inner product")
    _takes_sparse = True
    _needs_rows = False

    def _default_kernel(self) -> Kernel:
        return Polynomial(degree=2, coef0=1.0)

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        coefficients, D, d = kernel.maclaurin(), self.n_components, X.shape[1]
        probabilities = np.where(coefficients != 0, 0.5 ** (np.arange(len(coefficients)) + 1.0), 0)
        probabilities /= probabilities.sum()
        self.degrees_ = np.sort(rng.choice(len(probabilities), size=D, p=probabilities))
        turns = 2 - 2 * rng.integers(0, 2, (int(self.degrees_.sum()), d), dtype=np.int8)
        degrees, counts = np.unique(self.degrees_, return_counts=True)
        parts = np.split(turns, np.cumsum(degrees * counts)[:-1])
        weights = np.abs(coefficients[degrees]) / (probabilities[degrees] * D)
        self.sketches_ = tuple(
            Sketch(part.reshape(degree, count, d), np.full(count, weight), int(count), quarter=False)
            for part, degree, count, weight in zip(parts, degrees, counts, weights, strict=True)
        )
        self.signature_ = np.where(coefficients[self.degrees_] < 0, -1.0, 1.0)

    def _columns(self, X: Rows) -> Array:
        parts = [(sketch.n_columns, sketch.on(X)) for sketch in self.sketches_]

        def fill(block: Rows, out: Array) -> None:
            start = 0
            for n_columns, make in parts:
                out[:, start : start + n_columns] = make(block)
                start += n_columns

        return filled(X, self.n_components_, fill, _BLOCK_ELEMENTS // self.n_components_)
