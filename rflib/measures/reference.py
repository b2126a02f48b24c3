"""The measure that the authors of luo2021 used: it is biased, and serves only to reproduce their printed numbers.

For the polynomial kernel on the sphere, their norms follow |p(w)| of equation 18 itself, on 20,000 points of [0,
100]. The surface factor w^(d-1), which the norm of a frequency with the density p has, is missing, as it is in
equation 5. The masses of both parts are divided by their sum. For large d, the kernel that this represents tends
to (1 + z^2/4)^(-1/2) whatever a and p are. That is close to the kernel at p = 1, which is the authors' experiment
(the relative error is about .016 on the data set letter), but the error is .6 and more at a = 4, p = 10. The
estimate is nearly constant, which explains its low published error.

For the delta-Gaussian kernel, the published numbers are those of the exact measure. The rule without the surface
factor would give a relative error of .92 at every number of features.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from rflib.kernels.base import RadialKernel
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.measures.base import DiscretePart, RadialMeasure, SpectralMeasure
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import exact_measure
from rflib.measures.truncated_fourier import log_density

_CUTOFF = 100.0
_POINTS = 20_000


def reference(kernel: RadialKernel, domain: Domain) -> SpectralMeasure:
    """Return the measure behind the numbers that luo2021 prints, which is biased for the polynomial kernel.

    For DeltaGaussian it is the exact measure. Of the domain, only the dimension is used.

    Raises
    ------
    ValueError
        If the kernel is neither SphericalPolynomial nor DeltaGaussian.
    """
    if kernel.printed_measure == "exact":
        return exact_measure(kernel, domain.dimension)
    if kernel.printed_measure != "reference":
        raise ValueError(
            "measure='reference' exists for luo2021's kernels, SphericalPolynomial and DeltaGaussian, but not "
            f"for {kernel!r}. Use measure='auto'."
        )
    radii = np.linspace(0, _CUTOFF, _POINTS)
    sign, log_size = log_density(cast(SphericalPolynomial, kernel), domain.dimension, radii)
    size = np.exp(log_size - log_size.max())
    size /= size.sum()
    return RadialMeasure(
        domain.dimension,
        positive=DiscretePart.of_masses(radii[sign > 0], size[sign > 0]),
        negative=DiscretePart.of_masses(radii[sign < 0], size[sign < 0]),
    )
