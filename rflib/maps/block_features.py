"""The base classes of maps with frequencies, whose fitted state is a tuple of blocks of columns."""

from __future__ import annotations

from abc import abstractmethod
from operator import attrgetter
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import Kernel
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

    The attribute ``blocks_`` is the tuple of the blocks, and ``frequencies_``, ``weights_`` and ``phases_`` are
    those of all waves, as for `FourierFeatures`.
    """

    _takes_sparse = True
    blocks_: tuple[Block, ...]

    def _keep(self, *blocks: Block) -> None:
        """Set the state."""
        self.blocks_ = blocks
        self.signature_ = np.concatenate([block.signs for block in blocks])

    @property
    def _waves(self) -> Waves:
        """The block of waves, which may be none."""
        none = Waves(np.zeros((0, self.n_features_in_)), np.zeros(0), 0)
        return next((block for block in self.blocks_ if isinstance(block, Waves)), none)

    @property
    def frequencies_(self) -> NDArray[np.float64]:
        """The frequencies of all waves, shape (n_frequencies, n_features_in_)."""
        return np.asarray(self._waves.frequencies)

    @property
    def weights_(self) -> NDArray[np.float64]:
        """The signed weights of all waves, shape (n_frequencies,)."""
        return np.asarray(self._waves.weights)

    @property
    def phases_(self) -> NDArray[np.float64]:
        """The phases of all waves in radians, shape (n_frequencies,)."""
        return np.asarray(self._waves.phases)

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
        return np.asarray(self._waves.gradients(X, weights))

    @property
    def _fades(self) -> bool:
        return any(block.fades for block in self.blocks_)

    def _surely_finite(self, X: Rows) -> bool:
        entry = max(1.0, largest_size(X))
        with np.errstate(over="ignore"):
            return all(block.largest(entry) < namespace(X).finfo(X.dtype).max for block in self.blocks_)


class GaussianCosines(BlockFeatures):
    """Base class of maps with the columns sqrt(|w_f|) cos(<v_f, x>) and then sqrt(|w_f|) sin(<v_f, x>).

    The sign of both columns is that of w_f, and the weights sum to one. If the number of columns is odd, the last
    frequency has a single column sqrt(2 |w_f|) cos(<v_f, x> + b) with a random phase b. A zero frequency, which
    stands for a constant, has the phase pi/4, with which its columns are right in both cases.
    """

    _needs_rows = False
    _kernels = (attrgetter("is_gaussian"), "not Gaussian")

    @property
    def columns_per_s(self) -> int:
        """Number of columns for one feature as the papers count them: a cosine and a sine."""
        return 2

    @abstractmethod
    def _sample(self, n: int, d: int, rng: Generator) -> tuple[NDArray, NDArray]:
        """Return n frequencies (n, d) for sigma = 1, and their weights (n,)."""

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        vectors, weights = self._sample((self.n_components + 1) // 2, X.shape[1], rng)
        self._keep_frequencies(vectors, weights, kernel.single_width, rng)

    def _keep_frequencies(self, vectors: NDArray, weights: NDArray, width: float, rng: Generator) -> None:
        """Set the state from the frequencies (n, d) for sigma = 1 and their weights (n,)."""
        self._keep(Waves.of(vectors / width, weights, self.n_components // 2, rng))
