"""CRAFT: many columns of another map, projected at random to fewer columns."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from sklearn.base import clone

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, beside, zeros
from rflib.kernels.sparse_rows import Rows
from rflib.maps.base import RandomFeatureMap
from rflib.maps.row_blocks import row_blocks
from rflib.maps.seeds import Seed
from rflib.maps.tensor_sketch import TensorSketch
from rflib.validation import check_integer, refuse

_PANEL = 1024
_BLOCK_ELEMENTS = 1 << 25


class CRAFT(RandomFeatureMap):
    """Approximate a kernel by many columns of another map, projected at random to fewer columns.

    The estimate is K_hat = Z_up R R^T Z_up^T, where Z_up (n, D_up) are the features of the base map, and R (D_up,
    D) has independent random signs divided by sqrt(D). Its expectation is that of the base map's estimate. The
    projection adds variance, but the base map has less variance with many columns. (The study pennington2015 uses
    these random signs because the paper does not say which projection it uses.)

    Parameters
    ----------
    base : RandomFeatureMap or None, default=None
        Unfitted map with a positive definite estimate, such as RandomMaclaurin, TensorSketch or SRF. Its
        n_components and random_state are replaced. None means TensorSketch().
    n_components, random_state
        As for `RandomFeatureMap`; the seed is that of the base map and of the projection.
    n_components_up : int, default=2**14
        Number of columns D_up of the base map, at least D. The default is that of pennington2015.

    Attributes
    ----------
    base_ : RandomFeatureMap
        The fitted base map.
    projection_seed_ : ndarray of shape (4,), uint64
        Seed of the random signs, which `transform` draws anew each time instead of storing them.

    See Also
    --------
    TensorSketch : The default map to project.

    References
    ----------
    Hamid, Xiao, Gittens, DeCoste: Compact random feature maps, ICML 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rflib.kernels import Polynomial
    >>> from rflib.maps import CRAFT, TensorSketch
    >>> X = load_digits().data[:300] / 16
    >>> CRAFT(TensorSketch(Polynomial(degree=3)), 64, n_components_up=1024, random_state=0).fit_transform(X).shape
    (300, 64)
    """

    _has_kernel = False

    def __init__(
        self,
        base: RandomFeatureMap | None = None,
        n_components: int = 100,
        *,
        n_components_up: int = 2**14,
        random_state: Seed = None,
    ) -> None:
        self.base = base
        self.n_components = n_components
        self.n_components_up = n_components_up
        self.random_state = random_state

    def unsupported(self, kernel: Kernel) -> str | None:  # type: ignore[override]
        """Return why the base map cannot take the kernel, or None if it can take it."""
        return self._base().unsupported(kernel)

    @property
    def kernel(self) -> Kernel:  # type: ignore[override]
        """The kernel of the base map."""
        return self._base()._resolved_kernel()

    def _base(self) -> RandomFeatureMap:
        if self.base is None:
            return TensorSketch()
        if not isinstance(self.base, RandomFeatureMap):
            refuse(self, "base", "None or a random feature map, such as TensorSketch()")
        return self.base

    def _unfitted(self, name: str) -> RandomFeatureMap:
        return clone(self._base()).set_params(n_components=self.n_components_up)

    def _isotropic(self, X: Rows) -> tuple[Kernel, Rows]:
        return self.kernel_, X  # the base map has its own

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_integer(self, "n_components_up", at_least=self.n_components)
        self.base_ = self._unfitted("base_").set_params(random_state=int(rng.integers(2**63))).fit(X, y)
        if (self.base_.signature_ < 0).any():
            raise ValueError(
                f"CRAFT: base must be a map with a positive definite estimate, but {self._base()!r} has columns "
                "with the sign -1. Use RandomMaclaurin, TensorSketch or SRF."
            )
        self.projection_seed_ = rng.integers(0, 2**63, 4, dtype=np.uint64)
        self.signature_ = np.ones(self.n_components)

    @property
    def _accepted_sparse(self) -> str | bool:
        return self._base()._accepted_sparse

    @property
    def _needs_rows(self) -> bool:
        return self._base()._needs_rows

    @property
    def _fades(self) -> bool:
        return self.base_._fades

    def _reach(self, X: Rows) -> Array | None:
        return self.base_._reach(self.base_._isotropic(X)[1])

    def _columns(self, X: Rows) -> Array:
        n_columns, n_up = self.n_components_, self.base_.n_components_
        features, width = zeros((X.shape[0], n_columns), X), (n_columns + 7) // 8
        for rows in row_blocks(X.shape[0], max(1, _BLOCK_ELEMENTS // n_up)):
            up = self.base_._columns(self.base_._isotropic(X[rows, :])[1])
            up /= float(np.sqrt(n_columns))
            rng = np.random.default_rng(self.projection_seed_.tolist())
            for some in row_blocks(n_up, _PANEL):
                panel = up[:, some]
                octets = np.frombuffer(rng.bytes(panel.shape[1] * width), dtype=np.uint8).reshape(-1, width)
                bits = np.unpackbits(octets, axis=1, count=n_columns)  # 1 stands for the sign -1
                features[rows, :] += panel @ (1 - 2 * beside(bits, X))
        return features
