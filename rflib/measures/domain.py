"""Where a radial kernel is needed: the distances that occur in the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances

from rflib.kernels.base import Kernel

_SAMPLE_ROWS = 1000
_DIAMETER_SWEEPS = 8
_RESOLUTION = 1e-7  # Distances this small beside the entries are rounding errors.


@dataclass(frozen=True, eq=False)
class Domain:
    """Input dimension and the distances on which a kernel is to be represented.

    Attributes
    ----------
    dimension : int
        Number of input columns d.
    zmax : float
        Largest distance, in the units of the inputs.
    distances : ndarray of shape (n_distances,)
        Sample of pairwise distances, sorted.
    """

    dimension: int
    zmax: float
    distances: NDArray

    @classmethod
    def of(cls, kernel: Kernel, X: NDArray) -> Domain:
        """Read the domain off the rows X (n, d); it does not depend on their order.

        On the unit sphere zmax is 2. Elsewhere it is the diameter of the rows, found by sweeps to the
        farthest row in O(n d): a lower bound, rarely more than a percent short, and no less than the sampled
        distances.
        """
        n, d = X.shape
        sphere = kernel.unit_norm
        order = np.lexsort(X.T[::-1]) if n > _SAMPLE_ROWS else np.arange(n)
        rows = X[order[np.linspace(0, n - 1, min(n, _SAMPLE_ROWS)).astype(int)]].astype(np.float64)
        z = euclidean_distances(rows)[np.triu_indices(len(rows), 1)] if n > 1 else np.empty(0)
        resolution = _RESOLUTION * float(np.abs(rows).max(initial=0))
        z = np.sort(z[z > resolution])
        zmax = 2.0 if sphere else max(_diameter(X), float(z.max(initial=0)))
        if not z.size:
            zmax = zmax if zmax > resolution else 1.0
            z = np.linspace(0, zmax, 101)[1:]
        return cls(dimension=d, zmax=zmax, distances=np.minimum(z, zmax))


def _diameter(X: NDArray) -> float:
    anchor = X.mean(axis=0)
    largest = 0.0
    for _ in range(_DIAMETER_SWEEPS):
        square = ((X - anchor) ** 2).sum(axis=1)
        farthest = int(np.argmax(square))
        if (distance := float(np.sqrt(square[farthest]))) <= largest:
            break
        largest, anchor = distance, X[farthest]
    return largest
