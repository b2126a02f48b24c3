"""Double-infinite Gaussian mixtures: each part of a signed measure becomes a Dirichlet-process Gaussian mixture.

The method is that of Liu et al. 2020 (TNNLS), which is the baseline DIGMM of luo2021. This implementation departs
from the authors' code in the following:

- The mixtures are fitted to draws from the signed measure of the kernel itself. The authors fit theirs to standard
  normal draws, which gives the same Gaussian for every kernel (`rflib.measures.digmm_reference`).
- For a kernel without a finite signed measure (SphericalPolynomial), draws from its minimum-variance measure are
  used, which represents the kernel on [0, zmax].
- The Gaussians of a mixture are isotropic and centred at zero, because the measure is radial.
- The masses of both parts are those of the measure, and their frequencies are drawn separately, so that any number
  of features is possible.

As in the original method, the estimate is biased: a part is represented by the nearest such mixture.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

from rflib.kernels.base import RadialKernel
from rflib.measures.base import RadialMeasure, RadialPart, Sampling, TablePart, chi_quantile
from rflib.measures.digmm_reference import fitted_mixture
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import exact_measure, has_exact_measure
from rflib.measures.minimum_variance import minimum_variance

_SEED = 2020
_PINNED = 1e9
_MAX_ITERATIONS = 500
_TABLE_NODES = 4001


def digmm(
    kernel: RadialKernel, domain: Domain, *, n_components: int = 5, n_draws: int = 2000
) -> RadialMeasure:
    """Return the signed measure whose parts are mixtures of centred isotropic Gaussians.

    The result depends only on the arguments, because the draws have a fixed seed. A kernel without an exact
    measure has its minimum-variance measure on the domain. A part has at most n_components Gaussians, five in
    the authors' code, and is fitted to n_draws frequencies, which must be as many at least.

    Raises
    ------
    ValueError
        If the measure of the kernel is not radial, or scikit-learn refuses one of the numbers.
    """
    if has_exact_measure(kernel):
        source = exact_measure(kernel, domain.dimension)
    else:
        source = minimum_variance(kernel, domain).for_sampling(Sampling(n_draws))
    if not isinstance(source, RadialMeasure):
        raise ValueError(f"digmm: the spectral measure of {kernel!r} is not radial. Use measure='exact'.")
    parts = {sign: _mixture(part, domain.dimension, n_components, n_draws) for sign, part in source.parts()}
    return RadialMeasure(domain.dimension, positive=parts.get(1), negative=parts.get(-1), zmax=source.zmax)


def _mixture(part: RadialPart, d: int, n_components: int, n_draws: int) -> RadialPart:
    """Return the part with its norms replaced by those of a mixture that is fitted to drawn frequencies."""
    norms = part.quantile((np.arange(n_draws) + 0.5) / n_draws)
    unit = np.sqrt(np.mean(norms**2) / d)
    if unit == 0:  # The constant.
        return part
    vectors = np.random.default_rng(_SEED).standard_normal((n_draws, d))
    vectors *= (norms / unit / np.linalg.norm(vectors, axis=1))[:, None]
    # The priors fix the means at zero, and are the weakest proper ones of the variances, with their overall mean.
    mixture = fitted_mixture(
        vectors,
        n_components=n_components,
        covariance_type="spherical",
        mean_prior=np.zeros(d),
        mean_precision_prior=_PINNED,
        degrees_of_freedom_prior=d,
        covariance_prior=d,
        init_params="random_from_data",
        max_iter=_MAX_ITERATIONS,
        random_state=_SEED,
    )
    return scale_mixture(part.mass, d, mixture.weights_, unit * np.sqrt(mixture.covariances_))


def scale_mixture(mass: float, d: int, weights: NDArray, scales: NDArray) -> TablePart:
    """Return the part whose norms are those of the Gaussian mixture sum_k weights[k] N(0, scales[k]^2 I_d)."""
    tails = np.geomspace(1e-12, 0.5, _TABLE_NODES // 2)
    chi = chi_quantile(d, np.concatenate([tails, 1 - tails]))
    radii = np.unique(np.append(np.multiply.outer(scales, chi), 0.0))
    cdf = gammainc(d / 2, np.divide.outer(radii, scales) ** 2 / 2) @ weights
    return TablePart(mass, radii, cdf / cdf[-1])
