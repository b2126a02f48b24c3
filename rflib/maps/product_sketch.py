"""Products of random projections, whose inner products estimate <x, y>^n: how they are drawn, and their variance.

A draw of degree n has n vectors w_k with entries +1 and -1, and its value is prod_k <w_k, x>. A complex-to-real
draw (Wacker et al. 2022, arXiv 2202.02031) has the entries 1, i, -1 and -i, and its two columns are the real and
the imaginary part. The vectors of different draws are independent, or orthogonal in blocks of b draws: for each k,
those of a block are the rows of a Hadamard matrix of order b in random order, with random signs of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array, beside, complex_as_pairs, held_beside, namespace, pairs_as_complex
from rflib.kernels.sparse_rows import Rows

# Least variance as a share of that of one draw. Blocks may have none, as in degree 1, but weights must stay
# finite.
_LEAST_SHARE = 1e-9

# A function from rows, or from their unit vectors, to the columns of a degree.
Maker = Callable[[Rows], Array]


def hadamard_order(d: int) -> int:
    """Return the least power of two that is at least d."""
    return 1 << max(d - 1, 0).bit_length()


def draw_turns(
    degree: int, d: int, draws: int, block: int, *, quarter: bool, rng: Generator
) -> NDArray[np.int8]:
    """Return the entries of the vectors of draws as numbers of quarter turns, shape (degree, draws, d)."""
    kinds, step = (4, 1) if quarter else (2, 2)
    if block == 1:
        return step * rng.integers(0, kinds, (degree, draws, d), dtype=np.int8)
    blocks = -(-draws // block)
    columns = step * rng.integers(0, kinds, (degree, blocks, 1, d), dtype=np.int8)
    rows = rng.permuted(np.broadcast_to(np.arange(block), (degree, blocks, block)), axis=2)
    # Of the last block only the rows that are kept are computed: with many input columns these may be few.
    rows = rows.reshape(degree, blocks * block)[:, :draws].astype(np.uint32)
    turns = columns[:, np.arange(draws) // block, 0]
    for vectors_of, numbers in zip(turns, rows, strict=True):
        negative = np.bitwise_count(numbers[:, None] & np.arange(d, dtype=np.uint32)) & 1
        vectors_of += 2 * negative.astype(np.int8)
    turns %= 4
    return turns


def vectors(turns: Array, X: Rows, *, quarter: bool) -> Array:
    """Return vectors (draws, d) beside X as a matrix (d, draws), or (d, 2 draws) of real and imaginary parts."""
    xp, turns = namespace(turns), turns.T
    found, odd = 1 - turns, turns % 2
    if quarter:
        parts = xp.stack([found * (1 - odd), (2 - turns) * odd], axis=2)
        found = xp.reshape(parts, (turns.shape[0], -1))
    # scipy's product would copy a matrix that is not contiguous for each block
    return beside(np.ascontiguousarray(found), X) if xp is np else found


def moments(
    products: NDArray, overlaps: NDArray, n_degrees: int, block: int, *, quarter: bool
) -> Iterator[tuple[NDArray, NDArray, NDArray]]:
    """Yield, by degree, three moments of draws for pairs of unit vectors u, v (Wacker et al. 2022, both papers).

    They are the variance of a draw, the covariance of two draws of a block, and the variance of a draw of real
    signs. Let t = <u, v> and s = sum_i u_i^2 v_i^2, and let b be the order of a block.

    - For real signs, the variance of a draw is (1 + 2 (t^2 - s))^n - t^(2n), and the covariance of two draws of a
      block is (t^2 - (1 + t^2 - 2 s) / (b - 1))^n - t^(2n).
    - For complex-to-real draws, the variance is (b1^n + b2^n) / 2 - t^(2n) with b1 = 1 + t^2 - s and
      b2 = 2 t^2 - s, and the covariance is (c1^n + c2^n) / 2 - t^(2n) with c1 = t^2 - (1 - s) / (b - 1) and
      c2 = t^2 - (t^2 - s) / (b - 1).

    Given are t and s of each pair (n_pairs,), the number of degrees from 0 on, and b and ``quarter`` as in `Law`.
    """
    t2, s, others = products**2, overlaps, max(block - 1, 1)
    real = 1 + 2 * (t2 - s)
    if quarter:
        bases = t2, real, 1 + t2 - s, 2 * t2 - s, t2 - (1 - s) / others, t2 - (t2 - s) / others
    else:
        bases = t2, real, real, real, *[t2 - (1 + t2 - 2 * s) / others] * 2
    powers = [np.ones_like(t2) for _ in bases]
    for _ in range(n_degrees):
        square, of_real, *both = powers
        variance, covariance = ((a + b) / 2 - square for a, b in (both[:2], both[2:]))
        yield variance, covariance if block > 1 else np.zeros_like(covariance), of_real - square
        for power, base in zip(powers, bases, strict=True):
            power *= base


@dataclass(frozen=True)
class Law:
    """How the columns of a degree are drawn. Means of the three `moments` of a degree decide their variance.

    The order ``block`` of the Hadamard matrices is at least the dimension, or 1 for independent vectors. With
    ``quarter``, draws are complex to real; if the number of columns is odd then, the last one has real signs.
    """

    block: int
    quarter: bool

    def draws(self, columns: int) -> int:
        """Return the number of draws that a number of columns has, without the odd last column."""
        return columns // 2 if self.quarter else columns

    def variance(self, moments: NDArray, draws: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the variance of the estimate for numbers of draws of any shape, without an odd last column."""
        variance, covariance, _ = moments
        if self.block == 1:
            return np.asarray(variance / draws)
        whole, rest = np.divmod(draws, self.block)
        least = _LEAST_SHARE * variance or 1.0
        of_block = max((variance + (self.block - 1) * covariance) / self.block, least)
        of_rest = np.maximum((variance + (rest - 1) * covariance) / np.maximum(rest, 1), least)
        return np.asarray(1 / (whole / of_block + (rest > 0) / of_rest))

    def estimate(self, moments: NDArray, columns: int) -> tuple[NDArray[np.float64], float]:
        """Return the weight of each draw, the odd last column at the end, and the variance of the estimate.

        Independent groups of draws have weights that are inverse to the variances of their means. The kinds of
        groups are whole blocks, the rest of one, and an odd last column of real signs.
        """
        draws, (variance, covariance, of_real) = self.draws(columns), moments
        size = self.block if self.block > 1 else max(draws, 1)
        whole, rest = divmod(draws, size)
        groups = [
            (n, m, (variance + (m - 1) * covariance) / m) for n, m in ((whole, size), (1, rest)) if n * m
        ]
        if odd := columns - draws * (1 + self.quarter):
            groups.append((odd, 1, of_real))
        counts, sizes, variances = map(np.array, zip(*groups, strict=True))
        precisions = 1 / np.maximum(variances, _LEAST_SHARE * float(variance) or 1.0)
        shares = precisions / (counts @ precisions)
        return np.repeat(shares / sizes, counts * sizes), float(counts * shares**2 @ variances)


