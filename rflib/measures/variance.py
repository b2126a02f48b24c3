"""Variance of signed Fourier features with independent norms, for three distributions of the directions.

For each Jordan part, the estimate at a distance z is the mean of cosines a_i = cos(<w_i, z>) times the mass of the
part. For independent directions its variance is that of theorem 4 in luo2021. Dependent directions add the
covariances of pairs of cosines. If two frequencies have the norms R1 and R2 and the cosine c of the angle between
them, which is distributed symmetrically about zero, then

    E a_1 a_2 = E Omega_d(sqrt(R1^2 + R2^2 + 2 c R1 R2) z),

and the covariance is this minus the product of the means. c = 0 gives theorem 5, with its sign corrected, and the
frame gives theorem 6. Each frequency has a column of cosines and a column of sines (layout "cos_sin").
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
    """Return the variance with independent directions (luo2021, theorem 4), shape (n_distances,).

    Given are the signed measure, whose norms are drawn independently, the distances z (n_distances,), and the
    numbers of frequencies of both parts; that of an empty part is not used.
    """
    z = np.atleast_1d(np.asarray(z, dtype=np.float64))
    d, total = measure.dimension, np.zeros_like(z)
    for sign, part in measure.parts():
        variance = (1 + part.transform(d, 2 * z)) / 2 - part.transform(d, z) ** 2
        total += part.mass**2 * variance / (n_positive if sign > 0 else n_negative)
    return total


def variance_orthogonal(
    measure: RadialMeasure, z: ArrayLike, n_positive: int, n_negative: int = 0
) -> NDArray[np.float64]:
    """Return the variance with separate orthogonal blocks of d directions for each part, shape (n_distances,).

    Every pair in a block has the covariance of theorem 5, with its sign corrected. The last block may be shorter.
    Parameters are those of `variance_iid`.
    """
    z, d = np.atleast_1d(np.asarray(z, dtype=np.float64)), measure.dimension
    variance = variance_iid(measure, z, n_positive, n_negative)
    for sign, part in measure.parts():
        n = n_positive if sign > 0 else n_negative
        if pairs := orthogonal_pairs(n, d):
            covariance = _covariance(part, part, d, z, (np.zeros(1), np.ones(1)), _ORTHOGONAL_BINS)
            variance += part.mass**2 * pairs / n**2 * covariance
    return variance


def variance_frame(
    measure: RadialMeasure, z: ArrayLike, n_positive: int, n_negative: int = 0
) -> NDArray[np.float64]:
    """Return the variance with the frame of luo2021 for both parts together (theorem 6), shape (n_distances,).

    The frame is that of equation 10. All pairs have the same distribution, including those of frequencies from
    different parts. Parameters are those of `variance_iid`.
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


def orthogonal_pairs(n: int, d: int) -> int:
    """Return the number of ordered pairs within the blocks of d among n directions; the last may be shorter."""
    whole, rest = divmod(n, d)
    return whole * d * (d - 1) + rest * (rest - 1)


def cosine_moments(d: int, t: NDArray) -> tuple[NDArray, NDArray]:
    """Return the variance of cos(t <u, e>), and the covariance of two such cosines of orthogonal directions u."""
    square = omega(d, t) ** 2
    return (1 + omega(d, 2 * t)) / 2 - square, omega(d, np.sqrt(2) * t) - square


def _covariance(
    part: RadialPart, other: RadialPart, d: int, z: NDArray, angles: tuple[NDArray, NDArray], bins: int
) -> NDArray:
    """Return the covariance of the cosines of two frequencies whose directions have squared cosines ``angles``."""
    quadratures = (each.quadrature() for each in (part, other))
    (x, p), (y, q) = (_condensed(radii**2, masses, bins) for radii, masses in quadratures)
    squares, weights = angles
    both = np.add.outer(x, y)[..., None]
    cross = 2 * np.sqrt(np.multiply.outer(np.multiply.outer(x, y), squares))
    norms = np.sqrt(np.maximum([both + cross, both - cross], 0))
    probabilities = np.multiply.outer(np.multiply.outer(p, q), weights) / 2
    product = np.array([np.sum(omega(d, t * norms) * probabilities) for t in z])
    mean_part, mean_other = (omega(d, np.multiply.outer(z, np.sqrt(v))) @ w for v, w in ((x, p), (y, q)))
    return product - mean_part * mean_other


def frame_angles(d: int, order: int, bins: int) -> tuple[NDArray, NDArray]:
    """Return squared cosines between two columns of the first d rows of a Haar matrix, and their probabilities.

    There are at most two for each of ``bins`` bins. Let b ~ Beta(d/2, (order-d)/2) be the share of the d rows in
    the first column's squared norm. Given b, the second column is uniform on the complement of the first one. The
    tangent of the angle between the two is then sqrt(1 - b) times that between independent directions, whose
    squared cosine is Beta(1/2, (d-1)/2).
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
    """Return at most two nodes for each of ``bins`` equally probable bins, with the bin's first three moments."""
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
