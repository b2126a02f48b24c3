"""How a map's parameter ``measure``, a name with or without options, becomes a spectral measure."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from rflib.kernels.base import Kernel
from rflib.measures.base import SpectralMeasure
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import exact_measure, has_exact_measure

# Each construction is the function of this name in the module of this name, called with (kernel, domain).
CONSTRUCTIONS = ("digmm", "digmm_reference", "minimum_variance", "reference", "srf", "truncated_fourier")

MeasureLike = str | Mapping[str, Any] | SpectralMeasure


def construct(measure: MeasureLike, kernel: Kernel, domain: Domain) -> SpectralMeasure:
    """Return the spectral measure that a map's parameter ``measure`` stands for.

    Parameters
    ----------
    measure : str, mapping or SpectralMeasure
        One of the following names, or a mapping ``{"type": name, option: value}`` with options of a construction.
        A measure is returned as it is.

        - "exact": the exact measure of the kernel (`rflib.measures.exact_measure`).
        - "auto": the exact measure if the kernel has a finite one, and otherwise "minimum_variance".
        - "paper": the measure that luo2021 uses, which is "reference" for SphericalPolynomial and otherwise
          "auto".
        - "minimum_variance", "srf", "digmm", "digmm_reference", "reference", "truncated_fourier": a construction,
          which is described in the module of this name in ``rflib.measures``.
    kernel : Kernel
        The kernel to represent.
    domain : Domain
        The number of input columns, and the distances at which the kernel is needed.

    Raises
    ------
    ValueError
        If the name is unknown, the construction cannot take the kernel, or the measure is for another number of
        input columns.
    """
    if isinstance(measure, SpectralMeasure):
        if measure.dimension != domain.dimension:
            raise ValueError(
                f"The measure is for {measure.dimension} input columns, but the data have {domain.dimension}. Use "
                "one that was computed for rows like these."
            )
        return measure
    options = construction_of(measure, kernel)
    name = options.pop("type")
    if name == "exact":
        return exact_measure(kernel, domain.dimension)
    if name not in CONSTRUCTIONS:
        choices = ", ".join(map(repr, ("auto", "paper", "exact", *CONSTRUCTIONS)))
        raise ValueError(f"measure must be one of {choices}, or a mapping with such a type, got {measure!r}.")
    if not kernel.is_radial:
        raise ValueError(
            f"measure={name!r} needs a kernel of the Euclidean distance, got {kernel!r}. Use measure='exact'."
        )
    return getattr(import_module(f"rflib.measures.{name}"), name)(kernel, domain, **options)


def construction_of(measure: str | Mapping[str, Any], kernel: Kernel) -> dict[str, Any]:
    """Return the construction and its options, where "auto" and "paper" are replaced according to the kernel."""
    options = dict(measure) if isinstance(measure, Mapping) else {"type": measure}
    name = options.get("type")
    if name == "paper" and kernel.printed_measure is not None:
        return {**options, "type": kernel.printed_measure}
    if name in ("paper", "auto"):
        return {**options, "type": "exact" if has_exact_measure(kernel) else "minimum_variance"}
    return {**options, "type": name}
