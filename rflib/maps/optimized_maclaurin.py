"""OptimizedMaclaurin: a series in the inner product, with exact low degrees and sketched higher ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations_with_replacement, pairwise
from math import factorial

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from rflib.kernels.base import DotProductKernel, Kernel
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.namespaces import (
    Array,
    beside,
    complex_as_pairs,
    held_beside,
    in_type_of,
    multiply_into,
    namespace,
    ones,
    pairs_as_complex,
    products_of_columns,
    zeros,
)
from rflib.kernels.polynomial import Polynomial
from rflib.kernels.sparse_rows import Rows, ShiftedRows, mean_row
from rflib.maps.base import RandomFeatureMap, Seed
from rflib.maps.degree_columns import choose_columns
from rflib.maps.inner_product_series import InnerProductSeries
from rflib.maps.product_sketch import Law, draw_turns, hadamard_order, vectors
from rflib.maps.row_blocks import over_row_blocks
from rflib.validation import check_choice, check_flag, check_integer

# A function from unit vectors to the columns of a degree.
Maker = Callable[[Array | ShiftedRows], Array]

PROJECTIONS = ("srht", "rademacher")
_BLOCK_ELEMENTS = 1 << 19
# Least and largest number of rows whose pairs predict the error, and the number of their entries in between.
_SAMPLE_ROWS = 400, 4000
_SAMPLE_ELEMENTS = 1 << 19


class OptimizedMaclaurin(RandomFeatureMap):
    """Approximate a Gaussian kernel or one of the inner product by its series, with exact low degrees.

    The kernel is a series sum_n e_n A_n(x) A_n(y) <u(x), u(y)>^n with unit vectors u
    (`rflib.maps.inner_product_series`). Low degrees are exact: the columns of degree n are its binom(d + n - 1, n)
    monomials. A higher degree n is sketched. It has D_n draws of products of n random projections,
    prod_k <w_k, u(x)>, which are unbiased for <u(x), u(y)>^n and have a known variance V_n(x, y)
    (`rflib.maps.product_sketch`). The highest exact degree, the numbers D_n and the degrees that are left out are
    chosen by the least mean square error over pairs of training rows,
    sum_n E[A_n(x)^2 A_n(y)^2 V_n(x, y)] / D_n + E[(sum of the terms that are left out)^2].

    The papers below expand the kernel about the origin, and only the constant is exact. Here all degrees may be
    exact, Gaussian and polynomial kernels are expanded about the mean of the training rows, and independent groups
    of draws (whole Hadamard blocks, and the rest) have weights that are inverse to their variances.

    Parameters
    ----------
    kernel : Gaussian, DotProductKernel or None, default=None
        Kernel to approximate; None means Polynomial(degree=2, coef0=1).
    n_components : int, default=100
        Number of columns D. The last columns are zero if the exact degrees are all that the kernel has, or if the
        noise of another sketched degree would exceed the degree itself.
    complex_to_real : bool, default=True
        If True, projections have entries 1, i, -1 and -i, and each draw has two columns, its real and its
        imaginary part. If False, the entries are 1 and -1, and each draw has one column.
    projection : {"srht", "rademacher"}, default="srht"
        "srht" projections are orthogonal in blocks, which are Hadamard matrices with random signs; "rademacher"
        projections are independent.
    exact_degrees : "auto" or int, default="auto"
        Highest exact degree, at least 0; "auto" means the best one.
    centre : bool, default=True
        Whether Gaussian and polynomial kernels are expanded about the mean of the training rows instead of the
        origin.
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the random draws. An integer gives the same features on every machine.

    Attributes
    ----------
    columns_ : ndarray of shape (n_degrees,)
        Number of columns of each degree, from 0 on. It is zero for a degree that is left out, which biases the
        estimate.
    exact_degree_ : int
        Highest exact degree.
    predicted_error_ : float
        Predicted root mean square error of one kernel value, as for `FourierFeatures`.
    centre_ : ndarray of shape (n_features_in_,)
        The point about which the kernel is expanded.
    turns_ : ndarray of shape (n_projections, n_features_in_), int8
        Entries of the projections, as numbers of quarter turns of the unit circle. The draws of a sketched degree
        n come together: first the first projections of all of them, then the second ones, up to the n-th.
    weights_ : ndarray of shape (n_draws,)
        Weights of the draws, which sum to one for each sketched degree.
    is_complex_ : bool
        Whether a draw has two columns.

    References
    ----------
    - Wacker, Kanagawa, Filippone: Improved random features for dot product kernels, 2022 (arXiv 2201.08712).
    - Wacker, Ohana, Filippone: Complex-to-real sketches for tensor products with applications to the polynomial
      kernel, 2022 (arXiv 2202.02031).
    """

    _kernels = (Gaussian | DotProductKernel, "neither Gaussian nor a function of the inner product")
    _takes_sparse = True

    def __init__(
        self,
        kernel: Gaussian | DotProductKernel | None = None,
        n_components: int = 100,
        *,
        complex_to_real: bool = True,
        projection: str = "srht",
        exact_degrees: str | int = "auto",
        centre: bool = True,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernel, n_components, random_state=random_state)
        self.complex_to_real = complex_to_real
        self.projection = projection
        self.exact_degrees = exact_degrees
        self.centre = centre

    def _default_kernel(self) -> Kernel:
        return Polynomial(degree=2, coef0=1.0)

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_flag(self, "complex_to_real")
        check_flag(self, "centre")
        check_choice(self, "projection", PROJECTIONS)
        if self.exact_degrees != "auto":
            check_integer(self, "exact_degrees", at_least=0)
        n, d = X.shape
        self.centre_ = mean_row(X) if self.centre else np.zeros(d)
        series = InnerProductSeries(kernel, self.centre_)
        rows = rng.permutation(n)[: max(_SAMPLE_ELEMENTS // d, _SAMPLE_ROWS[0])][: _SAMPLE_ROWS[1]]
        law = Law(hadamard_order(d) if self.projection == "srht" else 1, self.complex_to_real)
        exact = None if isinstance(self.exact_degrees, str) else self.exact_degrees
        chosen = choose_columns(series, X[rows].astype(np.float64), n, self.n_components, law, exact)
        self.columns_, self.exact_degree_, self.is_complex_ = chosen.columns, chosen.exact, law.quarter
        self.predicted_error_ = chosen.predicted_error
        self.weights_ = np.concatenate(chosen.weights)
        self.turns_ = np.concatenate([np.empty((0, d), dtype=np.int8), *self._drawn(law, d, rng)])
        self.signature_ = np.ones(self.n_components)
        used = int(self.columns_.sum())
        self.signature_[:used] = np.repeat(series.signs[: len(self.columns_)], self.columns_)

    def _drawn(self, law: Law, d: int, rng: Generator) -> Iterator[NDArray[np.int8]]:
        """Yield the projections of each sketched degree."""
        for degree in self._sketched():
            columns = int(self.columns_[degree])
            draws, quarter = law.draws(columns), law.quarter
            drawn = draw_turns(degree, d, draws, law.block, quarter=quarter, rng=rng)
            odd = draw_turns(degree, d, columns - draws * (1 + quarter), 1, quarter=False, rng=rng)
            yield np.concatenate([drawn, odd], axis=1).reshape(-1, d)

    def _sketched(self) -> list[int]:
        degrees = np.flatnonzero(self.columns_)
        return [int(n) for n in degrees[degrees > self.exact_degree_]]

    @property
    def _fades(self) -> bool:
        return True

    def _columns(self, X: Rows) -> Array:
        features = zeros((X.shape[0], self.n_components_), X)
        series = InnerProductSeries(self.kernel_, self.centre_, len(self.columns_))
        ends = np.cumsum(self.columns_)
        places = [slice(end - count, end) for end, count in zip(ends, self.columns_, strict=True)]
        exact = np.flatnonzero(self.columns_[: self.exact_degree_ + 1]).tolist()
        makers: list[tuple[int, Maker]] = [(n, partial(_monomials, n)) for n in exact]
        first = series.factors(X[:1]).units if issparse(X) else None
        makers += self._products(X, first.vector if isinstance(first, ShiftedRows) else None)

        def fill(rows: slice) -> None:
            factors = series.factors(X[rows, :])
            units = factors.units
            units = units.astype(X.dtype) if isinstance(units, ShiftedRows) else in_type_of(units, X)
            xp = namespace(factors.signs)
            for degree, make in makers:
                amplitudes = factors.signs[degree, :] * xp.exp(factors.log_amplitudes[degree, :])
                multiply_into(features[rows, places[degree]], make(units), in_type_of(amplitudes, X)[:, None])

        over_row_blocks(fill, X, max(1, _BLOCK_ELEMENTS // max(1, self.n_components_)))
        return features

    def _products(self, X: Rows, shift: NDArray | None) -> Iterator[tuple[int, Maker]]:
        """Yield the sketched degrees, each with a function from unit vectors to its columns.

        For sparse rows, whose unit vectors are `ShiftedRows`, ``shift`` is the vector of these.
        """
        turns = self.turns_ if namespace(X) is np else held_beside(self.turns_, X)
        used = first = 0
        for degree in self._sketched():
            columns = int(self.columns_[degree])
            draws = (columns + 1) // 2 if self.is_complex_ else columns
            factors = []
            for start in range(used, used + degree * draws, draws):
                matrix = _vectors(turns[start : start + draws, :], X, quarter=self.is_complex_)
                factors.append(_projection(matrix, shift))
            weights = np.sqrt(self.weights_[first : first + draws])
            if self.is_complex_:
                weights = np.repeat(weights, 2)[:columns]
            yield degree, partial(_product, factors, beside(weights, X), complex_to_real=self.is_complex_)
            used, first = used + degree * draws, first + draws


def _vectors(turns: Array, X: Rows, *, quarter: bool) -> Array:
    """Return what `vectors` does, for rows X and turns that are beside them."""
    if isinstance(turns, np.ndarray):
        return vectors(turns, X.dtype, quarter=quarter)
    if not quarter:
        return 1 - turns.T
    xp, turns = namespace(turns), turns.T
    odd = turns % 2
    parts = xp.stack([(1 - turns) * (1 - odd), (2 - turns) * odd], axis=2)
    return xp.reshape(parts, (turns.shape[0], -1))


def _projection(matrix: Array, shift: NDArray | None) -> Callable[[Array | ShiftedRows], Array]:
    """Return the function that multiplies by a matrix (d, m); sparse rows share the product with their shift."""
    along = np.zeros(0) if shift is None else shift.astype(matrix.dtype) @ matrix

    def project(units: Array | ShiftedRows) -> Array:
        return units.product(matrix, along) if isinstance(units, ShiftedRows) else units @ matrix

    return project


def _monomials(degree: int, units: Array | ShiftedRows) -> Array:
    """Return all monomials of a degree, shape (n, columns), times the root of their coefficients in <u, v>^n."""
    n, d = units.shape
    if not degree:
        return np.ones((n, 1), dtype=units.dtype) if isinstance(units, ShiftedRows) else ones((n, 1), units)
    if isinstance(units, ShiftedRows):
        units = units.toarray()
    if degree == 1:
        return units
    which = np.array(list(combinations_with_replacement(range(d), degree)))
    return products_of_columns(units, which.T) * beside(np.sqrt(_multiplicities(which)), units)


def _multiplicities(which: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the number of orders of each row of sorted indices: n! over the factorials of the lengths of runs."""
    degree = which.shape[1]
    orders, run = np.full(len(which), float(factorial(degree))), np.ones(len(which))
    for before, after in pairwise(which.T):
        run = np.where(before == after, run + 1, 1)
        orders /= run
    return orders


def _product(
    factors: list[Callable[[Array | ShiftedRows], Array]],
    scale: Array,
    units: Array | ShiftedRows,
    *,
    complex_to_real: bool,
) -> Array:
    """Return the columns (n, len(scale)) of draws, from the real products with their projections."""

    def drawn(factor: Callable[[Array | ShiftedRows], Array]) -> Array:
        return pairs_as_complex(factor(units)) if complex_to_real else factor(units)

    values = drawn(factors[0])
    for factor in factors[1:]:
        values *= drawn(factor)
    columns = (complex_as_pairs(values) if complex_to_real else values)[:, : scale.shape[0]]
    columns *= scale
    return columns
