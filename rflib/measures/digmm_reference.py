"""DIGMM as the authors of luo2021 ran it: frequencies whose law does not depend on the kernel.

Their procedure fits a Dirichlet-process Gaussian mixture, of at most five Gaussians with full covariances, to
s standard normal vectors by variational inference, once for the positive and once for the negative part. A
frequency is the difference of a draw from the one mixture and a draw from the other, W = W_pos - W_neg, and
has a cosine and a sine of weight 1/s. The mixtures tend to the standard normal as s grows, so the estimate
tends to exp(-z^2) at the distance z, whatever the kernel is. The authors also shift the kernel matrix of five
random points by 20 times its smallest eigenvalue, which changes no feature and is left out here. The method as
it was meant is `rflib.measures.digmm`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from rflib.kernels.base import Kernel
from rflib.measures.base import SpectralMeasure
from rflib.measures.domain import Domain

_N_GAUSSIANS = 5
_MAX_ITERATIONS = 200


def digmm_reference(kernel: Kernel, domain: Domain) -> DifferenceOfMixtures:
    """Return the law of the authors' frequencies, which only the number of input columns decides."""
    return DifferenceOfMixtures(domain.dimension)


@dataclass(frozen=True)
class DifferenceOfMixtures(SpectralMeasure):
    """Differences of draws from two Gaussian mixtures, each fitted to as many standard normal vectors."""

    dimension: int

    def vectors(self, n: int, rng: Generator) -> NDArray[np.float64]:
        """Return n frequencies (n, d).

        Raises
        ------
        ValueError
            If there are fewer than 2 d: the authors' inference fails there.
        """
        least = 2 * self.dimension
        if n < least:
            raise ValueError(
                f"measure='digmm_reference' needs at least 2 d = {least} frequencies, to as many vectors as which "
                f"its mixtures are fitted, but {n} are to be drawn. Use n_components of at least {2 * least}, or "
                "measure='digmm', which takes any number."
            )
        return self._draws(n, rng) - self._draws(n, rng)

    def _draws(self, n: int, rng: Generator) -> NDArray[np.float64]:
        """Fit a mixture to n standard normal vectors, and return n draws from it in random order."""
        seed, rows = int(rng.integers(2**31)), rng.standard_normal((n, self.dimension))
        mixture = fitted_mixture(rows, n_components=_N_GAUSSIANS, max_iter=_MAX_ITERATIONS, random_state=seed)
        return rng.permutation(mixture.sample(n)[0])


def fitted_mixture(rows: NDArray, **options: Any) -> Any:
    """Return a Dirichlet-process mixture that is fitted to rows, with options of scikit-learn's class."""
    from sklearn.mixture import BayesianGaussianMixture

    mixture = BayesianGaussianMixture(weight_concentration_prior_type="dirichlet_process", **options)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # A mixture is usable before the fit converges.
        return mixture.fit(rows)
