"""Orthogonal bases of R^d that are as far apart as possible, so that one rotation of all has little variance.

The variance of a mean over m independent Haar bases comes from harmonics of degree 4 and more
(`rflib.measures.harmonics`). Mutually unbiased bases, in which |<u, v>| = d^(-1/2) for all u and v of different
bases, remove nearly all of the variance of degree 4. For d = 4^k there are d/2 + 1 of them, which together with
their antipodes are a spherical 5-design (Cameron & Seidel 1973; Calderbank, Cameron, Kantor & Seidel 1997). In
other dimensions, bases with a low fourth moment, the sum of <u, v>^4, are found numerically.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ortho_group

from rflib.measures.harmonics import DEGREES, legendre, orthogonal_factors

# Irreducible polynomials over F_2 of odd degree, as bits.
_IRREDUCIBLE = {1: 0b11, 3: 0b1011, 5: 0b100101}
_DESCENT_STEPS = 40
_STEP = 0.3
# In higher dimensions so many bases are rarely needed, and the search for them takes seconds.
_LARGEST_SEARCH = 24


@lru_cache(maxsize=8)
def coupled_bases(d: int) -> NDArray[np.float64]:
    """Return at most d/2 + 1 bases of R^d that are far apart, shape (m, d, d), with their vectors as rows.

    Where no such bases are known, only the basis of the unit vectors is returned.
    """
    if _is_power_of_four(d):
        return mutually_unbiased_bases(d.bit_length() - 1)
    return _far_apart(d, d // 2 + 1) if 2 < d <= _LARGEST_SEARCH else np.eye(d)[None]


@lru_cache(maxsize=8)
def coupled_factors(d: int) -> NDArray[np.float64]:
    """Return A_n for the first 1, 2, ... bases times their number of vectors, shape (m, n_degrees + 1).

    The degrees n are those of `rflib.measures.harmonics`.
    """
    bases = coupled_bases(d)
    within, m = orthogonal_factors(d)[-1], len(bases)
    if m == 1:
        return within[None]
    count = np.arange(1, m + 1)
    if _is_power_of_four(d):
        others = count * (count - 1) * d * np.array([_of_unbiased(d, n) for n in DEGREES])[:, None]
    else:
        products = np.einsum("aik,bjk->abij", bases, bases)
        sums = [legendre(d, n, products).sum(axis=(2, 3)) / d * (1 - np.eye(m)) for n in DEGREES]
        others = np.array([[total[:i, :i].sum() for i in count] for total in sums])
    return np.hstack([np.maximum(within[:-1] + (others / count).T, 0), np.ones((m, 1))])


def _of_unbiased(d: int, degree: int) -> float:
    return float(legendre(d, degree, np.array([d**-0.5]))[0])


def _is_power_of_four(d: int) -> bool:
    exponent = d.bit_length() - 1
    return d == 1 << exponent and exponent - 1 in _IRREDUCIBLE


def mutually_unbiased_bases(exponent: int) -> NDArray[np.float64]:
    """Return d/2 + 1 real mutually unbiased bases of R^d with d = 2^exponent, for an exponent of 2, 4 or 6.

    One basis consists of the unit vectors. Each form B of a Kerdock set gives another one: the characters of
    F_2^exponent times (-1)^Q(x), where Q is a quadratic form with the alternating form B. The set is Kantor's: for
    all t in F = F_{d/2}, the forms (x, a), (y, b) -> Tr(y (t^2 x + t Tr(t x) + a t)) + b Tr(t x) on F x F_2. The
    difference of any two of them is not singular.
    """
    n = exponent - 1
    d = 1 << exponent
    bits = (np.arange(d)[:, None] >> np.arange(exponent)) & 1
    characters = (-1.0) ** (bits @ bits.T) / np.sqrt(d)
    bases = [np.eye(d)]
    for t in range(1 << n):
        form = np.array([[_kantor(1 << i, 1 << j, t, n) for j in range(exponent)] for i in range(exponent)])
        quadratic = np.einsum("xi,ij,xj->x", bits, np.triu(form, 1), bits)
        bases.append(characters * (-1.0) ** quadratic)
    return np.array(bases)


def _kantor(first: int, second: int, t: int, n: int) -> int:
    """Return Kantor's form of two vectors of F x F_2, whose lowest n bits are the element of F = F_{2^n}."""
    x, a = first & ((1 << n) - 1), first >> n
    y, b = second & ((1 << n) - 1), second >> n
    tx = _product(t, x, n)
    trace = _trace(tx, n)
    image = _product(t, tx, n) ^ (t if trace ^ a else 0)
    return _trace(_product(y, image, n), n) ^ (b & trace)


def _product(x: int, y: int, n: int) -> int:
    """Return the product in F_{2^n}."""
    result = 0
    for i in range(n):
        if y >> i & 1:
            result ^= x << i
    for i in range(2 * n - 2, n - 1, -1):
        if result >> i & 1:
            result ^= _IRREDUCIBLE[n] << (i - n)
    return result


def _trace(x: int, n: int) -> int:
    """Return the trace from F_{2^n} to F_2, which is the sum of x^(2^i)."""
    total = 0
    for _ in range(n):
        total ^= x
        x = _product(x, x, n)
    return total & 1


def _far_apart(d: int, n_bases: int) -> NDArray[np.float64]:
    """Return bases that minimise the sum of <u, v>^4 over different bases, by descent from fixed random bases."""
    bases = ortho_group.rvs(d, n_bases, random_state=np.random.default_rng(0))
    for _ in range(_DESCENT_STEPS):
        vectors = bases.reshape(-1, d)
        gradient = ((vectors @ vectors.T) ** 3 @ vectors).reshape(bases.shape)
        # The inner products within a basis are 0 and 1, so the basis itself is a term of its gradient.
        left, _, right = np.linalg.svd(bases - _STEP * d / n_bases * (gradient - bases))
        bases = left @ right
    return bases
