"""Products of distinct coordinates, real or complex: a sample of the harmonics of a degree, of known variance.

The directions of an orthonormal basis of R^d make d real coordinates <u_k, x>, or floor(d/2) complex coordinates
<u_k, x> + i <v_k, x>. A product p of n distinct ones is a harmonic polynomial, and the mean of Re p(x) conj(p(y))
over all rotations is the polynomial kernel of the degree up to a factor, by Schur's lemma. A complex product has
two columns. For similar rows it varies much less than two real ones, because E|z|^4 / (E|z|^2)^2 is 2 for a
complex Gaussian z, and 3 for a real one. On the other hand, the real products of a basis are more of all
harmonics.

Products with common factors are positively correlated. Those without are negatively correlated, because all
products of a basis together hardly vary. Products are therefore drawn in rounds: in each, no coordinate is a
factor of two products. docs/mvorf.md derives the covariances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.polynomial.chebyshev import chebpts1
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.polynomial import polyval
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.frequencies.directions import DIRECTIONS
from rflib.measures.base import chi_squared_nodes
from rflib.measures.harmonics import legendre

Parts = Literal[1, 2]
"""The number of columns of a product: 1 if the coordinates are real, 2 if they are complex."""
PARTS: Sequence[Parts] = (1, 2)


@dataclass(frozen=True, eq=False)
class CoordinateProducts:
    """Products of coordinates.

    Attributes
    ----------
    frame : ndarray of shape (d, n_coordinates) or (d, 2 * n_coordinates)
        Directions, orthonormal within each basis. For complex coordinates, those of their imaginary parts follow
        those of their real parts.
    factors : ndarray of shape (n_products, degree)
        Indices of the coordinates that are the factors of each product.
    """

    frame: NDArray
    factors: NDArray


def products_in_basis(d: int, degree: int, parts: Parts) -> int:
    """Return the number of products of a degree in one basis of R^d."""
    return comb(d // parts, degree)


def draw_products(n: int, d: int, degree: int, parts: Parts, rng: Generator) -> CoordinateProducts:
    """Draw n products of a degree of at most floor(d / parts), in as few bases of R^d as possible."""
    frames, factors, width = [], [], 0
    whole, rest = divmod(n, products_in_basis(d, degree, parts))
    for count in [products_in_basis(d, degree, parts)] * whole + [rest] * min(rest, 1):
        used, places = np.unique(_in_rounds(count, d // parts, degree, rng), return_inverse=True)
        frames.append(DIRECTIONS["orthogonal"](parts * len(used), d, rng).T.reshape(d, parts, -1))
        factors.append(places.reshape(count, degree) + width)
        width += len(used)
    return CoordinateProducts(np.concatenate(frames, axis=2).reshape(d, -1), np.concatenate(factors))


def relative_variance(n: int, d: int, degree: int, parts: Parts, cosines: NDArray) -> NDArray[np.float64]:
    """Return the variance of the kernel estimate from n products, at pairs of unit vectors with these cosines.

    The estimate is the mean of Re p(x) conj(p(y)) over the products p, divided by the mean of |p|^2 on the sphere.
    """
    return np.maximum(overlaps(n, d, degree, parts) @ covariances(d, degree, parts, cosines), 0)


def covariances(d: int, degree: int, parts: Parts, cosines: NDArray) -> NDArray[np.float64]:
    """Return the covariances of the estimates from two products of a basis, shape (degree + 1, n_cosines).

    The dimension must be at least 2. Row j is that of products with j common factors, so that the last row is the
    variance of one product.
    """
    return polyval(cosines**2, _mean_products(d, degree, parts)) - legendre(d, degree, cosines) ** 2


def overlaps(n: int, d: int, degree: int, parts: Parts) -> NDArray[np.float64]:
    """Return weights, shape (degree + 1,): the variance of n products is their sum over `covariances`.

    They are exact up to degree 2. From degree 3 on, products that were drawn in an earlier round are left out,
    which is ignored here.
    """
    whole, rest = divmod(n, products_in_basis(d, degree, parts))
    found = np.zeros(degree + 1)
    for count, times in ((products_in_basis(d, degree, parts), whole), (rest, min(rest, 1))):
        if times:
            found += times * (count / n) ** 2 * _overlaps(count, d // parts, degree)
    return found


def _in_rounds(n: int, q: int, degree: int, rng: Generator) -> NDArray[np.int64]:
    """Return n different subsets of q coordinates in rounds, shape (n, degree)."""
    if degree == 2:
        return _tournament(q, -(-n // (q // 2)))[:, rng.permutation(q // 2)].reshape(-1, 2)[:n]
    total = comb(q, degree)
    if 2 * n > total:
        left_out = set(map(tuple, _in_rounds(total - n, q, degree, rng).tolist()))
        return np.array([each for each in combinations(range(q), degree) if each not in left_out])
    found: dict[tuple[int, ...], None] = {}
    while len(found) < n:
        decks = rng.permutation(q)[: q - q % degree].reshape(-1, degree)
        found.update(dict.fromkeys(map(tuple, np.sort(decks, axis=1).tolist())))
    return np.array(list(found)[:n], dtype=int).reshape(n, degree)


def _tournament(q: int, n_rounds: int) -> NDArray[np.int64]:
    """Return rounds of pairs of q players, in each of which everyone plays once, or one rests if q is odd.

    No two players meet twice. The shape is (n_rounds, floor(q / 2), 2).
    """
    p = q - 1 + q % 2
    turn, k = np.arange(n_rounds)[:, None], np.arange(1, (p + 1) // 2)
    rounds = np.stack([(turn + k) % p, (turn - k) % p], axis=2)
    if p < q:
        rounds = np.concatenate([rounds, np.stack([turn, np.full_like(turn, p)], axis=2)], axis=1)
    return rounds


def _overlaps(n: int, q: int, degree: int) -> NDArray[np.float64]:
    """Return the shares of the pairs of n products of a basis that have 0, 1, ... common factors."""
    total, a_round = comb(q, degree), q // degree
    every = np.array([float(comb(degree, j) * comb(q - degree, degree - j)) for j in range(degree + 1)])
    if 2 * n > total and degree > 2:  # the others are drawn in rounds
        left = total - n
        counts = total * every - 2 * left * every
        return (counts + (left**2 * _overlaps(left, q, degree) if left else 0)) / n**2
    rounds, rest = divmod(n, a_round)
    elsewhere = n - (rounds * a_round**2 + rest**2) / n
    shared = every[1:-1] * elsewhere / max(total - a_round, 1)
    return np.concatenate([[n - 1 - shared.sum()], shared, [1.0]])[-degree - 1 :] / n


@lru_cache(maxsize=64)
def _mean_products(d: int, degree: int, parts: Parts) -> NDArray[np.float64]:
    """Return the mean products of two estimates as polynomials of the squared cosine, (degree + 1, degree + 1).

    For vectors x and y of any length, such a mean over all rotations is sum_i a_i <x, y>^(2i) (|x| |y|)^(2n-2i).
    For Gaussian vectors with the correlation c, the coordinates are independent, so that the mean is known. The
    means of the powers are known too, and give the coefficients a_i.
    """
    c = np.sqrt((chebpts1(degree + 1) + 1) / 2)
    j = np.arange(degree + 1)[:, None]
    shared = (1 + 2 * c**2) ** j if parts == 1 else ((2 * c**2) ** j + (1 + c**2) ** j) / 2
    scale = np.prod(1 + 2 * np.arange(degree) / d) ** 2
    return scale * np.linalg.solve(_gaussian_powers(d, degree, c), (c ** (2 * (degree - j)) * shared).T)


def _gaussian_powers(d: int, n: int, c: NDArray) -> NDArray[np.float64]:
    """Return E <g, h>^(2i) (|g| |h|)^(2n-2i) / d^(2n) for Gaussian g, h of correlation c, shape (n_c, n + 1).

    With s^2 = 1 - c^2, h has the component c |g| + s e along g, and s^2 w is the square of the rest. |g|^2, e and
    w are independent, with the laws chi^2_d, N(0, 1) and chi^2_(d-1).
    """
    (squares, of_square), (others, of_other) = (
        chi_squared_nodes(d, 2 * n + 1),
        chi_squared_nodes(d - 1, 2 * n + 1),
    )
    normal, of_normal = hermegauss(2 * n + 1)
    weights = np.einsum("a,b,c->abc", of_square, of_normal / of_normal.sum(), of_other)
    s = np.sqrt(1 - c**2)[:, None, None, None]
    c = c[:, None, None, None]
    g, e, w = squares[:, None, None] / d, normal[:, None] / np.sqrt(d), others / d
    along = c * np.sqrt(g) + s * e
    h = along**2 + s**2 * w
    powers = [(g * along**2) ** i * (g * h) ** (n - i) for i in range(n + 1)]
    return np.stack([(power * weights).sum(axis=(1, 2, 3)) for power in powers], axis=1)
