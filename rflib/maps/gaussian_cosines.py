"""The columns of maps that draw frequencies for the Gaussian kernel by a rule of their own."""

from __future__ import annotations

from abc import abstractmethod
from operator import attrgetter

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.extmath import row_norms

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, namespace
from rflib.kernels.sparse_rows import Rows, largest_size
from rflib.maps.base import RandomFeatureMap
from rflib.maps.cosine_features import cosine_features
from rflib.maps.cosine_gradients import cosine_gradients


class GaussianCosines(RandomFeatureMap):
    """Base class of maps with the columns sqrt(|w_f|) cos(<v_f, x>) and then sqrt(|w_f|) sin(<v_f, x>).

    The sign of both columns is that of w_f. If the number of columns is odd, the last frequency has a single
    column sqrt(2 |w_f|) cos(<v_f, x> + b) with a random phase b. A zero frequency, which stands for a constant,
    has the phase pi/4, with which its columns are right in both cases.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_frequencies, n_features_in_)
        The frequencies v_f, in inverse units of the inputs.
    weights_ : ndarray of shape (n_frequencies,)
        The weights w_f, which sum to one.
    phases_ : ndarray of shape (n_frequencies,)
        The phases in radians, zero for a frequency with two columns.
    """

    _takes_sparse = True
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
        self._keep(vectors, weights, kernel.single_width, rng)

    def _keep(self, vectors: NDArray, weights: NDArray, width: float, rng: Generator) -> None:
        """Set the state from the frequencies (n, d) for sigma = 1 and their weights (n,)."""
        n, pairs = len(vectors), self.n_components // 2
        self.frequencies_, self.weights_ = vectors / width, weights
        phases = np.concatenate([np.zeros(pairs), rng.uniform(0, 2 * np.pi, n - pairs)])
        self.phases_ = np.where(vectors.any(axis=1), phases, np.pi / 4)
        sign = np.where(weights < 0, -1.0, 1.0)
        self.signature_ = np.concatenate([sign[:pairs], sign[:pairs], sign[pairs:]])

    def _waves(self) -> tuple[NDArray, NDArray, NDArray, int]:
        """Return frequencies, phases, amplitudes and the number of pairs, as `cosine_features` takes them."""
        amplitudes = np.sqrt(np.abs(self.weights_))
        pairs = self.n_components_ - len(amplitudes)
        amplitudes[pairs:] *= np.sqrt(2)
        return self.frequencies_, self.phases_, amplitudes, pairs

    def _columns(self, X: Rows) -> Array:
        return cosine_features(X, *self._waves())

    def _gradients(self, X: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return cosine_gradients(X, weights, *self._waves())

    def _surely_finite(self, X: Rows) -> bool:
        largest = max(1.0, largest_size(X)) * X.shape[1] ** 0.5 * row_norms(self.frequencies_).max()
        return bool(largest < namespace(X).finfo(X.dtype).max)
