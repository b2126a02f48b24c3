"""GegenbauerFeatures: zonal harmonics about random directions, times radial functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import comb

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import issparse
from scipy.special import gammaln

from rflib.frequencies.directions import iid
from rflib.kernels.base import Kernel, RadialKernel, radial
from rflib.kernels.namespaces import Array, beside, held_beside, in_type_of, namespace
from rflib.kernels.sparse_rows import Rows, ShiftedRows, dense, mean_row
from rflib.maps.base import RandomFeatureMap
from rflib.maps.inner_product_series import InnerProductSeries
from rflib.maps.parameters import with_parameters
from rflib.maps.row_blocks import filled
from rflib.validation import check_integer, refuse

# The largest degree and number of radial functions that are tried, on so many rows with so many directions.
_DEGREE, _RADIAL, _ROWS, _DIRECTIONS = 15, 3, 250, 300
_NODES, _ROUNDING = 256, 1e-14
_BLOCK_ELEMENTS, _LOWEST = 1 << 17, 512


@with_parameters
class GegenbauerFeatures(RandomFeatureMap):
    """Approximate a kernel by Gegenbauer polynomials of inner products with random directions.

    A generalised zonal kernel is sum_l sum_i h_li(x) h_li(y) P_l(<u(x), u(y)>) with unit vectors u. P_l is the
    Gegenbauer polynomial of degree l in d dimensions with P_l(1) = 1, and N_l is the number of harmonics of degree
    l. For m uniform directions w, the columns m^(-1/2) sum_l sqrt(N_l) h_li(x) P_l(<u(x), w>), one for each w and
    i, estimate the kernel without bias, but for the l and i that are cut off.

    A kernel sum_n a_n(x) a_n(y) <u(x), u(y)>^n, such as a function of the inner product or a Gaussian kernel about
    the mean of the rows, has the h_li(x)^2 = a_n(x)^2 times the coefficient of P_l in t^n, where n = l + 2 i.
    A kernel of unit vectors needs one h_l, a constant. Unlike the authors', the last h_li that is left has the
    squares of all later ones, so that k(x, x) is right, and one of them is exact for rows of equal norm.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `RandomFeatureMap`; the kernel is Gaussian, a function of the inner product, or a positive definite
        function of the distance on rows of unit norm.
    degree : int or None, default=None
        Highest degree l. None means the one up to 15 with the least predicted error over pairs of training rows,
        together with n_radial.
    n_radial : int or None, default=None
        Number of radial functions of each degree; None means the best one up to 3.

    Attributes
    ----------
    directions_ : ndarray of shape (n_directions, n_features_in_)
        The directions w, unit vectors.
    degree_, n_radial_ : int
        The highest degree, and the number of radial functions.
    centre_ : ndarray of shape (n_features_in_,)
        The mean of the training rows for a Gaussian kernel, else zero.

    See Also
    --------
    MVORF : The map of this project for functions of the distance.
    MercerFeatures : Products along the axes of the rows.

    References
    ----------
    Han, Zandieh, Avron: Random Gegenbauer features for scalable kernel methods, ICML 2022 (arXiv 2202.03474).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import GegenbauerFeatures
    >>> GegenbauerFeatures(Gaussian("median"), 50, random_state=0).fit_transform(load_iris().data).shape
    (150, 50)
    """

    _takes_sparse = True
    _fades = True

    _kernels = (
        lambda kernel: kernel.is_gaussian or kernel.is_dot_product or _is_zonal(kernel),
        "neither Gaussian, nor a function of the inner product, nor a kernel of unit vectors",
    )

    degree: int | None = None
    n_radial: int | None = None

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_integer(self, "degree", at_least=0, or_none=True)
        check_integer(self, "n_radial", at_least=1, or_none=True)
        d = X.shape[1]
        self.centre_ = mean_row(X) if kernel.is_gaussian else np.zeros(d)
        degree = _DEGREE if self.degree is None else self.degree
        degree = degree if d > 1 else min(degree, 1)  # on a line there are two harmonics
        radial = range(1, 1 + _RADIAL) if self.n_radial is None else [self.n_radial]
        rows = X[np.sort(rng.permutation(X.shape[0])[:_ROWS])].astype(np.float64)
        errors = self._predicted_errors(
            kernel, rows, iid(_DIRECTIONS, d, rng), degree, [1] if _is_zonal(kernel) else radial
        )
        allowed = [choice for choice in errors if self.degree is None or choice[0] == degree]
        self.degree_, self.n_radial_ = min(allowed, key=errors.__getitem__)
        self.directions_ = iid(-(-self.n_components // self.n_radial_), d, rng)
        self.signature_ = np.ones(self.n_components)

    def _predicted_errors(
        self, kernel: Kernel, rows: Rows, vectors: NDArray, degree: int, radial: Iterable[int]
    ) -> dict[tuple[int, int], float]:
        """Return the squared errors of the kernel matrix of rows by highest degree and number of radial functions.

        A direction has features F (n_rows, n), and F F^T is a draw of the matrix B of the degrees. So the mean
        square of m directions is |B - K|^2 + (E |F F^T|^2 - |B|^2) / m.
        """
        d, K, errors = rows.shape[1], kernel(rows), {}
        polar = self._polar(kernel, d, degree)
        for n in radial:
            units, values = polar(rows, n)
            gram = units.gram() if isinstance(units, ShiftedRows) else dense(units @ units.T)
            features, B = np.zeros((n, len(K), len(vectors))), np.zeros_like(K)
            about_vectors = polynomials(d, degree, products(units, vectors))
            both = zip(about_vectors, polynomials(d, degree, gram), strict=True)
            for k, (about, between) in enumerate(both):
                features += values[k][:, :, None] * about
                B += values[k].T @ values[k] / harmonics(d, k) * between
                squares = (np.einsum("irm,jrm->mij", features, features) ** 2).sum() / len(vectors)
                errors[k, n] = float(((B - K) ** 2).sum() + (squares - (B**2).sum()) * n / self.n_components)
        return errors

    def _polar(self, kernel: Kernel, d: int, degree: int) -> Callable[[Rows, int], tuple[Rows, Array]]:
        """Return a function with the unit vectors of rows, and with sqrt(N_l) h_li at them.

        The h_li have the shape (degree + 1, n, n_rows) for a number n of radial functions.
        """
        if _is_zonal(kernel):
            squares = zonal_coefficients(radial(kernel), d, degree)
            if (squares < 0).any():
                refuse(self, "kernel", "positive definite on the sphere, unless the map is MVORF or GORF")
            constants = np.sqrt(np.maximum(squares, 0))[:, None, None]
            return lambda X, n: (X, beside(np.tile(constants, (1, n, X.shape[0])), X))
        series = InnerProductSeries(kernel, self.centre_)

        def polar(X: Rows, n: int) -> tuple[Rows, Array]:
            factors = series.factors(X)
            return factors.units, radial_functions(factors.log_amplitudes, d, degree, n)

        return polar

    def _columns(self, X: Rows) -> Array:
        n, degree = int(self.n_radial_), int(self.degree_)
        m, d = self.directions_.shape
        polar = self._polar(self.kernel_, d, degree)

        def fill(block: Rows, out: Array) -> None:
            units, radial = polar(block, n)
            cosines, radial = in_type_of(products(units, self.directions_), X), in_type_of(radial, X)
            for i in range(n):
                some = cosines[:, : len(range(i, self.n_components_, n))]
                scaled = radial[:, i, :] / max(1, some.shape[1]) ** 0.5
                values = enumerate(polynomials(d, degree, some))
                out[:, i::n] = sum(scaled[k, :][:, None] * value for k, value in values)

        return filled(X, self.n_components_, fill, _BLOCK_ELEMENTS // max(m, _LOWEST))


def _is_zonal(kernel: Kernel) -> bool:
    return kernel.is_radial and kernel.unit_norm


def products(units: Rows, vectors: NDArray) -> Array:
    """Return the inner products of rows (n, d), which may be shifted sparse ones, with vectors (m, d)."""
    if isinstance(units, ShiftedRows):
        return units.product(vectors.T, vectors @ units.vector)
    return units @ (vectors if issparse(units) else held_beside(vectors, units)).T


def harmonics(d: int, degree: int) -> float:
    """Return the number N_l of harmonics of a degree in d dimensions."""
    return float(comb(d + degree - 1, degree) - (comb(d + degree - 3, degree - 2) if degree > 1 else 0))


def polynomials(d: int, degree: int, t: Array) -> Iterator[Array]:
    """Yield P_0(t), ..., P_degree(t), the Gegenbauer polynomials of dimension d with P_l(1) = 1."""
    last = value = 0 * t + 1
    yield value
    for k in range(degree):
        last, value = value, ((2 * k + d - 2) * t * value - k * last) / (k + d - 2) if k else t
        yield value


def zonal_coefficients(kernel: RadialKernel, d: int, degree: int) -> NDArray[np.float64]:
    """Return N_l times the coefficients of P_l in a kernel of unit vectors, shape (degree + 1,).

    Those that are no more than the rounding errors of the quadrature, which grow with sqrt(N_l), are zero.
    """
    t, weights = _sphere_quadrature(d) if d > 1 else (np.array([-1.0, 1.0]), np.array([0.5, 0.5]))
    values = kernel.at_distance(np.sqrt(2 - 2 * t))
    means = np.array([P @ (weights * values) for P in polynomials(d, degree, t)])
    sizes = np.array([harmonics(d, k) for k in range(degree + 1)])
    means[np.abs(means) * np.sqrt(sizes) < _ROUNDING * np.abs(values).max()] = 0
    return np.asarray(means * sizes**2)


def _sphere_quadrature(d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Gauss nodes and weights for <u, v> of uniform unit vectors u (Golub and Welsch 1969), d >= 2."""
    n = np.arange(2.0, _NODES)
    squares = np.append(1 / d, n * (n + d - 3) / ((2 * n + d - 2) * (2 * n + d - 4)))
    nodes, vectors = eigh_tridiagonal(np.zeros(_NODES), np.sqrt(squares))
    return np.clip(nodes, -1, 1), vectors[0] ** 2


def radial_functions(log_amplitudes: Array, d: int, degree: int, n: int) -> Array:
    """Return sqrt(N_l) h_li, shape (degree + 1, n, n_rows), of a series with amplitudes a_n at rows.

    ``log_amplitudes`` (n_degrees, n_rows) has the logarithms of |a_n|. The last h_li has the squares of all later.
    """
    xp, found = namespace(log_amplitudes), []
    for k in range(degree + 1):
        powers = np.arange(k, log_amplitudes.shape[0], 2)
        rise = gammaln(powers + 1.0) - gammaln(powers - k + 1.0) - k * np.log(2)
        rest = gammaln((powers - k + 1) / 2) - gammaln(0.5) + gammaln(d / 2) - gammaln((powers + k + d) / 2)
        shares = rise + rest + 2 * np.log(harmonics(d, k))
        squares = xp.exp(2 * log_amplitudes[k::2, :] + beside(shares, log_amplitudes)[:, None])
        parts = [squares[i, :] for i in range(min(n - 1, len(powers)))] + [
            xp.sum(squares[n - 1 :, :], axis=0)
        ]
        parts += [0 * parts[-1]] * (n - len(parts))
        found.append(xp.sqrt(xp.stack(parts)))
    return xp.stack(found)
