"""Which measures are the same whatever rows a map is fitted on, as long as they have as many columns."""

from __future__ import annotations

import numpy as np

from rflib.kernels.base import Kernel
from rflib.measures.base import SpectralMeasure
from rflib.measures.construct import MeasureLike, construction_of
from rflib.measures.exact_measures import has_exact_measure

_OF_THE_KERNEL_ALONE = ("exact", "reference", "truncated_fourier")


def measure_needs_rows(measure: MeasureLike, kernel: Kernel) -> bool:
    """Return whether `construct` uses the range of the rows or their distances, or a map the range of the measure.

    Rows of unit norm have the same range whatever they are.
    """
    if isinstance(measure, SpectralMeasure):
        return bool(np.isfinite(measure.zmax)) and not kernel.unit_norm
    name = construction_of(measure, kernel)["type"]
    if name == "srf":
        return not kernel.unit_norm
    if name == "digmm":
        return not has_exact_measure(kernel)
    return name not in _OF_THE_KERNEL_ALONE
