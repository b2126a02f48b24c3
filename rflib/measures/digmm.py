"""Double-infinite Gaussian mixtures: either part of a signed measure as a Dirichlet-process Gaussian mixture.

After Liu et al. 2020 (TNNLS), the baseline DIGMM of luo2021. It departs from the authors' procedure in this:

- The mixtures are fitted to draws from the signed measure of the kernel itself. The authors fit theirs to
  standard normal draws and the kernel matrix of five random points, shifted by 20 times its smallest
  eigenvalue; that yields one and the same Gaussian whatever the kernel.
- A kernel without a finite signed measure (SphericalPolynomial) lends the draws of its minimum-variance
  measure, which represents it on [0, zmax]. The measure of luo2021's authors does not (see
  `rflib.measures.reference`), and the printed one has a diverging mass.
- The components are isotropic and centred at zero, since the measure is radial: a mixture of scales. Full
  covariances would only spoil the symmetry, and need far more draws than d^2.
- The masses of both parts are those of the measure, and their frequencies are drawn apart, so that any number
  of features is possible; the authors need s >= 2d.

What remains of the method is its bias: a part that is not a mixture of centred Gaussians is represented by the
nearest one.
"""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture
from threadpoolctl import threadpool_limits

from rflib.kernels.base import RadialKernel
from rflib.measures.base import (
    RadialMeasure,
    RadialPart,
    Sampling,
    SpectralMeasure,
    TablePart,
    chi_quantile,
)
from rflib.measures.construct import has_exact_measure
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import exact_measure
from rflib.measures.minimum_variance import minimum_variance

_SEED = 2020
_PINNED = 1e9
_MAX_ITERATIONS = 500
_TABLE_NODES = 4001


def digmm(
    kernel: RadialKernel, domain: Domain, *, n_components: int = 5, n_draws: int = 2000
) -> RadialMeasure:
    """Return the signed measure whose parts are mixtures of centred isotropic Gaussians.

    It is a function of its arguments: the draws have a fixed seed.

    Parameters
    ----------
    kernel : RadialKernel
        One with an exact measure, or any profile, by way of `minimum_variance`.
    domain : Domain
        Dimension, and the distances for `minimum_variance`.
    n_components : int
        Largest number of Gaussians of a part (5 in the authors' procedure); the Dirichlet process may leave
        some without weight.
    n_draws : int
        Frequencies drawn from either part for the fit.

    Raises
    ------
    ValueError
        If they are not integers with 1 <= n_components <= n_draws.
    """
    whole = all(isinstance(n, Integral) and not isinstance(n, bool) for n in (n_components, n_draws))
    if not (whole and 1 <= n_components <= n_draws):
        raise ValueError(
            "digmm: n_components and n_draws must be integers with 1 <= n_components <= n_draws, "
            f"got n_components={n_components!r}, n_draws={n_draws!r}."
        )
    source = _source(kernel, domain, n_draws)
    parts = {sign: _mixture(part, domain.dimension, n_components, n_draws) for sign, part in source.parts()}
    return RadialMeasure(domain.dimension, positive=parts.get(1), negative=parts.get(-1), zmax=source.zmax)


def _source(kernel: RadialKernel, domain: Domain, n_draws: int) -> RadialMeasure:
    measure: SpectralMeasure
    if has_exact_measure(kernel):
        measure = exact_measure(kernel, domain.dimension)
    else:
        measure = minimum_variance(kernel, domain).for_sampling(Sampling(n_draws))
    if not isinstance(measure, RadialMeasure):
        raise ValueError(f"digmm: the spectral measure of {kernel!r} is not radial.")
    return measure


def _mixture(part: RadialPart, d: int, n_components: int, n_draws: int) -> RadialPart:
    """The part with its radii replaced by those of a mixture fitted to draws of frequencies."""
    norms = part.quantile((np.arange(n_draws) + 0.5) / n_draws)
    unit = np.sqrt(np.mean(norms**2) / d)
    if unit == 0:  # The constant.
        return part
    vectors = np.random.default_rng(_SEED).standard_normal((n_draws, d))
    vectors *= (norms / unit / np.linalg.norm(vectors, axis=1))[:, None]
    # In these units the mean square of a coordinate is 1. The prior of the means pins them to zero, that of the
    # variances is the smallest proper one, d observations, with the overall variance as its mean.
    mixture = BayesianGaussianMixture(
        n_components=n_components,
        covariance_type="spherical",
        weight_concentration_prior_type="dirichlet_process",
        mean_prior=np.zeros(d),
        mean_precision_prior=_PINNED,
        degrees_of_freedom_prior=d,
        covariance_prior=d,
        init_params="random_from_data",
        max_iter=_MAX_ITERATIONS,
        random_state=_SEED,
    )
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # A fit that may still improve is a mixture too.
        mixture.fit(vectors)
    return scale_mixture(part.mass, d, mixture.weights_, unit * np.sqrt(mixture.covariances_))


def scale_mixture(mass: float, d: int, weights: NDArray, scales: NDArray) -> TablePart:
    """Return the part with the norms of the Gaussian mixture sum_k weights[k] N(0, scales[k]^2 I_d)."""
    tails = np.geomspace(1e-12, 0.5, _TABLE_NODES // 2)
    chi = chi_quantile(d, np.concatenate([tails, 1 - tails]))
    radii = np.unique(np.append(np.multiply.outer(scales, chi), 0.0))
    cdf = gammainc(d / 2, np.divide.outer(radii, scales) ** 2 / 2) @ weights
    return TablePart(mass, radii, cdf / cdf[-1])
