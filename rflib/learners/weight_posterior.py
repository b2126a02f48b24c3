"""Bayesian linear regression on features: the posterior of the weights, and what it says of other rows."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from rflib.kernels.namespaces import Array, beside, follow, in_type_of, namespace, to_numpy
from rflib.learners.device_system import solve_lower, solve_transposed


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
    ridge : float
        The c.
    """

    coef: Array
    factor: Array
    noise_variance: NDArray[np.float64]
    log_marginal_likelihood: float
    ridge: float

    def beside(self, Z: Array) -> "WeightPosterior":
        """Return the posterior with its arrays where the features Z are."""
        return replace(self, coef=follow(self.coef, Z), factor=follow(self.factor, Z))

    def variances(self, Z: Array, lack: Array) -> Array:
        """Return the variances of <z, w>, without noise, (n, t), and of what features lack of k(x, x), (n,)."""
        xp, spread = namespace(Z), self.spread(Z)
        if xp is not np:
            shares = xp.sum(spread**2, axis=0) + in_type_of(lack, spread) / self.ridge
            return shares[:, None] * beside(self.noise_variance, spread)[None, :]
        shares = np.einsum("dn,dn->n", spread, spread, dtype=np.float64) + lack / self.ridge
        return np.outer(shares, self.noise_variance)

    def spread(self, Z: Array) -> Array:
        """Return S (D, n), such that S^T S is the covariance of <z, w> divided by the variance of the noise."""
        if namespace(Z) is not np:
            return solve_lower(self.factor, in_type_of(Z, self.factor).T)
        rows = Z.T.astype(self.factor.dtype)
        return solve_triangular(self.factor, rows, lower=True, overwrite_b=True, check_finite=False)

    def draw(self, n_draws: int, rng: np.random.Generator | np.random.RandomState) -> NDArray:
        """Return weights drawn from the posterior, (n_draws, D, t), on the host."""
        normal = rng.standard_normal((self.coef.shape[1], n_draws, self.coef.shape[0]))
        flat = normal.reshape(-1, len(normal.T)).T
        if namespace(self.factor) is np:
            spread = solve_triangular(self.factor, flat, lower=True, trans="T", check_finite=False)
        else:
            spread = to_numpy(solve_transposed(self.factor, beside(flat, self.factor)))
        scale = np.sqrt(self.noise_variance)[:, None, None]
        return to_numpy(self.coef) + np.transpose(spread.T.reshape(normal.shape) * scale, (1, 2, 0))


def weight_posterior(coef: Array, factor: Array, c: float, zy: Array, yy: Array, n: float) -> WeightPosterior:
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
    (D, t), xp = coef.shape, namespace(coef)
    # Y^T (I + Z Z^T / c)^-1 Y = Y^T Y - Y^T Z (Z^T Z + c I)^-1 Z^T Y, which rounding may bring to zero
    explained, on_diagonal, eps = _explained(coef, zy), _diagonal(factor), float(xp.finfo(coef.dtype).eps)
    rest = np.maximum(to_numpy(yy) - explained, eps * to_numpy(yy))
    noise_variance = np.maximum(rest / n, np.finfo(np.float64).tiny)
    log_determinant = 2 * np.log(on_diagonal, dtype=np.float64).sum() - D * np.log(c)
    log_density = -(n * (np.log(2 * np.pi * noise_variance) + 1).sum() + t * log_determinant) / 2
    return WeightPosterior(coef, factor, noise_variance, float(log_density), float(c))


def _explained(coef: Array, zy: Array) -> NDArray[np.float64]:
    """Return the sums of coef times zy over the columns D, on the host."""
    xp = namespace(coef)
    if xp is np:
        sums: NDArray[np.float64] = np.einsum("dt,dt->t", coef, zy, dtype=np.float64)
        return sums
    return to_numpy(xp.sum(in_type_of(coef, zy) * zy, axis=0))


def _diagonal(factor: Array) -> NDArray:
    """Return the D numbers on the diagonal, on the host."""
    xp = namespace(factor)
    return np.diagonal(factor) if xp is np else to_numpy(xp.linalg.diagonal(factor))
