"""MomentMatching: Gaussian frequencies, transformed so that their second moments are those of the kernel."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.maps.gaussian_cosines import GaussianCosines


class MomentMatching(GaussianCosines):
    """Random Fourier features with moment matching (Shen, Yang & Wang 2017) of the Gaussian kernel.

    F independent Gaussian frequencies W (F, d) are replaced by sqrt(F) W (W^T W)^(-1/2), whose second moments are
    exactly the identity, so that k_hat(z) = 1 - |z|^2 / (2 sigma^2) + O(|z|^4). (Their mean does not matter here:
    a cosine and a sine stand for both v and -v.) With F < d frequencies this is not possible, and they become
    orthogonal with norms of sqrt(d). Biased: the transformed frequencies are not Gaussian, for many F nearly.

    Parameters
    ----------
    kernel : Gaussian or None
        Kernel to approximate; None is Gaussian(sigma=1).
    n_components : int
        Number of columns D = 2F.
    random_state : int, Generator, SeedSequence, RandomState or None
        Seed.

    Attributes are those of `rflib.maps.gaussian_cosines.GaussianCosines`.
    """

    def _sample(self, n: int, d: int, rng: Generator) -> tuple[NDArray, NDArray]:
        left, _, right = np.linalg.svd(rng.standard_normal((n, d)), full_matrices=False)
        return np.sqrt(max(n, d)) * (left @ right), np.full(n, 1 / n)
