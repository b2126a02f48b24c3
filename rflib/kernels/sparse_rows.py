"""Functions that treat dense and sparse rows alike, and sparse rows with a shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.extmath import row_norms

from rflib.kernels.namespaces import Array, beside, namespace, widest

# Rows = NDArray | csr_array, but sparse arrays have no stubs.
Rows = Any

# A squared norm below this multiple of the terms that it is the sum of is a rounding error.
_ROUNDING = 16 * np.finfo(np.float64).eps


def canonical(X: Rows) -> Rows:
    """Return sparse rows as sorted CSR without duplicates or stored zeros, and dense rows unchanged.

    The arrays of X are not changed.
    """
    if not issparse(X):
        return X
    rows = csr_array(X)
    if not (rows.has_canonical_format and rows.data.all()):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def dense(X: Rows) -> NDArray[Any]:
    """Return rows, or any other array, as a numpy array."""
    return X.toarray() if issparse(X) else np.asarray(X)


def times_columns(X: Rows, factors: NDArray) -> Rows:
    """Return rows (n, d) whose columns are multiplied by factors (d,)."""
    if issparse(X):
        return X.multiply(factors).tocsr()
    return X * (factors if namespace(X) is np else beside(factors, X))


def largest_size(X: Rows) -> float:
    """Return the largest absolute value, without a copy of dense rows."""
    values = X.data if issparse(X) else X
    xp = namespace(X)
    if xp is np:
        return max(float(values.max(initial=0)), -float(values.min(initial=0)))
    return max(float(xp.max(values)), -float(xp.min(values)))


def mean_row(X: Rows) -> NDArray[np.float64]:
    """Return the mean of the rows (n, d) in double precision, shape (d,).

    Sparse rows have the same mean as dense ones, to the bit.
    """
    if not issparse(X):
        return np.asarray(X.mean(axis=0, dtype=np.float64))
    return np.asarray(X.astype(np.float64).sum(axis=0)) / X.shape[0]


def squared_norms(X: Rows) -> Array:
    """Return the squared Euclidean norms of rows (n, d), shape (n,).

    They are in double precision, where the device of the rows has it.
    """
    xp = namespace(X)
    if xp is not np:
        return xp.sum(widest(X) ** 2, axis=1)
    if not issparse(X):
        return np.einsum("ij,ij->i", X, X, dtype=np.float64)
    norms: NDArray[np.float64] = row_norms(X.astype(np.float64, copy=False), squared=True)
    return norms


def lexicographic_order(X: Rows) -> NDArray[np.intp]:
    """Return the indices that sort rows (n, d) by their first column, then by the second, and so on.

    The sort is stable.
    """
    if not issparse(X):
        return _dense_order(X)
    starts, stops = X.indptr[:-1].astype(np.intp), X.indptr[1:].astype(np.intp)
    codes, end = _entry_codes(X)
    # Rows that are equal so far form a group. A row's rank is the first place of its group; each entry splits
    # groups.
    rank, ties = np.zeros(X.shape[0], dtype=np.intp), np.arange(X.shape[0])
    for k in range(int((stops - starts).max(initial=0)) + 1):
        left = starts[ties] + k < stops[ties]
        code = np.full(len(ties), end)
        code[left] = codes[starts[ties[left]] + k]
        order = np.lexsort((code, rank[ties]))
        ties, code, left = ties[order], code[order], left[order]
        new_group = np.diff(rank[ties], prepend=-1) != 0
        new_pair = new_group | (np.diff(code, prepend=-1) != 0)
        places = np.arange(len(ties))
        first_of_pair = np.maximum.accumulate(np.where(new_pair, places, 0))
        rank[ties] += first_of_pair - np.maximum.accumulate(np.where(new_group, places, 0))
        ties = ties[left & ~(new_pair & np.append(new_pair[1:], True))]
        if not len(ties):
            break
    return np.argsort(rank, kind="stable")


def _dense_order(X: NDArray) -> NDArray[np.intp]:
    order = np.argsort(X[:, 0], kind="stable")
    # The places of rows that equal a neighbour in the columns so far, and the group of equal rows of each.
    places, group, values = np.arange(len(X)), np.zeros(len(X), dtype=np.intp), X[order, 0]
    for column in range(1, X.shape[1]):
        new = np.append(True, (group[1:] != group[:-1]) | (values[1:] != values[:-1]))
        tied = ~(new & np.append(new[1:], True))
        places, group = places[tied], np.cumsum(new)[tied]
        if not len(places):
            break
        values = X[order[places], column]
        within = np.lexsort((values, group))
        order[places], values = order[places[within]], values[within]
    return order


def _entry_codes(X: Rows) -> tuple[NDArray[np.intp], int]:
    """Return codes of the stored entries, and the code of the end of a row.

    They sort the rows: where two rows first differ, the row with the smaller code comes first. A negative entry
    comes before the end of a row, and a positive one after it.
    """
    places = np.where(X.data < 0, X.indices, -X.indices.astype(np.intp))
    order = np.lexsort((X.data, places, X.data > 0))
    places, values = places[order], X.data[order]
    new = np.append(False, (places[1:] != places[:-1]) | (values[1:] != values[:-1]))[: len(order)]
    ranks = np.cumsum(new)
    codes = np.empty(len(order), dtype=np.intp)
    codes[order] = ranks + (values > 0)
    negative = values < 0
    return codes, int(ranks[negative][-1]) + 1 if negative.any() else 0


@dataclass(frozen=True, eq=False)
class ShiftedRows:
    """Dense rows S_i + b_i r, stored as sparse rows S_i and multiples b_i of one vector r.

    Attributes
    ----------
    sparse : csr_array of shape (n, d)
        The S_i.
    multiples : ndarray of shape (n,)
        The b_i.
    vector : ndarray of shape (d,)
        The r.
    """

    sparse: Rows
    multiples: NDArray[np.floating]
    vector: NDArray[np.floating]

    @staticmethod
    def less(X: Rows, vector: NDArray) -> ShiftedRows:
        """Return the sparse rows X minus a vector, in double precision."""
        return ShiftedRows(X.astype(np.float64), np.full(X.shape[0], -1.0), vector.astype(np.float64))

    @property
    def dtype(self) -> np.dtype:
        """The type of the entries."""
        return np.dtype(self.sparse.dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        n, d = self.sparse.shape
        return n, d

    def __getitem__(self, rows: Any) -> ShiftedRows:
        return ShiftedRows(self.sparse[rows], self.multiples[rows], self.vector)

    def astype(self, dtype: np.dtype) -> ShiftedRows:
        """Return the rows in another precision."""
        return ShiftedRows(self.sparse.astype(dtype), self.multiples.astype(dtype), self.vector.astype(dtype))

    def product(self, matrix: NDArray, along: NDArray) -> NDArray[np.floating]:
        """Return the product with a matrix (d, m); ``along`` (m,) is the product of the vector with it."""
        product: NDArray[np.floating] = self.sparse @ matrix
        product += np.multiply.outer(self.multiples, along)
        return product

    def toarray(self) -> NDArray[np.floating]:
        """Return the rows as a dense array (n, d)."""
        rows: NDArray[np.floating] = self.sparse.toarray()
        rows += np.multiply.outer(self.multiples, self.vector)
        return rows

    def times(self, factors: NDArray) -> ShiftedRows:
        """Return the rows, each multiplied by its factor."""
        scaled = self.sparse.multiply(factors[:, None]).tocsr()
        return ShiftedRows(scaled, self.multiples * factors, self.vector)

    def squares(self) -> ShiftedRows:
        """Return rows that hold the squared entries."""
        crossed = self.sparse.multiply(self.vector).multiply(2 * self.multiples[:, None])
        return ShiftedRows((self.sparse.power(2) + crossed).tocsr(), self.multiples**2, self.vector**2)

    def gram(self) -> NDArray[np.float64]:
        """Return the inner products of all pairs of rows, shape (n, n)."""
        crossed = np.multiply.outer(self.sparse @ self.vector, self.multiples)
        squares = np.multiply.outer(self.multiples, self.multiples) * (self.vector @ self.vector)
        products: NDArray[np.float64] = (self.sparse @ self.sparse.T).toarray()
        return products + crossed + crossed.T + squares

    def products(self, other: NDArray) -> NDArray[np.float64]:
        """Return the inner product of each row i with the row other[i], shape (n,)."""
        along = self.sparse @ self.vector
        crossed = along * self.multiples[other] + along[other] * self.multiples
        squares = self.multiples * self.multiples[other] * (self.vector @ self.vector)
        return row_sums(self.sparse.multiply(self.sparse[other])) + crossed + squares

    def norms(self) -> NDArray[np.float64]:
        """Return the Euclidean norms, shape (n,)."""
        own, shifts = squared_norms(self.sparse), self.multiples**2 * (self.vector @ self.vector)
        squares = own + 2 * self.multiples * (self.sparse @ self.vector) + shifts
        return np.sqrt(np.where(squares > _ROUNDING * (own + shifts), squares, 0))


def row_sums(X: Rows) -> NDArray[np.float64]:
    """Return the sums of sparse rows, shape (n,)."""
    sums: NDArray[np.float64] = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
    return sums
