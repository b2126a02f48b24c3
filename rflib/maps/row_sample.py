"""A uniform sample of rows that come in blocks, of blocks on several machines, and of rows on a device."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rflib.kernels.namespaces import Array, is_foreign, take_rows, to_numpy


class RowSample:
    """A uniform sample of rows without replacement, in their order; all rows while these are few enough.

    Each row gets a random number, and the ``size`` rows with the smallest ones are kept, however the rows are cut
    into blocks. Samples of consecutive parts of the rows can be made anywhere and joined. ``start`` is the number
    of rows before the first one that is added, and ``n_rows`` that of all rows, if it is known: then hardly more
    rows are held than the sample of all parts has.
    """

    def __init__(self, size: int, seed: int, start: int = 0, n_rows: int | None = None):
        generator = np.random.PCG64(seed).advance(start)
        self._size, self._rng = size, np.random.Generator(generator)
        self._keys = np.zeros(0)
        # ten standard deviations of the number of keys below it lie between the bound and too few rows
        self._bound = (size + 10 * np.sqrt(size) + 50) / n_rows if n_rows else np.inf
        self._X: list[Any] = []
        self._y: list[NDArray] = []

    def add(self, X: Any, y: NDArray) -> None:
        """Draw from more rows X (n, n_features), dense, CSR or a DataFrame, with targets y."""
        keys = self._rng.random(len(y))
        chosen = keys < self._bound
        self._keys = np.append(self._keys, keys[chosen])
        self._X.append(X[chosen])
        self._y.append(y[chosen])
        if len(self._keys) > 2 * self._size:
            self._cut()

    def with_more(self, X: Any) -> Self:
        """Return the sample of these rows and of more rows, without targets; this one stays as it is."""
        more = copy(self)
        more._rng, more._X, more._y = deepcopy(self._rng), [*self._X], [*self._y]
        more.add(X, np.empty((X.shape[0], 0)))
        return more

    @staticmethod
    def joined(samples: list[RowSample]) -> RowSample:
        """Return the sample of the rows of all samples, which follow each other."""
        joined = copy(samples[0])
        joined._keys = np.concatenate([sample._keys for sample in samples])
        joined._X = [X for sample in samples for X in sample._X]
        joined._y = [y for sample in samples for y in sample._y]
        joined._cut()
        return joined

    def rows(self) -> tuple[Any, NDArray]:
        """Return the rows drawn and their targets."""
        self._cut()
        return self._X[0], self._y[0]

    def _cut(self) -> None:
        kept = np.sort(np.argsort(self._keys, kind="stable")[: self._size])
        self._X, self._y = [_stacked(self._X, kept)], [np.concatenate(self._y)[kept]]
        self._keys = self._keys[kept]
        if len(kept) == self._size:
            self._bound = float(self._keys.max())


class DeviceRows:
    """Checked rows X (n_samples, n_features) with targets y (n_samples, ...), if there are any."""

    def __init__(self, X: Array, y: Any = None):
        self._X, self._y = X, y

    def head(self) -> tuple[int, tuple[NDArray, None, None]]:
        """Return 0 and, in place of the first rows, a row of unit norm with as many columns: none is copied."""
        return 0, (np.eye(1, self._X.shape[1]), None, None)

    def sample(self, size: int, seed: int) -> tuple[NDArray, NDArray | None]:
        """Return a uniform sample of rows and their targets on the host, as `RowSample` draws it."""
        n, drawn = self._X.shape[0], RowSample(size, seed)
        drawn.add(np.arange(n), np.empty((n, 0)))
        places, _ = drawn.rows()
        rows = to_numpy(take_rows(self._X, places))
        if self._y is None:
            return rows, None
        return rows, to_numpy(take_rows(self._y if is_foreign(self._y) else np.asarray(self._y), places))


def _stacked(parts: list[Any], kept: NDArray) -> Any:
    """Return some rows of consecutive parts."""
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts).iloc[kept]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts).tocsr()[kept]
    return np.concatenate(parts)[kept]
