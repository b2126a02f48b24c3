"""The base of maps that draw frequencies for the Gaussian kernel by a rule of their own."""

from __future__ import annotations

from abc import abstractmethod
from operator import attrgetter

from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import Kernel
from rflib.kernels.sparse_rows import Rows
from rflib.maps.block_features import BlockFeatures
from rflib.maps.waves import Waves


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
