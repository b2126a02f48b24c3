"""Random columns for what other columns lack of a kernel: its diagonal, and pairs of near rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array, held_beside, in_type_of, namespace
from rflib.kernels.sparse_rows import Rows
from rflib.maps.orf import ORF
from rflib.maps.unlike_rows import squares

# Columns whose squared norm is a smaller share of k(x, x) are rounding errors.
_LEAST_SHARE = 1e-12


def projection(waves: ORF, X: Rows, columns: NDArray) -> NDArray[np.float64]:
    """Return the coefficients (n_columns, n_waves) of the projection of random features on columns at rows X."""
    found: NDArray[np.float64] = np.linalg.lstsq(columns, waves.transform(X), rcond=None)[0]
    return found


def fill_tail(waves: ORF, coefficients: NDArray, X: Rows, columns: Array, out: Array) -> None:
    """Write random features, less their projection on the columns (n, n_columns) of rows X, into an array.

    If the columns are eigenfunctions, the products of what is left have the mean k(x, y) less what the columns
    represent of it. Each row is scaled to the length with which the diagonal k(x, x) is exact.
    """
    rest = waves._columns(X) - columns @ held_beside(coefficients, X)
    whole, xp = waves.kernel_.diagonal(X), namespace(rest)
    lack, sizes = whole - in_type_of(squares(columns), rest), in_type_of(squares(rest), rest)
    lack = xp.where(lack > 0, lack, 0 * lack)
    out[:, :] = rest * (lack / xp.where(sizes > _LEAST_SHARE * whole, sizes, whole))[:, None] ** 0.5
