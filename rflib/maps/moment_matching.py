"""MomentMatching: Gaussian frequencies that are transformed to have exact second moments."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.maps.wave_features import GaussianCosines


class MomentMatching(GaussianCosines):
    """Approximate the Gaussian kernel with frequencies whose second moments are exact.

    F independent Gaussian frequencies W (F, d) are replaced by sqrt(F) W (W^T W)^(-1/2). The matrix of their
    second moments is exactly the identity, so that k_hat(z) = 1 - |z|^2 / (2 sigma^2) + O(|z|^4). Their mean need
    not be matched, because a cosine and a sine stand for both v and -v. With F < d frequencies exact moments are
    impossible; the frequencies then become orthogonal with the norm sqrt(d). The estimate is biased because the
    transformed frequencies are not Gaussian; the bias vanishes as F grows.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `FourierFeatures`, as are frequencies_, weights_ and phases_; the kernel is a Gaussian.

    See Also
    --------
    ORF : Frequencies without a bias.
    QuadratureRFF : Rules that are exact for second moments, without a bias.

    References
    ----------
    Shen, Yang, Wang: Random features for shift-invariant kernels with moment matching, AAAI 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import MomentMatching
    >>> X = load_iris().data
    >>> features = MomentMatching(Gaussian("median"), 64, random_state=0).fit(X)
    >>> print(abs(features.kernel_matrix(X) - features.kernel_(X)).mean().round(2))
    0.02
    """

    def _sample(self, n: int, d: int, rng: Generator) -> tuple[NDArray, NDArray]:
        left, _, right = np.linalg.svd(rng.standard_normal((n, d)), full_matrices=False)
        return np.sqrt(max(n, d)) * (left @ right), np.full(n, 1 / n)
