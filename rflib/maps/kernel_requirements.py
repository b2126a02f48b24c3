"""Which kernels the Fourier maps can take, and which maps can take a kernel."""

from __future__ import annotations

from rflib.kernels.base import Kernel
from rflib.measures.exact_measures import has_exact_measure, has_positive_measure


def alternatives(kernel: Kernel) -> str:
    """Return a sentence that names maps that can take the kernel."""
    if has_positive_measure(kernel):
        maps = "RFF, ORF or MVORF" if kernel.is_radial else "RFF or QMC"
    elif has_exact_measure(kernel):
        maps = "GRFF, GORF or MVORF"
    elif kernel.is_radial:
        maps = "MVORF or SRF"
    elif kernel.is_dot_product:
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
    if kernel.is_radial:
        return None
    return f"{kernel!r} is not a function of the Euclidean distance. {alternatives(kernel)}"
