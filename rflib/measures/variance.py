"""Variance of signed Fourier features with independent norms, for three laws of the directions.

The estimate at a distance z is a mean of cosines a_i = cos(<w_i, z>) for either Jordan part, times its mass.
For independent directions its variance is luo2021's theorem 4. Dependent directions add covariances of pairs,
whose frequencies have the norms R1, R2 and the cosine c between them:

    E a_1 a_2 = E Omega_d(sqrt(R1^2 + R2^2 + 2 c R1 R2) z),    c distributed symmetrically about zero,

less the product of the means: theorem 5 (c = 0, with its sign corrected) and theorem 6 (the frame). A frequency
stands for a column of cosines and one of sines (layout "cos_sin").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from rflib.measures.base import RadialMeasure, RadialPart
from rflib.measures.omega import omega

_ORTHOGONAL_BINS = 64
_FRAME_BINS = 12
_ANGLE_NODES = 48


def variance_iid(
    measure: RadialMeasure, z: ArrayLike, n_positive: int, n_negative: int = 0
) -> NDArray[np.float64]:
    """Variance with independent directions (luo2021, theorem 4), shape (n_distances,).

    Parameters
    ----------
    measure : RadialMeasure
        The signed measure; its norms are drawn independently.
    z : array-like of shape (n_distances,)
        Distances.
    n_positive, n_negative : int
        Numbers of frequencies of either part; that of an absent part is not used.
    """
    z = np.atleast_1d(np.asarray(z, dtype=np.float64))
    counts = {1: n_positive, -1: n_negative}
    terms = (part.mass**2 * _single(part, measure.dimension, z) / counts[s] for s, part in measure.parts())
    return sum(terms, start=np.zeros_like(z))


def variance_orthogonal(
    measure: RadialMeasure, z: ArrayLike, n_positive: int, n_negative: int = 0
) -> NDArray[np.float64]:
    """Variance with separate Haar-orthogonal blocks of d directions for either part, shape (n_distances,).

    Theorem 5 with the sign corrected, for every pair within a block; the last block may be shorter.
    Parameters as for `variance_iid`.
    """
    z = np.atleast_1d(np.asarray(z, dtype=np.float64))
    d = measure.dimension
    variance = variance_iid(measure, z, n_positive, n_negative)
    right_angle = (np.zeros(1), np.ones(1))
    for sign, part in measure.parts():
        n = n_positive if sign > 0 else n_negative
        if pairs := orthogonal_pairs(n, d):
            covariance = _covariance(part, part, d, z, right_angle, _ORTHOGONAL_BINS)
            variance += part.mass**2 * pairs / n**2 * covariance
    return variance


def variance_frame(
    measure: RadialMeasure, z: ArrayLike, n_positive: int, n_negative: int = 0
) -> NDArray[np.float64]:
    """Variance with the frame of luo2021 (eq. 10) for both parts together (theorem 6), shape (n_distances,).

    All pairs have the same law, across the parts too. Parameters as for `variance_iid`.
    """
    z = np.atleast_1d(np.asarray(z, dtype=np.float64))
    d = measure.dimension
    parts = [(sign, part, n_positive if sign > 0 else n_negative) for sign, part in measure.parts()]
    angles = frame_angles(d, max(sum(n for _, _, n in parts), 2 * d), _FRAME_BINS)
    variance = variance_iid(measure, z, n_positive, n_negative)
    for i, (sign, part, n) in enumerate(parts):
        for j, (other_sign, other, _) in enumerate(parts[: i + 1]):
            covariance = _covariance(part, other, d, z, angles, _FRAME_BINS)
            pairs = (n - 1) / n if i == j else 2 * sign * other_sign
            variance += part.mass * other.mass * pairs * covariance
    return variance


def signed_atoms(measure: RadialMeasure, most: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return norms and signed weights, at most so many a part, that integrate smooth functions as the measure."""
    radii, weights = [], []
    for sign, part in measure.parts():
        squares, probabilities = _condensed(*_squares(part), most // 2)
        radii.append(np.sqrt(squares))
        weights.append(sign * part.mass * probabilities)
    return np.concatenate(radii), np.concatenate(weights)


def orthogonal_pairs(n: int, d: int) -> int:
    """Return the number of ordered pairs within blocks of d of n directions; the last block may be shorter."""
    whole, rest = divmod(n, d)
    return whole * d * (d - 1) + rest * (rest - 1)


def cosine_moments(d: int, t: NDArray) -> tuple[NDArray, NDArray]:
    """Return the variance of cos(t <u, e>), up to rounding, and its covariance for two orthogonal directions u."""
    square = omega(d, t) ** 2
    return (1 + omega(d, 2 * t)) / 2 - square, omega(d, np.sqrt(2) * t) - square


def _single(part: RadialPart, d: int, z: NDArray) -> NDArray:
    """Variance of cos(<w, z>)."""
    return (1 + part.transform(d, 2 * z)) / 2 - part.transform(d, z) ** 2


def _covariance(
    part: RadialPart, other: RadialPart, d: int, z: NDArray, angles: tuple[NDArray, NDArray], bins: int
) -> NDArray:
    """Covariance of the cosines of two frequencies whose directions have the squared cosines ``angles``."""
    (x, p), (y, q) = (_condensed(*_squares(each), bins) for each in (part, other))
    squares, weights = angles
    both = np.add.outer(x, y)[..., None]
    cross = 2 * np.sqrt(np.multiply.outer(np.multiply.outer(x, y), squares))
    norms = np.sqrt(np.maximum([both + cross, both - cross], 0))
    probabilities = np.multiply.outer(np.multiply.outer(p, q), weights) / 2
    product = np.array([np.sum(omega(d, t * norms) * probabilities) for t in z])
    mean_part, mean_other = (omega(d, np.multiply.outer(z, np.sqrt(v))) @ w for v, w in ((x, p), (y, q)))
    return product - mean_part * mean_other


def _squares(part: RadialPart) -> tuple[NDArray, NDArray]:
    radii, probabilities = part.quadrature()
    return radii**2, probabilities


def frame_angles(d: int, order: int, bins: int) -> tuple[NDArray, NDArray]:
    """Squared cosines between two columns of the first d rows of a Haar matrix, and their probabilities.

    At most two for each of ``bins`` bins.

    Given the share b ~ Beta(d/2, (order-d)/2) that the d rows have of the first column's norm, the second one
    is uniform on its complement: tan of the angle to the normal is sqrt(1 - b) times that of two independent
    directions, whose squared cosine is Beta(1/2, (d-1)/2).
    """
    if d == 1:
        return np.ones(1), np.ones(1)
    u, weights = np.polynomial.legendre.leggauss(_ANGLE_NODES)
    u, weights = (u + 1) / 2, weights / 2
    share = betaincinv(d / 2, (order - d) / 2, u)
    independent = betaincinv(0.5, (d - 1) / 2, u)
    tangent = np.multiply.outer(1 - share, independent / (1 - independent)).ravel()
    return _condensed(tangent / (1 + tangent), np.outer(weights, weights).ravel(), bins)


def _condensed(values: NDArray, probabilities: NDArray, bins: int) -> tuple[NDArray, NDArray]:
    """At most two nodes for each of ``bins`` bins of equal probability, which keep its first three moments."""
    if len(values) <= 2 * bins:
        return values, probabilities
    order = np.argsort(values)
    values, probabilities = values[order], probabilities[order]
    middle = np.cumsum(probabilities) - probabilities / 2
    _, label = np.unique(np.minimum((middle * bins).astype(int), bins - 1), return_inverse=True)
    mass = np.bincount(label, probabilities)
    mean = np.bincount(label, probabilities * values) / mass
    off = values - mean[label]
    spread = np.sqrt(np.bincount(label, probabilities * off**2) / mass)
    scale = np.where(spread > 0, spread, 1)
    skew = np.bincount(label, probabilities * (off / scale[label]) ** 3) / mass / 2
    root = np.sqrt(1 + skew**2)
    nodes = np.concatenate([mean + spread * (skew + root), mean + spread * (skew - root)])
    shares = np.concatenate([mass * (root - skew), mass * (root + skew)]) / (2 * np.tile(root, 2))
    return np.maximum(nodes, 0), shares
