"""From the name of a construction to the measure: the one place where a map's ``measure`` is understood."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from rflib.kernels.base import Kernel, RadialKernel
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.measures.base import SpectralMeasure
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import exact_measure, has_exact_measure

# Each construction is the function of this name in the module of this name, called with (kernel, domain).
CONSTRUCTIONS = ("digmm", "minimum_residual", "minimum_variance", "reference", "srf", "truncated_fourier")

_BY_KERNEL = ("auto", "paper", "exact")

MeasureLike = str | Mapping[str, Any] | SpectralMeasure


def construct(measure: MeasureLike, kernel: Kernel, domain: Domain) -> SpectralMeasure:
    """Return the spectral measure that a map's ``measure`` parameter asks for.

    Parameters
    ----------
    measure : str, mapping or SpectralMeasure
        "exact"; "auto" (exact if there is a finite one, else minimum_variance); "paper" (luo2021's: exact, for
        SphericalPolynomial `reference`, else minimum_variance); one of the constructions `digmm`,
        `minimum_residual`, `minimum_variance`, `reference`, `srf`, `truncated_fourier`, or
        ``{"type": name, option: value}``; a measure is returned as it is.
    kernel : Kernel
        The kernel to represent.
    domain : Domain
        The input dimension, and the distances on which the kernel is needed.

    Raises
    ------
    ValueError
        For an unknown name, a kernel that the construction cannot take, or a measure of another dimension.
    """
    if isinstance(measure, SpectralMeasure):
        if measure.dimension != domain.dimension:
            raise ValueError(
                f"The measure is for {measure.dimension} input columns, but the data have {domain.dimension}."
            )
        return measure
    options = construction_of(measure, kernel)
    name = options.pop("type")
    if name == "exact":
        return exact_measure(kernel, domain.dimension)
    if name not in CONSTRUCTIONS:
        choices = ", ".join(map(repr, (*_BY_KERNEL, *CONSTRUCTIONS)))
        raise ValueError(f"measure must be one of {choices}, or a mapping with such a type, got {measure!r}.")
    if not isinstance(kernel, RadialKernel):
        raise ValueError(
            f"measure={name!r} needs a kernel of the Euclidean distance, not {kernel!r}: use measure='exact'."
        )
    return getattr(import_module(f"rflib.measures.{name}"), name)(kernel, domain, **options)


def construction_of(measure: str | Mapping[str, Any], kernel: Kernel) -> dict[str, Any]:
    """Return the construction and its options that a name stands for; "auto" and "paper" depend on the kernel."""
    options = dict(measure) if isinstance(measure, Mapping) else {"type": measure}
    name = options.get("type")
    if name == "paper" and isinstance(kernel, SphericalPolynomial):
        return {**options, "type": "reference"}
    if name in ("paper", "auto"):
        return {**options, "type": "exact" if has_exact_measure(kernel) else "minimum_variance"}
    return {**options, "type": name}
