"""The base class of maps with frequencies, whose fitted state is a tuple of blocks of columns."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array, empty, namespace
from rflib.kernels.sparse_rows import Rows, largest_size
from rflib.maps.base import RandomFeatureMap
from rflib.maps.waves import Waves


class Block(Protocol):
    """A frozen dataclass of arrays that define some columns."""

    @property
    def fades(self) -> bool:
        """Whether the columns represent the kernel near the training rows only."""

    @property
    def signs(self) -> NDArray[np.float64]:
        """The signs of the columns, shape (n_columns,)."""

    def largest(self, entry: float) -> float:
        """Return a bound on what occurs in the computation, if no entry of a row is above ``entry`` >= 1."""

    def fill(self, X: Rows, out: Array) -> None:
        """Write the columns of the rows X (n, d) into ``out``, shape (n, n_columns)."""


class BlockFeatures(RandomFeatureMap):
    """Base class of maps whose columns are blocks, one beside another.

    Attributes
    ----------
    blocks_ : tuple of Block
        The blocks.
    frequencies_ : ndarray of shape (n_frequencies, n_features_in_)
        The frequencies v_f of all waves, in inverse units of the inputs.
    weights_ : ndarray of shape (n_frequencies,)
        Their signed weights, in units of the kernel.
    phases_ : ndarray of shape (n_frequencies,)
        Their phases in radians, zero for a frequency with a cosine and a sine.
    """

    _takes_sparse = True
    blocks_: tuple[Block, ...]

    def _keep(self, *blocks: Block) -> None:
        """Set the state."""
        self.blocks_ = blocks
        self.signature_ = np.concatenate([block.signs for block in blocks])

    @property
    def _waves(self) -> Waves:
        """The waves of the map, which may be none."""
        for block in self.blocks_:
            if isinstance(block, Waves):
                return block
        return Waves(np.zeros((0, self.n_features_in_)), np.zeros(0), 0)

    @property
    def frequencies_(self) -> NDArray[np.float64]:
        """The frequencies of all waves, shape (n_frequencies, n_features_in_)."""
        return self._waves.frequencies

    @property
    def weights_(self) -> NDArray[np.float64]:
        """The signed weights of all waves, shape (n_frequencies,)."""
        return self._waves.weights

    @property
    def phases_(self) -> NDArray[np.float64]:
        """The phases of all waves in radians, shape (n_frequencies,)."""
        return self._waves.phases

    def _columns(self, X: Rows) -> Array:
        features, start = empty((X.shape[0], self.n_components_), X), 0
        for block in self.blocks_:
            stop = start + len(block.signs)
            block.fill(X, features[:, start:stop])
            start = stop
        return features

    def _gradients(self, X: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._fades:
            return super()._gradients(X, weights)
        return self._waves.gradients(X, weights)

    @property
    def _fades(self) -> bool:
        return any(block.fades for block in self.blocks_)

    def _surely_finite(self, X: Rows) -> bool:
        entry = max(1.0, largest_size(X))
        with np.errstate(over="ignore"):
            return all(block.largest(entry) < namespace(X).finfo(X.dtype).max for block in self.blocks_)
