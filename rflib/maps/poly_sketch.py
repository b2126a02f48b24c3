"""PolySketch: a binary tree of sketches for polynomial kernels of high degree."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.sparse_rows import Rows
from rflib.maps.product_sketch import hadamard_order
from rflib.maps.row_blocks import over_row_blocks
from rflib.maps.tensor_sketch import TensorSketch
from rflib.maps.walsh_hadamard import walsh_hadamard

_BLOCK_ELEMENTS = 1 << 18


class PolySketch(TensorSketch):
    """Tree of sketches of a polynomial kernel scale (gamma <x, y> + coef0)^p (Ahle et al. 2020, SODA, section 3).

    The p leaves are independent count sketches of the vector [sqrt(gamma) x, sqrt(coef0)]. Each node above takes
    two sketches u and w of length m, the least power of two of at least n_components, to
    sqrt(m) (H S u)_i (H T w)_j for m sampled pairs (i, j), with H the orthogonal Hadamard matrix and S, T diagonal
    matrices of random signs (TensorSRHT); the root has n_components pairs. Unbiased. The variance grows in
    proportion to the degree, where that of `TensorSketch` grows exponentially: PolySketch is for high degrees.

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
        Bucket of each coordinate in each leaf, one of m (of n_components for degree 1, where there is no node);
        the last coordinate is the constant.
    signs_ : ndarray of shape (degree, n_features_in_ + 1), int8
        Its sign.
    node_signs_ : ndarray of shape (degree - 1, 2, m), int8
        The diagonals of S and T of each node, in the order in which the tree is evaluated, from the leaves up.
    node_places_ : ndarray of shape (degree - 1, 2, m), int64
        Its pairs (i, j); the root uses the first n_components.
    """

    _state: ClassVar[tuple[str, ...]] = (*TensorSketch._state, "node_signs_", "node_places_")

    def _draw(self, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        degree, D = self._polynomial().degree, self.n_components
        m, nodes = hadamard_order(D), degree - 1
        self._draw_sketches(X.shape[1], m if nodes else D, rng)
        self.node_signs_ = (2 * rng.integers(0, 2, (nodes, 2, m)) - 1).astype(np.int8)
        self.node_places_ = rng.permuted(np.broadcast_to(np.arange(m), (nodes, 2, m)), axis=2)
        self.signature_ = np.ones(D)

    def _columns(self, X: Rows) -> NDArray[np.floating]:
        D, m = self.n_components_, hadamard_order(self.n_components_)
        features = np.empty((X.shape[0], D), dtype=X.dtype)
        leaves = self._sketches(X.dtype, m if len(self.node_signs_) else D)
        signs = self.node_signs_.astype(X.dtype)

        def fill(rows: slice) -> None:
            level = [leaf(X[rows]) for leaf in leaves]
            node = 0
            while len(level) > 1:
                root = len(level) == 2
                above = []
                for u, w in zip(level[::2], level[1::2], strict=False):
                    first, second = self.node_places_[node][:, : D if root else m]
                    product = walsh_hadamard(u * signs[node, 0])[:, first]
                    product *= walsh_hadamard(w * signs[node, 1])[:, second]
                    product *= X.dtype.type(m / np.sqrt(len(first)))
                    above.append(product)
                    node += 1
                level = above + level[len(level) // 2 * 2 :]
            features[rows] = level[0]

        over_row_blocks(fill, X.shape[0], max(1, _BLOCK_ELEMENTS // (m * len(leaves))))
        return features
