"""QuadratureRFF: spherical-radial quadrature rules of degree three with random rotations and norms."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.frequencies.directions import orthogonal
from rflib.maps.wave_features import GaussianCosines
from rflib.measures.base import chi_quantile


class QuadratureRFF(GaussianCosines):
    """Approximate the Gaussian kernel by random quadrature rules that are exact for second moments.

    Let w be a standard normal vector and f an even function. The rule of degree (3, 3) for E f(w) is the mean of
    (1 - d / rho^2) f(0) + d / rho^2 f(rho Q v_j) over the d + 1 vertices v_j of a regular simplex. Q is a random
    rotation, and rho has the chi distribution with d + 2 degrees of freedom. The rule is unbiased. It remains
    unbiased and exact for second moments if each vertex has its own rho, as in the authors' code; this has less
    variance and is done here. Several rules with independent Q are averaged.

    The weight of the constant f(0) may be negative, and the sign of its column then is -1. To draw rho again until
    the weight is positive would bias the estimate. Q has the Haar distribution; the paper's butterfly matrices
    approximate it to save time.

    The last rule may have fewer vertices; it is unbiased too, because each Q v_j is uniform on the sphere. The
    last frequency is zero and stands for the constant; with fewer than three columns it is the only one.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `FourierFeatures`, as are frequencies_, weights_ and phases_; the kernel is a Gaussian.

    See Also
    --------
    QuadratureFeatures : Quadrature on a grid.
    SphericalRadialRFF : Quadrature of the norms.

    References
    ----------
    Munkhoeva, Kapushev, Burnaev, Oseledets: Quadrature-based features for kernel approximation, NeurIPS 2018
    (arXiv 1802.03832).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import QuadratureRFF
    >>> X = load_iris().data
    >>> features = QuadratureRFF(Gaussian("median"), 64, random_state=0).fit(X)
    >>> print(abs(features.kernel_matrix(X) - features.kernel_(X)).mean().round(2))
    0.03
    """

    def _sample(self, n: int, d: int, rng: Generator) -> tuple[NDArray, NDArray]:
        vectors: list[NDArray] = []
        weights: list[NDArray] = []
        counts = np.diff(np.minimum(np.arange(0, n + d, d + 1), n - 1))
        for count in counts:
            radii = chi_quantile(d + 2, rng.random(count))
            vertices = simplex(count, d)
            vectors.append(radii[:, None] * (vertices @ orthogonal(vertices.shape[1], d, rng)))
            weights.append(d / radii**2 / (n - 1))
        used = np.concatenate([np.empty(0), *weights])
        return np.concatenate([*vectors, np.zeros((1, d))]), np.append(used, 1 - used.sum())


def simplex(n: int, d: int) -> NDArray[np.floating]:
    """Return n <= d + 1 vertices of a regular simplex of R^d in an orthonormal basis, shape (n, min(n, d))."""
    products = (1 + 1 / d) * np.eye(min(n, d)) - 1 / d
    vertices = np.linalg.cholesky(products)
    return vertices if n <= d else np.vstack([vertices, -vertices.sum(axis=0)])
