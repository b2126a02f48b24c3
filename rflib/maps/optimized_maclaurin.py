"""OptimizedMaclaurin: a series in the inner product, with exact low degrees and sketched higher ones."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import factorial
from typing import Literal, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, beside, in_type_of, multiply_into, namespace, products_of_columns
from rflib.kernels.polynomial import Polynomial
from rflib.kernels.sparse_rows import Rows, ShiftedRows, mean_row
from rflib.maps.base import RandomFeatureMap
from rflib.maps.degree_columns import choose_columns
from rflib.maps.inner_product_series import InnerProductSeries
from rflib.maps.parameters import with_parameters
from rflib.maps.product_sketch import Law, Maker, Sketch, hadamard_order
from rflib.maps.row_blocks import filled
from rflib.validation import check_choice, check_flag, check_integer

Projection = Literal["srht", "rademacher"]
_BLOCK_ELEMENTS = 1 << 19
# Least and largest number of rows whose pairs predict the error, and the number of their entries in between.
_SAMPLE_ROWS = 400, 4000
_SAMPLE_ELEMENTS = 1 << 19


@with_parameters
class OptimizedMaclaurin(RandomFeatureMap):
    """Approximate a Gaussian kernel or one of the inner product by its series, with exact low degrees.

    The kernel is a series sum_n e_n A_n(x) A_n(y) <u(x), u(y)>^n with unit vectors u
    (`rflib.maps.inner_product_series`). Low degrees are exact: the columns of degree n are its binom(d + n - 1, n)
    monomials. A higher degree has D_n draws of products of n random projections, prod_k <w_k, u(x)>, which are
    unbiased for <u(x), u(y)>^n and have a known variance V_n(x, y) (`rflib.maps.product_sketch`). The highest
    exact degree, the D_n and the degrees that are left out have the least mean square error over training rows,
    sum_n E[A_n(x)^2 A_n(y)^2 V_n(x, y)] / D_n + E[(sum of the terms that are left out)^2].

    The papers below expand the kernel about the origin, and only the constant is exact. Here all degrees may be
    exact, Gaussian and polynomial kernels are expanded about the mean of the training rows, and independent groups
    of draws (whole Hadamard blocks, and the rest) have weights that are inverse to their variances.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `RandomFeatureMap`; the kernel is Gaussian or a function of the inner product. The last columns are
        zero if the exact degrees are all that the kernel has, or if the noise of another sketched degree would
        exceed the degree itself.
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

    Attributes
    ----------
    columns_ : ndarray of shape (n_degrees,)
        Number of columns of each degree, from 0 on. It is zero for a degree that is left out, which biases the
        estimate.
    exact_degree_ : int
        Highest exact degree.
    predicted_error_ : float
        Predicted relative Frobenius error of the kernel matrix of as many new rows as there are training rows.
    centre_ : ndarray of shape (n_features_in_,)
        The point about which the kernel is expanded.
    sketches_ : tuple of Sketch
        The draws of the sketched degrees (`rflib.maps.product_sketch`).

    See Also
    --------
    TensorSketch : For streams of sparse rows.
    RandomMaclaurin : Degrees that are drawn.
    sklearn.kernel_approximation.PolynomialCountSketch : `TensorSketch` in scikit-learn.

    References
    ----------
    - Wacker, Kanagawa, Filippone: Improved random features for dot product kernels, 2022 (arXiv 2201.08712).
    - Wacker, Ohana, Filippone: Complex-to-real sketches for tensor products with applications to the polynomial
      kernel, 2022 (arXiv 2202.02031).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import OptimizedMaclaurin
    >>> X = load_iris().data
    >>> features = OptimizedMaclaurin(Gaussian("median"), 64, random_state=0).fit(X)
    >>> print(abs(features.kernel_matrix(X) - features.kernel_(X)).mean().round(3))
    0.002
    """

    _kernels = (
        lambda kernel: kernel.is_gaussian or kernel.is_dot_product,
        "neither Gaussian nor a function of the inner product",
    )
    _takes_sparse = True
    _fades = True

    complex_to_real: bool = True
    projection: Projection = "srht"
    exact_degrees: Literal["auto"] | int = "auto"
    centre: bool = True

    def _default_kernel(self) -> Kernel:
        return Polynomial(degree=2, coef0=1.0)

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_flag(self, "complex_to_real")
        check_flag(self, "centre")
        check_choice(self, "projection", get_args(Projection))
        if self.exact_degrees != "auto":
            check_integer(self, "exact_degrees", at_least=0)
        n, d = X.shape
        self.centre_ = mean_row(X) if self.centre else np.zeros(d)
        series = InnerProductSeries(kernel, self.centre_)
        rows = rng.permutation(n)[: max(_SAMPLE_ELEMENTS // d, _SAMPLE_ROWS[0])][: _SAMPLE_ROWS[1]]
        law = Law(hadamard_order(d) if self.projection == "srht" else 1, self.complex_to_real)
        exact = None if isinstance(self.exact_degrees, str) else self.exact_degrees
        self.columns_, self.exact_degree_, weights, self.predicted_error_ = choose_columns(
            series, X[rows].astype(np.float64), n, self.n_components, law, exact
        )
        self.sketches_ = tuple(
            Sketch.drawn(n, int(self.columns_[n]), own, d, law, rng)
            for n, own in enumerate(weights)
            if own.size
        )
        self.signature_ = np.ones(self.n_components)
        used = int(self.columns_.sum())
        self.signature_[:used] = np.repeat(series.signs[: len(self.columns_)], self.columns_)

    def _columns(self, X: Rows) -> Array:
        series = InnerProductSeries(self.kernel_, self.centre_, len(self.columns_))
        ends, first = np.cumsum(self.columns_), series.factors(X[:1]).units if issparse(X) else None
        shift = first.vector if isinstance(first, ShiftedRows) else None
        exact = np.flatnonzero(self.columns_[: self.exact_degree_ + 1]).tolist()
        makers: dict[int, Maker] = {n: _monomials(n, X.shape[1]) for n in exact if n}
        makers |= {sketch.degree: sketch.on(X, shift) for sketch in self.sketches_}

        def fill(block: Rows, out: Array) -> None:
            factors = series.factors(block)
            units = factors.units
            units = units.astype(X.dtype) if isinstance(units, ShiftedRows) else in_type_of(units, X)
            xp = namespace(factors.signs)
            for degree in np.flatnonzero(self.columns_).tolist():
                place = slice(ends[degree] - self.columns_[degree], ends[degree])
                amplitudes = factors.signs[degree, :] * xp.exp(factors.log_amplitudes[degree, :])
                amplitudes = in_type_of(amplitudes, X)[:, None]
                if degree:
                    multiply_into(out[:, place], makers[degree](units), amplitudes)
                else:
                    out[:, place] = amplitudes
            out[:, ends[-1] :] = 0

        return filled(X, self.n_components_, fill, _BLOCK_ELEMENTS // self.n_components_)


def _monomials(degree: int, d: int) -> Maker:
    """Return the function from unit vectors to all monomials, times the root of their coefficients in <u, v>^n."""
    which = np.array(list(combinations_with_replacement(range(d), degree))).T
    runs = [(which[: i + 1] == which[i]).sum(axis=0) for i in range(degree)]
    roots = np.sqrt(factorial(degree) / np.prod(runs, axis=0, dtype=float))

    def monomials(units: Array | ShiftedRows) -> Array:
        rows = units.toarray() if isinstance(units, ShiftedRows) else units
        return products_of_columns(rows, which) * beside(roots, rows)

    return monomials
