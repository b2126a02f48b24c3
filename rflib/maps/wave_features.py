"""The base classes of maps whose columns are waves."""

from __future__ import annotations

from abc import abstractmethod
from operator import attrgetter

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, empty, namespace
from rflib.kernels.sparse_rows import Rows, largest_size
from rflib.maps.base import RandomFeatureMap
from rflib.maps.waves import Waves


class WaveFeatures(RandomFeatureMap):
    """Base class of maps whose columns are the waves ``waves_``, with the attributes of `FourierFeatures`."""

    _takes_sparse = True
    waves_: Waves

    def _keep(self, waves: Waves) -> None:
        """Set the state."""
        self.waves_, self.signature_ = waves, waves.signs

    @property
    def frequencies_(self) -> NDArray[np.float64]:
        """The frequencies of all waves, shape (n_frequencies, n_features_in_)."""
        return self.waves_.frequencies

    @property
    def weights_(self) -> NDArray[np.float64]:
        """The signed weights of all waves, shape (n_frequencies,)."""
        return self.waves_.weights

    @property
    def phases_(self) -> NDArray[np.float64]:
        """The phases of all waves in radians, shape (n_frequencies,)."""
        return self.waves_.phases

    def _columns(self, X: Rows) -> Array:
        features = empty((X.shape[0], self.n_components_), X)
        self.waves_.fill(X, features)
        return features

    def _gradients(self, X: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.waves_.gradients(X, weights)

    def _surely_finite(self, X: Rows) -> bool:
        with np.errstate(over="ignore"):
            largest = self.waves_.largest_phase(max(1.0, largest_size(X)))
        return bool(largest < namespace(X).finfo(X.dtype).max)


class GaussianCosines(WaveFeatures):
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
