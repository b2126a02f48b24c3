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
        As for `RandomFeatureMap`; the kernel is a Gaussian. The attributes frequencies_, weights_ and phases_ are
        those of `FourierFeatures`.

    See Also
    --------
    ORF : Frequencies without a bias.
    QuadratureRFF : Rules that are exact for second moments, without a bias.

    References
    ----------
    Shen, Yang, Wang: Random features for shift-invariant kernels with moment matching, AAAI 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import MomentMatching
    >>> from rflib.metrics import relative_frobenius_error
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> kernel = Gaussian("median")
    >>> features = MomentMatching(kernel, 64, random_state=0).fit(X)
    >>> print(f"{relative_frobenius_error(features.kernel_(X), features.kernel_matrix(X)):.2f}")
    0.04
    """

    def _sample(self, n: int, d: int, rng: Generator) -> tuple[NDArray, NDArray]:
        left, _, right = np.linalg.svd(rng.standard_normal((n, d)), full_matrices=False)
        return np.sqrt(max(n, d)) * (left @ right), np.full(n, 1 / n)
