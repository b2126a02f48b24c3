"""Landmarks of a Nystroem approximation: uniform rows, k-means centres, or randomly pivoted Cholesky.

A landmark rule is a function of the kernel, the training rows X (n_rows, d), the number n of landmarks and a
source of randomness. It returns the landmarks, shape (n, d). Or a user gives them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array
from threadpoolctl import threadpool_limits

from rflib.kernels.base import Kernel
from rflib.kernels.distances import euclidean_distances
from rflib.kernels.sparse_rows import Rows, canonical, dense, mean_row, times_columns
from rflib.maps.row_blocks import row_blocks
from rflib.validation import refuse

# Rows for each k-means centre, and iterations. With more of either, the error hardly falls.
_ROWS_A_CENTRE = 20
_ITERATIONS = 10
# Approximate number of entries in the factor of the pivoted Cholesky decomposition.
_FACTOR_ELEMENTS = 1 << 25
_EXHAUSTED = 1e-12
# KMeans loses the digits of squared distances below this multiple of eps times those from the mean.
_CONFUSED = 100
_ELEMENTS = 1 << 20


class _Matrix(Protocol):
    def __array__(self) -> NDArray: ...


LandmarkRule = Literal["uniform", "kmeans", "rpcholesky"]
Landmarks = LandmarkRule | _Matrix | Sequence[int] | Sequence[Sequence[float]]


def rows_used(landmarks: str, n: int) -> int:
    """Return the largest number of rows that a rule looks at, by its name, for n landmarks."""
    sizes = {"kmeans": _ROWS_A_CENTRE * n, "rpcholesky": max(2 * n, _FACTOR_ELEMENTS // n)}
    return sizes.get(landmarks, n)


def uniform(kernel: Kernel, X: Rows, n: int, rng: Generator) -> Rows:
    """Return n rows of X that are drawn uniformly without replacement."""
    return X[rng.permutation(X.shape[0])[:n]]


def kmeans(kernel: Kernel, X: Rows, n: int, rng: Generator) -> NDArray:
    """Return n centres of k-means clusters, found by scikit-learn's KMeans from 20 n uniformly drawn rows.

    For a kernel that needs rows of unit norm, the centres are divided by their norms. KMeans runs on one thread,
    because sums in another order would give other centres. It cannot tell apart near rows that are far from the
    mean; Lloyd's algorithm with exact distances then replaces it.

    References
    ----------
    Zhang, Tsang, Kwok: Improved Nystroem low-rank approximation and error analysis, ICML 2008.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    # Distances are those of the kernel, also if each column has a width.
    _, factors = kernel.by_column(X.shape[1])
    drawn = uniform(kernel, X, rows_used("kmeans", n), rng)
    factors = np.ones(X.shape[1]) if factors is None else factors
    rows, start = times_columns(drawn, factors).astype(X.dtype), dense(drawn[:n])
    with warnings.catch_warnings(), threadpool_limits(1, user_api="openmp"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than centres
        found = KMeans(n, init=dense(rows[:n]), n_init=1, max_iter=_ITERATIONS).fit(rows)
    centres: NDArray = found.cluster_centers_ / factors
    if _are_confused(rows, found.cluster_centers_, found.labels_):
        centres = _lloyd(drawn.astype(np.float64), start.astype(np.float64), factors)
    centres = centres.astype(X.dtype)  # as the rows, with which they are compared
    if not kernel.unit_norm:
        return centres
    norms = np.linalg.norm(centres.astype(np.float64), axis=1, keepdims=True)
    return np.where(norms > np.sqrt(np.finfo(X.dtype).eps), centres / np.maximum(norms, 1e-300), start)


def _are_confused(rows: Rows, centres: NDArray, labels: NDArray) -> bool:
    """Return whether squares of many distances to the centres are rounding errors of those to the mean."""
    mean, limit, count = mean_row(rows), _CONFUSED * np.finfo(rows.dtype).eps, 0
    for part in row_blocks(rows.shape[0], max(1, _ELEMENTS // rows.shape[1])):
        block = dense(rows[part]).astype(np.float64)
        squares, spread = (((block - other) ** 2).sum(axis=1) for other in (centres[labels[part]], mean))
        count += int(np.count_nonzero((squares > 0) & (squares < limit * spread)))
    return count > rows.shape[0] / 100


def _lloyd(rows: Rows, centres: NDArray, factors: NDArray) -> NDArray[np.float64]:
    """Return the centres of k-means clusters; one without rows moves to a row that is far from its own."""
    n, blocks = len(centres), row_blocks(rows.shape[0], max(1, _ELEMENTS // len(centres)))
    for _ in range(_ITERATIONS):
        distances = [euclidean_distances(rows[part], centres, factors) for part in blocks]
        labels = np.concatenate([part.argmin(axis=1) for part in distances])
        counts = np.bincount(labels, minlength=n)
        members = csr_array((1 / counts[labels], (labels, np.arange(len(labels)))), shape=(n, len(labels)))
        centres = dense(members @ rows)
        empty = np.flatnonzero(counts == 0)
        farthest = np.argsort(-np.concatenate([part.min(axis=1) for part in distances]), kind="stable")
        centres[empty] = dense(rows[farthest[: len(empty)]])
    return centres


def rpcholesky(kernel: Kernel, X: Rows, n: int, rng: Generator) -> Rows:
    """Return the n pivot rows of a randomly pivoted Cholesky decomposition of the kernel matrix.

    Each pivot is drawn with a probability proportional to the diagonal of the residual. Pivots are proposed in
    blocks. A proposal is accepted with a probability that is the ratio of its residual after the earlier pivots of
    the block to that before them; this gives the same distribution. Pivots of a delta-Gaussian are those of the
    sum of its positive and negative parts, which also span their difference; for other indefinite kernels,
    absolute values of the diagonal are used. Once the residual is zero to rounding, the other landmarks are drawn
    uniformly. At most max(2 n, 2^25 / n) rows are used.

    References
    ----------
    - Chen, Epperly, Tropp, Webber: Randomly pivoted Cholesky, 2022 (arXiv 2207.06503).
    - Epperly, Tropp, Webber: Embrace rejection, 2024 (arXiv 2410.03969), for the blocks.
    """
    rows = uniform(kernel, X, rows_used("rpcholesky", n), rng).astype(np.float64)
    chosen, *_ = pivoted_cholesky(kernel.absolute(), rows, n, rng)
    rest = np.setdiff1d(np.arange(rows.shape[0]), chosen, assume_unique=True)[: n - len(chosen)]
    return rows[np.concatenate([chosen, rest]).astype(int)]


def pivoted_cholesky(
    kernel: Kernel, rows: Rows, n: int, rng: Generator, block: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the indices of n pivots as in `rpcholesky`, or fewer if the residual is zero before, with F and s.

    The kernel matrix is about F diag(s) F^T with F (n_rows, n) and signs s, which are +1 for a definite kernel.
    ``block`` pivots are proposed at a time, by default a tenth of n.
    """
    n_rows, block = rows.shape[0], block or max(1, n // 10)
    parts = np.array_split(np.arange(n_rows), 1 + n_rows // 64)
    residual = np.concatenate([np.diag(kernel(rows[part])) for part in parts])
    total = np.abs(residual).sum()
    factor, signs, chosen = np.empty((n_rows, n)), np.empty(n), np.empty(0, dtype=np.int64)
    while len(chosen) < n:
        size = np.abs(residual)
        size[chosen] = 0
        if not size.sum() > _EXHAUSTED * total:
            break
        proposed = rng.choice(n_rows, size=block, p=size / size.sum())
        used = len(chosen)
        F, signed = factor[:, :used], signs[:used]
        among = kernel(rows[proposed]) - (F[proposed] * signed) @ F[proposed].T
        kept = _accepted(among, rng.random(block))[: n - used]
        new = proposed[kept]
        columns = kernel(rows, rows[new]) - F @ (F[new] * signed).T
        values, vectors = np.linalg.eigh(among[np.ix_(kept, kept)])
        held = np.abs(values) > _EXHAUSTED * np.abs(values).max()
        scale = np.where(held, 1 / np.sqrt(np.where(held, np.abs(values), 1)), 0)
        stop = used + len(new)
        factor[:, used:stop], signs[used:stop] = columns @ vectors * scale, np.where(values < 0, -1.0, 1.0)
        residual = residual - factor[:, used:stop] ** 2 @ signs[used:stop]
        chosen = np.concatenate([chosen, new])
    return chosen, factor[:, : len(chosen)], signs[: len(chosen)]


def _accepted(among: NDArray, uniforms: NDArray) -> NDArray[np.int64]:
    """Return the accepted proposals, by the ratio of their residuals after and before the earlier ones."""
    left, before = among.copy(), np.abs(np.diag(among))
    kept = []
    for i, u in enumerate(uniforms):
        if abs(left[i, i]) > max(u, _EXHAUSTED) * before[i]:
            kept.append(i)
            left -= np.multiply.outer(left[:, i], left[i] / left[i, i])
    return np.array(kept)


def own_landmarks(owner: object, given: Any, X: Rows) -> NDArray[np.int64] | Rows:
    """Return a user's landmarks: numbers of rows of X (n_rows, d), or rows (n, d), dense or sparse as X is."""
    name = type(owner).__name__
    rows = given if issparse(given) else np.asarray(given)
    if rows.ndim == 1 and rows.size and rows.dtype.kind in "iu":
        strange = np.flatnonzero((rows < 0) | (rows >= X.shape[0]))
        if len(strange):
            raise ValueError(
                f"{name}: landmarks[{strange[0]}] is {rows[strange[0]]}, but X has the rows 0 to {X.shape[0] - 1}."
            )
        return rows.astype(np.int64)
    if rows.ndim != 2 or not rows.shape[0]:
        expected = "the name of a rule, rows (n, n_features), or integers, the numbers of rows"
        refuse(owner, "landmarks", expected)
    rows = check_array(rows, accept_sparse="csr", dtype=np.float64, input_name="landmarks")
    if rows.shape[1] != X.shape[1]:
        raise ValueError(
            f"{name}: landmarks have {rows.shape[1]} columns, but X has {X.shape[1]}. Give rows like those of X, "
            "or integers, the numbers of rows of X."
        )
    return canonical(csr_array(rows)) if issparse(X) else dense(rows).copy()


Rule = Callable[[Kernel, Rows, int, Generator], Rows]
LANDMARKS: dict[LandmarkRule, Rule] = {"uniform": uniform, "kmeans": kmeans, "rpcholesky": rpcholesky}
