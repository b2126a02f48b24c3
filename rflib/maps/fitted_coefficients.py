"""Combinations of functions that represent a kernel on rows, by least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from rflib.kernels.namespaces import Array, held_beside, multiply_into, take_columns

# Directions of the functions with a smaller mean square on the rows than this share of the largest are left out.
_LEAST_SHARE = 1e-13
# Numbers whose squares are above zero.
_LEAST = 1e-150
# Ridges of the least-squares fit, in units of the square of the largest mean square. The small ones are for
# kernels that are no product, which may be exact combinations; else they do harm at rows unlike the held-out ones.
_RIDGES, _SMALL_RIDGES = (1e-8, 1e-6, 1e-4, 1e-2), (1e-14, 1e-12, 1e-10)
# The largest factor of the tail, if the law is not exact.
_MOST = 8


@dataclass(frozen=True, eq=False)
class Combination:
    """Columns with ``signs``: combinations of functions, and then functions themselves.

    The functions with the numbers ``head`` (n_head,) have the coefficients ``combine`` (n_head, n_combined). Those
    with the numbers ``tail`` (n_tail,), the largest first, are multiplied by the ``scales`` (n_tail,).
    """

    head: NDArray[np.int64]
    combine: NDArray[np.float64]
    tail: NDArray[np.int64]
    scales: NDArray[np.float64]
    signs: NDArray[np.float64]

    def fill(self, functions: Array, out: Array) -> None:
        """Write the columns into an array (n, n_columns), given the functions (n, n_functions)."""
        n = self.combine.shape[1]
        out[:, :n] = take_columns(functions, self.head) @ held_beside(self.combine, functions)
        multiply_into(out[:, n:], take_columns(functions, self.tail), held_beside(self.scales, functions))

    def first(self, n: int) -> Combination:
        """Return the first n columns."""
        n_combined = min(n, self.combine.shape[1])
        tail, scales = self.tail[: n - n_combined], self.scales[: n - n_combined]
        return Combination(self.head, self.combine[:, :n_combined], tail, scales, self.signs[:n])

    def of_functions(self, weights: NDArray[np.float64], n_functions: int) -> NDArray[np.float64]:
        """Return weights (n_functions, m) of functions that stand for weights (n_columns, m) of the columns."""
        n, found = self.combine.shape[1], np.zeros((n_functions, weights.shape[1]))
        found[self.head] += self.combine @ weights[:n]
        found[self.tail] += self.scales[:, None] * weights[n : len(self.signs)]
        return found


def fit_columns(
    functions: NDArray,
    kernel: NDArray,
    held: tuple[NDArray, NDArray],
    numbers: tuple[NDArray[np.int64], NDArray[np.int64]],
    n_columns: int,
    *,
    law: NDArray,
    is_exact: bool,
    is_definite: bool,
) -> Combination:
    """Return the columns, at most n_columns, that represent a kernel best on some rows.

    With the functions P (n, H) of the head and Q (n, T) of the tail, the matrix W minimises |P W P^T + f Q V
    Q^T - K|^2 / n^2 + r |W - W_0|^2, where a law gives the diagonal matrices W_0 and V. Held-out rows choose the
    ridge r, and the factor f unless the law is exact. The columns are the principal directions of P W P^T and the
    functions of the tail, the largest ones first.

    Given are the functions (n, n_functions) and the kernel matrix at the rows and at held-out rows; the numbers of
    the functions of head (H,) and tail (T,), and their coefficients (H + T,) by the law; whether this is exact for
    independent coordinates; and whether all columns are to have the sign 1.
    """
    (head, tail), (held_head, held_tail) = ([each[:, i] for i in numbers] for each in (functions, held[0]))
    n, n_head = head.shape
    squares, turn = eigh(head.T @ head / n)
    kept = squares > max(_LEAST_SHARE * squares[-1], _LEAST)
    if not kept.any():  # the functions are nearly zero at all rows
        return Combination(numbers[0], np.zeros((n_head, 0)), np.arange(0), np.ones(0), np.ones(0))
    # the products with the kernel matrix have its precision: they are the larger part of the work
    most, dtype = squares[-1], kernel.dtype
    own, turn, of_head, of_tail = squares[kept] / most, turn[:, kept], law[:n_head] * most, law[n_head:]
    turned, held_turned = ((each @ (turn / most**0.5)).astype(dtype) for each in (head, held_head))
    prior = (turn.T * of_head) @ turn
    moments = (turned.T @ (kernel @ turned)).astype(np.float64) / n**2
    crossed = (turned.T @ tail.astype(dtype)).astype(np.float64) / n
    tail_moments, in_tail = (crossed * of_tail) @ crossed.T, (held_tail * of_tail) @ held_tail.T
    best, factor, least = prior, 1.0, np.inf
    for ridge in _RIDGES if is_exact else (*_SMALL_RIDGES, *_RIDGES):
        scale = 1 / (np.outer(own, own) + ridge)
        W = (moments + ridge * prior) * scale
        left = held[1] - held_turned @ W.astype(dtype) @ held_turned.T
        part = 1.0
        if tail.size:
            without = tail_moments * scale
            by_tail = in_tail - held_turned @ without.astype(dtype) @ held_turned.T
            size = float(np.vdot(by_tail, by_tail))
            if not is_exact and size > 0:
                part = min(max(float(np.vdot(by_tail, left)), 0), _MOST * size) / size
            left -= part * by_tail
            W -= part * without
        if (error := float(np.linalg.norm(left))) < least:
            best, factor, least = W, part, error
    roots = np.sqrt(own)
    values, vectors = eigh(roots[:, None] * best * roots)
    if is_definite:
        values, of_tail = np.maximum(values, 0), np.maximum(of_tail, 0)
    weights = factor * of_tail
    every = np.concatenate([np.abs(values), np.abs(weights) * np.mean(tail**2, axis=0)])
    order = np.argsort(-every, kind="stable")[:n_columns]
    order = order[every[order] > 0]
    chosen, left_over = order[order < len(own)], order[order >= len(own)] - len(own)
    combine = turn @ (best @ (roots[:, None] * vectors[:, chosen]) / np.sqrt(np.abs(values[chosen])))
    # an eigenvector has no sign of its own: the largest coefficient is positive
    combine *= np.where(combine.max(axis=0, initial=0) < -combine.min(axis=0, initial=0), -1, 1)
    signs = np.where(np.append(values[chosen], weights[left_over]) < 0, -1.0, 1.0)
    scales = np.sqrt(np.abs(weights[left_over]))
    return Combination(numbers[0], combine / most**0.5, numbers[1][left_over], scales, signs)
