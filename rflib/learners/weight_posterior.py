"""Bayesian linear regression on features: the posterior of the weights, and what it says of other rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular


@dataclass(frozen=True)
class WeightPosterior:
    """Weights N(coef, noise_variance (Z^T Z + c I)^-1), for targets with noise N(0, noise_variance).

    The prior of the weights is N(0, (noise_variance / c) I), so that their posterior mean is the ridge solution
    (Rasmussen and Williams 2006, section 2.1). Given c, the noise variance is the one of largest marginal
    likelihood (equation 2.30 there, solved for the scale of the covariance), for each target by itself.

    Attributes
    ----------
    coef : ndarray of shape (D, t)
        Posterior mean.
    factor : ndarray of shape (D, D)
        L, lower triangular, with L L^T = Z^T Z + c I; its upper triangle holds anything.
    noise_variance : ndarray of shape (t,)
        Variance of the noise of each target.
    log_marginal_likelihood : float
        Logarithm of the density of all targets.
    """

    coef: NDArray
    factor: NDArray
    noise_variance: NDArray[np.float64]
    log_marginal_likelihood: float

    def variances(self, Z: NDArray) -> NDArray[np.float64]:
        """Return the variances of <z, w>, without noise, (n, t)."""
        spread = solve_triangular(
            self.factor, Z.T.astype(self.factor.dtype), lower=True, overwrite_b=True, check_finite=False
        )
        return np.outer(np.einsum("dn,dn->n", spread, spread, dtype=np.float64), self.noise_variance)

    def draw(self, n_draws: int, rng: np.random.Generator | np.random.RandomState) -> NDArray:
        """Return weights drawn from the posterior, (n_draws, D, t)."""
        normal = rng.standard_normal((self.coef.shape[1], n_draws, self.coef.shape[0]))
        spread = solve_triangular(
            self.factor, normal.reshape(-1, len(self.coef)).T, lower=True, trans="T", check_finite=False
        )
        scale = np.sqrt(self.noise_variance)[:, None, None]
        return self.coef + np.transpose(spread.T.reshape(normal.shape) * scale, (1, 2, 0))


def weight_posterior(
    coef: NDArray, factor: NDArray, c: float, zy: NDArray, yy: NDArray[np.float64], n: float
) -> WeightPosterior:
    """Return the posterior from the ridge solution and the moments of centred targets.

    Parameters
    ----------
    coef : ndarray of shape (D, t)
        The ridge solution.
    factor : ndarray of shape (D, D)
        Lower Cholesky factor of Z^T Z + c I.
    c : float
        The ridge.
    zy, yy : ndarray of shape (D, t) and (t,)
        Z^T Y, and the sums of Y^2.
    n : float
        Number of rows, or the sum of their weights.
    """
    D, t = coef.shape
    # Y^T (I + Z Z^T / c)^-1 Y = Y^T Y - Y^T Z (Z^T Z + c I)^-1 Z^T Y, which rounding may bring to zero
    rest = np.maximum(yy - np.einsum("dt,dt->t", coef, zy, dtype=np.float64), np.finfo(coef.dtype).eps * yy)
    noise_variance = np.maximum(rest / n, np.finfo(np.float64).tiny)
    log_determinant = 2 * np.log(np.diagonal(factor), dtype=np.float64).sum() - D * np.log(c)
    log_density = -(n * (np.log(2 * np.pi * noise_variance) + 1).sum() + t * log_determinant) / 2
    return WeightPosterior(coef, factor, noise_variance, float(log_density))
