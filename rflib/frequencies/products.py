"""Products of distinct coordinates in a random orthonormal basis: a sample of the spherical harmonics of a degree.

A product of n distinct coordinates is a harmonic polynomial. By Schur's lemma, the mean of p(x) p(y) over all
rotations is the same for all harmonics p of degree n up to their norms: it is the polynomial kernel of the degree
(`rflib.measures.control_variates`) divided by the number of its harmonics. The C(d, n) products in one basis are
orthogonal polynomials, so that a subset of them is a sample without replacement. As columns they are linearly
independent, unlike the squares <u, x>^2 - |x|^2/d over orthogonal directions u.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from numpy.polynomial.chebyshev import chebfit, chebpts1, chebval
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.frequencies.directions import DIRECTIONS
from rflib.measures.control_variates import rising_product

_SIMULATED = 400_000
_LEAST_DRAWS, _MOST_DRAWS = 256, 4000


@dataclass(frozen=True, eq=False)
class Products:
    """Products of coordinates along random directions.

    Attributes
    ----------
    frame : ndarray of shape (d, n_coordinates)
        Directions of the coordinates, orthonormal within each basis.
    factors : ndarray of shape (n_products, degree)
        Indices of the coordinates that are the factors of each product.
    """

    frame: NDArray
    factors: NDArray


NO_PRODUCTS = Products(np.zeros((0, 0)), np.zeros((0, 0), dtype=int))


def draw_products(n: int, d: int, degree: int, rng: Generator) -> Products:
    """Draw n products of a degree of at most d, in as few bases of R^d as possible."""
    frames, factors, width = [], [], 0
    for count in _groups(n, comb(d, degree)):
        chosen = _combinations(rng.choice(comb(d, degree), count, replace=False), degree)
        used, places = np.unique(chosen, return_inverse=True)
        frames.append(DIRECTIONS["orthogonal"](len(used), d, rng).T)
        factors.append(places.reshape(chosen.shape) + width)
        width += len(used)
    return Products(np.hstack(frames), np.concatenate(factors))


def relative_variance(n: int, d: int, degree: int, cosines: NDArray) -> NDArray[np.float64]:
    """Return the variance of the kernel estimate from n products, at pairs of unit vectors with these cosines.

    The estimate is the mean of p(x) p(y) over the products p, divided by the mean square of p on the sphere. Its
    variance follows from that of one product and that of all C(d, degree) products in a basis. The latter are
    simulated with a fixed seed.
    """
    total = comb(d, degree)
    one, everything = _simulated(d, degree)
    of_one, of_all = chebval(cosines, one), chebval(cosines, everything)
    # The products are exchangeable, so that each covariance in a basis may be replaced by their mean.
    covariance = (of_all - of_one / total) / (1 - 1 / total) if total > 1 else np.zeros_like(of_one)
    groups = _groups(n, total)
    return np.maximum(sum((g / n) ** 2 * (of_one / g + (1 - 1 / g) * covariance) for g in groups), 0)


def _groups(n: int, most: int) -> list[int]:
    """Return the number of products in each basis."""
    whole, rest = divmod(n, most)
    return [most] * whole + ([rest] if rest else [])


def _combinations(numbers: NDArray[np.int64], degree: int) -> NDArray[np.int64]:
    """Return the combinations with these numbers in the combinatorial number system, shape (n, degree)."""
    left, columns = numbers.copy(), []
    for size in range(degree, 0, -1):
        bound = 1
        counts = [0]
        while counts[-1] <= left.max(initial=0):
            counts.append(comb(bound, size))
            bound += 1
        below = np.array(counts)
        found = np.searchsorted(below, left, side="right") - 1
        left = left - below[found]
        columns.append(found)
    return np.stack(columns, axis=1)


@lru_cache(maxsize=16)
def _simulated(d: int, degree: int) -> tuple[NDArray, NDArray]:
    """Return the Chebyshev coefficients of both variances, which are polynomials of degree 2n in the cosine."""
    rng = np.random.default_rng(0)
    draws = int(np.clip(_SIMULATED // d, _LEAST_DRAWS, _MOST_DRAWS))
    a, b = rng.standard_normal((2, draws, d))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    b -= (a * b).sum(axis=1, keepdims=True) * a
    b /= np.maximum(np.linalg.norm(b, axis=1, keepdims=True), np.finfo(float).tiny)
    scale, total = rising_product(d, degree), comb(d, degree)
    cosines = chebpts1(2 * degree + 1)
    one, everything = [], []
    for cosine in cosines:
        values = a * (cosine * a + np.sqrt(1 - cosine**2) * b)
        mean = scale * _elementary_symmetric(values, degree) / total
        one.append((scale**2 * _elementary_symmetric(values**2, degree) / total).mean() - mean.mean() ** 2)
        everything.append(mean.var())
    return chebfit(cosines, one, 2 * degree), chebfit(cosines, everything, 2 * degree)


def _elementary_symmetric(values: NDArray, degree: int) -> NDArray[np.float64]:
    """Return the sum of all products of distinct entries for each row, by Newton's identities."""
    powers = [(values**k).sum(axis=1) for k in range(1, degree + 1)]
    found = [np.ones(len(values))]
    for k in range(1, degree + 1):
        found.append(sum((-1) ** (i - 1) * found[k - i] * powers[i - 1] for i in range(1, k + 1)) / k)
    return found[-1]
