"""The measure that luo2021's authors used: biased, kept only to reproduce their printed numbers.

For the polynomial kernel on the sphere their radii follow |p(w)| of eq. (18) itself, on 20,000 points of
[0, 100], without the surface factor w^(d-1) that the norm of a frequency with the density p has (eq. 5 omits
it), and the masses of both parts are divided by their sum. What this represents tends to the kernel
(1 + z^2/4)^(-1/2) for large d, whatever a and p: near enough at p = 1 (their experiments; relative error about
.016 on letter), .6 and more at a = 4, p = 10. The estimate is nearly constant, hence its low published error.

For the delta-Gaussian kernel the published numbers are those of the exact measure: the rule without the surface
factor gives a relative error of .92 at every number of features.
"""

from __future__ import annotations

import numpy as np

from rflib.kernels.base import RadialKernel
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.measures.base import DiscretePart, RadialMeasure, SpectralMeasure
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import exact_measure
from rflib.measures.truncated_fourier import log_density

_CUTOFF = 100.0
_POINTS = 20_000


def reference(kernel: RadialKernel, domain: Domain) -> SpectralMeasure:
    """Return the measure behind the numbers that luo2021 prints; not unbiased for the polynomial kernel.

    Parameters
    ----------
    kernel : SphericalPolynomial or DeltaGaussian
        The kernels of luo2021. For DeltaGaussian it is `exact_measure`'s.
    domain : Domain
        Its dimension is used.

    Raises
    ------
    ValueError
        For another kernel.
    """
    if isinstance(kernel, DeltaGaussian):
        return exact_measure(kernel, domain.dimension)
    if not isinstance(kernel, SphericalPolynomial):
        raise ValueError(
            f"measure='reference' exists for luo2021's kernels, SphericalPolynomial and DeltaGaussian, not for "
            f"{kernel!r}: use measure='auto'."
        )
    radii = np.linspace(0, _CUTOFF, _POINTS)
    sign, log_size = log_density(kernel, domain.dimension, radii)
    size = np.exp(log_size - log_size.max())
    size /= size.sum()
    return RadialMeasure(
        domain.dimension,
        positive=DiscretePart.of_masses(radii[sign > 0], size[sign > 0]),
        negative=DiscretePart.of_masses(radii[sign < 0], size[sign < 0]),
    )