@dataclass(frozen=True, eq=False)
class Sketch:
    """The draws of a degree n, whose columns estimate a multiple of <x, y>^n.

    The ``turns`` (degree, draws, d) are the entries of the n vectors of each draw, as numbers of quarter turns
    of the unit circle. The ``weights`` (draws,) are those of the draws in the estimate. A draw has two
    columns, its real and its imaginary part, if ``quarter`` says so, but for an odd last column of real signs.
    """

    turns: NDArray[np.int8]
    weights: NDArray[np.float64]
    n_columns: int
    quarter: bool

    @staticmethod
    def drawn(degree: int, n_columns: int, weights: NDArray, d: int, law: Law, rng: Generator) -> Sketch:
        """Return new draws for vectors in d dimensions."""
        draws = law.draws(n_columns)
        turns = draw_turns(degree, d, draws, law.block, quarter=law.quarter, rng=rng)
        odd = draw_turns(degree, d, n_columns - draws * (1 + law.quarter), 1, quarter=False, rng=rng)
        return Sketch(np.concatenate([turns, odd], axis=1), weights, n_columns, law.quarter)

    @property
    def degree(self) -> int:
        """The degree n."""
        return len(self.turns)

    def on(self, X: Rows, shift: NDArray | None = None) -> Maker:
        """Return the function from rows like X to the columns (n_rows, n_columns).

        Where rows are `ShiftedRows`, ``shift`` is the vector of these.
        """
        turns = self.turns if namespace(X) is np else held_beside(self.turns, X)
        matrices = [vectors(turns[k, :, :], X, quarter=self.quarter) for k in range(self.degree)]
        # the products with the shift, which all rows share
        along = [None if shift is None else shift.astype(matrix.dtype) @ matrix for matrix in matrices]
        scales = np.sqrt(self.weights)
        scale = beside(np.repeat(scales, 2)[: self.n_columns] if self.quarter else scales, X)

        def product(k: int, rows: Rows) -> Array:
            found = rows @ matrices[k] if shift is None else rows.product(matrices[k], along[k])
            return pairs_as_complex(found) if self.quarter else found

        def columns(rows: Rows) -> Array:
            if not matrices:
                return scale  # the same for all rows
            values = product(0, rows)
            for k in range(1, self.degree):
                values *= product(k, rows)
            found = (complex_as_pairs(values) if self.quarter else values)[:, : self.n_columns]
            found *= scale
            return found

        return columns
