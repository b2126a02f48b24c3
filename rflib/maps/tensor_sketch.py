"""TensorSketch: products of count sketches for polynomial kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import fft
from scipy.sparse import csr_matrix

from rflib.kernels.base import Kernel
from rflib.kernels.polynomial import Polynomial, SphericalPolynomial
from rflib.maps.base import RandomFeatureMap, Seed
from rflib.maps.waves import blas_threads

_BLOCK_ELEMENTS = 1 << 19
# Number of input columns from which sparse sketches and fast transforms beat matrix products.
_DENSE_BELOW = 128


class TensorSketch(RandomFeatureMap):
    """Tensor sketch of a polynomial kernel scale (gamma <x, y> + coef0)^p (Pham & Pagh 2013).

    The vector [sqrt(gamma) x, sqrt(coef0)] is sketched p times with independent hashes and signs; the sketches
    are multiplied in the Fourier domain. There the features stay: the real Fourier transform, scaled, has the
    same inner products as the sketch (Parseval), so no inverse transform is needed. Unbiased; equal in law of
    K_hat to scikit-learn's PolynomialCountSketch.

    Parameters
    ----------
    kernel : Polynomial, SphericalPolynomial or None
        Kernel to approximate; None is Polynomial(degree=2, coef0=1).
    n_components : int
        Number of columns D.
    random_state : int, Generator, SeedSequence, RandomState or None
        Seed.

    Attributes
    ----------
    hashes_ : ndarray of shape (degree, n_features_in_ + 1), int64
        Bucket of each coordinate in each sketch; the last coordinate is the constant.
    signs_ : ndarray of shape (degree, n_features_in_ + 1), int8
        Its sign.
    """

    _state: ClassVar[tuple[str, ...]] = ("hashes_", "signs_")

    hashes_: NDArray[np.int64]
    signs_: NDArray[np.int8]

    def __init__(
        self,
        kernel: Polynomial | SphericalPolynomial | None = None,
        n_components: int = 100,
        *,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    @classmethod
    def unsupported(cls, kernel: Kernel) -> str | None:
        """Return why the kernel is not polynomial; None if it is."""
        if isinstance(kernel, Polynomial | SphericalPolynomial):
            return None
        return f"{kernel!r} is not a polynomial kernel. Use RFF, ORF, GORF or MVORF, or Nystroem, instead."

    def _default_kernel(self) -> Kernel:
        return Polynomial(degree=2, coef0=1.0)

    def _polynomial(self) -> Polynomial:
        kernel = self.kernel_
        polynomial = kernel.as_polynomial() if isinstance(kernel, SphericalPolynomial) else kernel
        assert isinstance(polynomial, Polynomial)
        return polynomial

    def _draw(self, X: NDArray, y: ArrayLike | None, rng: Generator) -> None:
        shape = self._polynomial().degree, X.shape[1] + 1
        self.hashes_ = rng.integers(0, self.n_components, shape)
        self.signs_ = (2 * rng.integers(0, 2, shape) - 1).astype(np.int8)
        self.signature_ = np.ones(self.n_components)

    def _columns(self, X: NDArray) -> NDArray[np.floating]:
        D = self.n_components_
        features = np.empty((len(X), D), dtype=X.dtype)
        transforms = self._transforms(X.dtype)
        # Column k of the real transform stands for k and D - k, except 0 and, for even D, D/2.
        weights = np.full(D // 2 + 1, np.sqrt(2 / D), dtype=X.dtype)
        weights[0] /= np.sqrt(2)
        if D % 2 == 0:
            weights[-1] /= np.sqrt(2)
        rows = max(1, _BLOCK_ELEMENTS // D)
        for start in range(0, len(X), rows):
            block = X[start : start + rows]
            product = transforms[0](block)
            for transform in transforms[1:]:
                product *= transform(block)
            np.multiply(product.real, weights, out=features[start : start + rows, : D // 2 + 1])
            inner = slice(1, (D + 1) // 2)
            np.multiply(
                product.imag[:, inner], weights[inner], out=features[start : start + rows, D // 2 + 1 :]
            )
        return features

    def _transforms(self, dtype: np.dtype) -> list[Callable[[NDArray], NDArray]]:
        """Functions from rows to the real Fourier transforms (n, D // 2 + 1) of each of their sketches.

        The transform of a sketch is linear in the row: with few coordinates a matrix product is the fastest, with
        many the sparse sketch and a fast transform.
        """
        kernel, D, d = self._polynomial(), self.n_components_, self.n_features_in_
        share = kernel.scale ** (1 / kernel.degree)
        slope, constant_term = np.sqrt([share * kernel.gamma, share * kernel.coef0])
        found = []
        for hashes, signs in zip(self.hashes_, self.signs_, strict=True):
            values = (slope * signs[:d]).astype(dtype)
            sketch = csr_matrix((values, (np.arange(d), hashes[:d])), shape=(d, D))
            constant = np.zeros(D, dtype=dtype)
            constant[hashes[d]] = signs[d] * constant_term
            if d < _DENSE_BELOW:
                found.append(_by_product(fft.rfft(sketch.toarray()), fft.rfft(constant)))
            else:
                found.append(_by_transform(sketch, constant))
        return found


def _by_product(matrix: NDArray, constant: NDArray) -> Callable[[NDArray], NDArray]:
    numbers = matrix.view(matrix.real.dtype)
    return lambda block: (block @ numbers).view(matrix.dtype) + constant


def _by_transform(sketch: csr_matrix, constant: NDArray) -> Callable[[NDArray], NDArray]:
    return lambda block: fft.rfft(block @ sketch + constant, axis=1, overwrite_x=True, workers=blas_threads())
