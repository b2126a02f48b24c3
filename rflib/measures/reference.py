"""The measure that the authors of luo2021 used: it is biased, and serves only to reproduce their printed numbers.

For the polynomial kernel on the sphere, their norms follow |p(w)| of equation 18 itself, on 20,000 points of [0,
100]. The surface factor w^(d-1), which the norm of a frequency with the density p has, is missing, as it is in
equation 5. The masses of both parts are divided by their sum. For large d, the kernel that this represents tends
to (1 + z^2/4)^(-1/2) whatever a and p are. That is close to the kernel at p = 1, which is the authors' experiment
(the relative error is about .016 on the data set letter), but the error is .6 and more at a = 4, p = 10.
"""

from __future__ import annotations

import numpy as np

from rflib.kernels.base import RadialKernel
from rflib.measures.base import DiscretePart, RadialMeasure
from rflib.measures.domain import Domain
from rflib.measures.truncated_fourier import log_density

_CUTOFF = 100.0
_POINTS = 20_000


def reference(kernel: RadialKernel, domain: Domain) -> RadialMeasure:
    """Return the measure behind the numbers that luo2021 prints for the polynomial kernel, which is biased.

    Of the domain, only the dimension is used.

    Raises
    ------
    ValueError
        If the kernel is not a SphericalPolynomial.
    """
    radii = np.linspace(0, _CUTOFF, _POINTS)
    sign, log_size = log_density(kernel, domain.dimension, radii)
    size = np.exp(log_size - log_size.max())
    size /= size.sum()
    return RadialMeasure.of_masses(DiscretePart, domain.dimension, radii, sign * size)
