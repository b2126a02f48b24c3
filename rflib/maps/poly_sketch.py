"""PolySketch: a binary tree of sketches, for polynomial kernels of high degree."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, beside, take_columns
from rflib.kernels.sparse_rows import Rows
from rflib.maps.product_sketch import hadamard_order
from rflib.maps.row_blocks import filled
from rflib.maps.tensor_sketch import TensorSketch
from rflib.maps.walsh_hadamard import walsh_hadamard

_BLOCK_ELEMENTS = 1 << 18


class PolySketch(TensorSketch):
    """Approximate a polynomial kernel of high degree by a binary tree of sketches.

    For the kernel scale (gamma <x, y> + coef0)^p, the p leaves of the tree are independent count sketches of the
    vector [sqrt(gamma) x, sqrt(coef0)]. All sketches have the length m, the least power of two that is at least
    n_components. A node above two sketches u and w computes sqrt(m) (H S u)_i (H T w)_j for m sampled pairs (i,
    j), where H is the orthogonal Hadamard matrix and S and T are diagonal matrices of random signs (TensorSRHT).
    The root has n_components pairs. The estimate is unbiased. Its variance grows in proportion to the degree,
    while that of `TensorSketch` grows exponentially, so PolySketch suits high degrees.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `TensorSketch`.

    Attributes
    ----------
    hashes_, signs_ : ndarrays of shape (degree, n_features_in_ + 1), int64 and int8
        Bucket and sign of each coordinate in each leaf, as for `TensorSketch`. There are m buckets, but
        n_components for degree 1, where there is no node.
    node_signs_ : ndarray of shape (degree - 1, 2, m), int8
        Diagonals of S and T for each node, from the leaves to the root.
    node_places_ : ndarray of shape (degree - 1, 2, m), int64
        Pairs (i, j) of each node. The root uses the first n_components of its pairs.

    See Also
    --------
    TensorSketch : For low degrees.

    References
    ----------
    Ahle, Kapralov, Knudsen, Pagh, Velingker, Woodruff, Zandieh: Oblivious sketching of high-degree polynomial
    kernels, SODA 2020, section 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Polynomial
    >>> from rflib.maps import PolySketch
    >>> PolySketch(Polynomial(degree=8), 64, random_state=0).fit_transform(load_iris().data).shape
    (150, 64)
    """

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        degree, D = self.kernel_.as_polynomial().degree, self.n_components
        m, nodes = hadamard_order(D), degree - 1
        self._draw_sketches(X.shape[1], m if nodes else D, rng)
        self.node_signs_ = (2 * rng.integers(0, 2, (nodes, 2, m)) - 1).astype(np.int8)
        self.node_places_ = rng.permuted(np.broadcast_to(np.arange(m), (nodes, 2, m)), axis=2)
        self.signature_ = np.ones(D)

    def _columns(self, X: Rows) -> Array:
        D, m = self.n_components_, hadamard_order(self.n_components_)
        leaves = self._sketches(X, m if len(self.node_signs_) else D)
        signs = beside(self.node_signs_, X)

        def fill(block: Rows, out: Array) -> None:
            level = [leaf(block) for leaf in leaves]
            node = 0
            while len(level) > 1:
                root = len(level) == 2
                above = []
                for u, w in zip(level[::2], level[1::2], strict=False):
                    first, second = self.node_places_[node][:, : D if root else m]
                    product = take_columns(walsh_hadamard(u * signs[node, 0, :]), first)
                    product *= take_columns(walsh_hadamard(w * signs[node, 1, :]), second)
                    product *= float(m / np.sqrt(len(first)))
                    above.append(product)
                    node += 1
                level = above + level[len(level) // 2 * 2 :]
            out[:, :] = level[0]

        return filled(X, D, fill, _BLOCK_ELEMENTS // (m * len(leaves)))
