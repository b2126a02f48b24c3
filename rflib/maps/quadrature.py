"""QuadratureRFF: spherical-radial quadrature rules of degree three with random rotations and radii."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import helmert

from rflib.frequencies.directions import orthogonal
from rflib.maps.gaussian_cosines import GaussianCosines
from rflib.measures.base import chi_quantile


class QuadratureRFF(GaussianCosines):
    """Quadrature-based features of the Gaussian kernel (Munkhoeva et al. 2018, arXiv 1802.03832).

    The rule of degree (3, 3) for E f(w), w normal and f even, is the mean of (1 - d / rho^2) f(0) + d / rho^2
    f(rho Q v_j) over the d + 1 vertices v_j of a regular simplex, with a random rotation Q and rho of the chi
    distribution with d + 2 degrees of freedom. Unbiased, and exact for second moments also with a radius for each
    vertex, as the authors' code has it; that has less variance. Rules of independent Q are averaged. The weight of
    the constant may be negative: its column has the sign, as radii drawn until it is positive would be biased.
    Q follows Haar's law (the paper's butterfly matrices take its place to save time).

    The last rule may have fewer vertices, with the weight of so many: as each Q v_j is uniform on the sphere, it
    is unbiased too. The last frequency is zero, the constant; below three columns there is no other one.

    Parameters
    ----------
    kernel : Gaussian or None
        Kernel to approximate; None is Gaussian(sigma=1).
    n_components : int
        Number of columns D.
    random_state : int, Generator, SeedSequence, RandomState or None
        Seed.

    Attributes are those of `rflib.maps.gaussian_cosines.GaussianCosines`.
    """

    def _sample(self, n: int, d: int, rng: Generator) -> tuple[NDArray, NDArray]:
        vectors: list[NDArray] = []
        weights: list[NDArray] = []
        simplex = helmert(d + 1).T * np.sqrt((d + 1) / d)
        counts = np.diff(np.minimum(np.arange(0, n + d, d + 1), n - 1))
        for count in counts:
            radii = chi_quantile(d + 2, rng.random(count))
            vertices = simplex[rng.permutation(d + 1)[:count]]
            vectors.append(radii[:, None] * (vertices @ orthogonal(d, d, rng)))
            weights.append(d / radii**2 / (n - 1))
        used = np.concatenate([np.empty(0), *weights])
        return np.concatenate([*vectors, np.zeros((1, d))]), np.append(used, 1 - used.sum())
