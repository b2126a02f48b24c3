"""Coefficients with which products of functions represent a kernel on rows, by least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

# Directions of the functions with a smaller mean square on the rows than this share of the largest are left out.
_LEAST_SHARE = 1e-13
# Ridges of the least-squares fit, in units of the square of the largest mean square. The small ones are for
# kernels that are no product, which may be exact combinations; else they do harm at rows unlike the held-out ones.
_RIDGES, _SMALL_RIDGES = (1e-8, 1e-6, 1e-4, 1e-2), (1e-14, 1e-12, 1e-10)
# Parts of the tail that are tried for a kernel that is no product, because its functions have much in common. A
# function of which less than this share is new to the head is left out.
_PARTS, _LEAST_REST = (0.0, 0.1, 0.3, 1.0), 1e-3
# A mean square whose square is zero in double precision.
_TINY = 1e-150
# Negative eigenvalues below this share of the largest one are rounding errors of a positive definite kernel.
_DEFINITE = 1e-9
_DEFINITE_ROWS = 400


@dataclass(frozen=True, eq=False)
class FittedColumns:
    """Columns that represent a kernel: combinations of functions, and single functions of a tail.

    Attributes
    ----------
    combine : ndarray of shape (n_functions, n_combined)
        The coefficients of the combined columns.
    combined_signs : ndarray of shape (n_combined,)
        Their signs.
    tail : ndarray of shape (n_tail,)
        The numbers of the functions of the tail that are columns of their own, the largest first.
    tail_scales : ndarray of shape (n_tail,)
        What they are multiplied by.
    tail_signs : ndarray of shape (n_tail,)
        Their signs.
    """

    combine: NDArray[np.float64]
    combined_signs: NDArray[np.float64]
    tail: NDArray[np.int64]
    tail_scales: NDArray[np.float64]
    tail_signs: NDArray[np.float64]

    def columns(self, head: NDArray, tail: NDArray) -> tuple[NDArray, NDArray]:
        """Return the columns and their signs at rows, given the functions of the head and of the tail there."""
        found = np.hstack([head @ self.combine, tail[:, self.tail] * self.tail_scales])
        return found, np.append(self.combined_signs, self.tail_signs)


def fit_columns(
    head: NDArray,
    tail: NDArray,
    kernel: NDArray,
    held: tuple[NDArray, NDArray, NDArray],
    n_columns: int,
    *,
    product: bool,
) -> FittedColumns:
    """Return the columns that represent a kernel best on some rows.

    With the functions P (n, H) of the head, the matrix W minimises |P W P^T - K|^2 / n^2 + r |W - W_0|^2. In the
    directions in which P^T P is diagonal, the solution has a closed form. The ridge r is the one with the least
    error on held-out rows. W_0 is the identity if the functions are those of a kernel that is a product (then W is
    the identity if the coordinates are independent), and zero otherwise. The functions of the tail keep their
    scale if the kernel is a product; otherwise each is scaled by least squares. The columns are the principal
    directions of P W P^T and the functions of the tail, the largest ones first.

    Parameters
    ----------
    head, tail : ndarrays of shape (n, H) and (n, T)
        The functions at the rows.
    kernel : ndarray of shape (n, n)
        The kernel matrix.
    held : tuple of ndarrays
        The same three arrays of held-out rows.
    n_columns : int
        Largest number of columns.
    product : bool
        Whether the functions are those of a kernel that is a product.
    """
    n = len(head)
    squares, turn = eigh(head.T @ head / n)
    kept = squares > _LEAST_SHARE * squares[-1]
    if not kept.any():  # the functions are zero at all rows
        none = np.arange(0)
        return FittedColumns(np.zeros((head.shape[1], 0)), np.ones(0), none, np.ones(0), np.ones(0))
    own, turn = squares[kept], turn[:, kept]
    turned = head @ turn
    weights, sizes = _tail(turned, tail, kernel, own, product)
    moments = turned.T @ (kernel @ turned) / n**2
    crossed = turned.T @ tail / n
    tail_moments = (crossed * weights) @ crossed.T
    held_head, held_tail, held_kernel = held
    held_turned, in_tail = held_head @ turn, (held_tail * weights) @ held_tail.T
    best, least, factor = np.eye(len(own)), np.inf, 0.0
    for part in _PARTS if tail.size and not product else (1.0,):
        for ridge in _RIDGES if product else (*_SMALL_RIDGES, *_RIDGES):
            r = ridge * own[-1] ** 2
            W = (moments - part * tail_moments + r * np.eye(len(own)) * product) / (np.outer(own, own) + r)
            difference = held_turned @ W @ held_turned.T + part * in_tail - held_kernel
            error = float(np.linalg.norm(difference))
            if error < least:
                best, least, factor = W, error, part
    weights, sizes = factor * weights, factor * sizes
    roots = np.sqrt(own)
    values, vectors = eigh(roots[:, None] * best * roots)
    some = kernel[:_DEFINITE_ROWS, :_DEFINITE_ROWS]
    ends = eigh(some, eigvals_only=True)[[0, -1]]
    if ends[0] >= -_DEFINITE * ends[1]:
        values = np.maximum(values, 0)
    every = np.concatenate([np.abs(values), sizes])
    order = np.argsort(-every, kind="stable")[:n_columns]
    order = order[every[order] > 0]
    chosen, left = order[order < len(own)], order[order >= len(own)] - len(own)
    combine = turn @ (best @ (roots[:, None] * vectors[:, chosen]) / np.sqrt(np.abs(values[chosen])))
    # an eigenvector has no sign of its own: the largest coefficient is positive
    combine *= np.where(combine.max(axis=0, initial=0) < -combine.min(axis=0, initial=0), -1, 1)
    return FittedColumns(
        np.ascontiguousarray(combine),
        _signs(values[chosen]),
        left,
        np.sqrt(np.abs(weights[left])),
        _signs(weights[left]),
    )


def _tail(
    turned: NDArray, tail: NDArray, kernel: NDArray, own: NDArray, product: bool
) -> tuple[NDArray, NDArray]:
    """Return the weights of the functions of the tail in the kernel, and their sizes."""
    squares = np.mean(tail**2, axis=0)
    if product or not tail.size:
        return np.ones(tail.shape[1]), squares
    n = len(tail)
    # without what the head's directions have in common with them
    rest = tail - turned @ ((turned.T @ tail) / (n * own[:, None]))
    coefficients = np.einsum("ij,ij->j", rest, kernel @ rest) / n**2
    lengths = np.mean(rest**2, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = np.where(lengths > np.maximum(_LEAST_REST * squares, _TINY), coefficients / lengths**2, 0)
    return weights, np.abs(weights) * squares


def _signs(values: NDArray) -> NDArray[np.float64]:
    return np.where(values < 0, -1.0, 1.0)
