"""Which kernels the Fourier maps can take, and which maps can take a kernel."""

from __future__ import annotations

from rflib.kernels.base import DotProductKernel, Kernel, RadialKernel
from rflib.measures.exact_measures import has_exact_measure, has_positive_measure


def alternatives(kernel: Kernel) -> str:
    """Return a sentence that names maps that can take the kernel."""
    if has_positive_measure(kernel):
        maps = "RFF, ORF or MVORF" if isinstance(kernel, RadialKernel) else "RFF or QMC"
    elif has_exact_measure(kernel):
        maps = "GRFF, GORF or MVORF"
    elif isinstance(kernel, RadialKernel):
        maps = "MVORF or SRF"
    elif isinstance(kernel, DotProductKernel):
        maps = "OptimizedMaclaurin or RandomMaclaurin"
    else:
        return "Use Nystroem instead."
    return f"Use {maps}, or Nystroem, instead."


def without_positive_measure(kernel: Kernel) -> str | None:
    """Return what to use for a kernel without a known positive spectral measure, or None if it has one."""
    if has_positive_measure(kernel):
        return None
    return f"{kernel!r} has no positive spectral measure. {alternatives(kernel)}"


def not_radial(kernel: Kernel) -> str | None:
    """Return what to use for a kernel that is not a function of the Euclidean distance, or None if it is one."""
    if isinstance(kernel, RadialKernel):
        return None
    return f"{kernel!r} is not a function of the Euclidean distance. {alternatives(kernel)}"
