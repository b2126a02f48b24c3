"""Which kernels the Fourier maps can take."""

from __future__ import annotations

from rflib.kernels.base import Kernel, RadialKernel
from rflib.measures.exact_measures import has_exact_measure, has_positive_measure


def without_positive_measure(kernel: Kernel) -> str | None:
    """Return what to use for a kernel without a known positive spectral measure, or None if it has one."""
    if has_positive_measure(kernel):
        return None
    if has_exact_measure(kernel):
        instead = "GRFF, GORF or MVORF"
    elif isinstance(kernel, RadialKernel):
        instead = "MVORF or SRF"
    else:
        instead = "RandomMaclaurin, TensorSketch or Nystroem"
    return f"{kernel!r} has no positive spectral measure. Use {instead} instead."


def not_radial(kernel: Kernel) -> str | None:
    """Return what to use for a kernel that is not a function of the Euclidean distance, or None if it is one."""
    if isinstance(kernel, RadialKernel):
        return None
    return f"{kernel!r} is not a function of the Euclidean distance. Use RFF or QMC, or Nystroem, instead."
