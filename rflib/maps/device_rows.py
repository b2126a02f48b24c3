"""Rows on a device, which are arrays of another library than numpy: what `fit` brings of them to the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array, is_foreign, take_rows, to_numpy
from rflib.maps.row_sample import RowSample


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
