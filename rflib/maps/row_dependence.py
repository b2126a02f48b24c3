"""Which spectral measures depend on the training rows, and not only on their number of columns."""

from __future__ import annotations

import numpy as np

from rflib.kernels.base import Kernel
from rflib.measures.base import SpectralMeasure
from rflib.measures.construct import MeasureLike, construction_of
from rflib.measures.exact_measures import has_exact_measure

_OF_THE_KERNEL_ALONE = ("exact", "digmm_reference", "reference", "truncated_fourier")


def measure_needs_rows(measure: MeasureLike, kernel: Kernel) -> bool:
    """Return whether a map with this measure depends on the training rows.

    It does if `construct` uses the range or the distances of the rows, or if the measure has a range. The range of
    rows of unit norm is always the same.
    """
    if isinstance(measure, SpectralMeasure):
        return bool(np.isfinite(measure.zmax)) and not kernel.unit_norm
    name = construction_of(measure, kernel)["type"]
    if name == "srf":
        return not kernel.unit_norm
    if name == "digmm":
        return not has_exact_measure(kernel)
    return name not in _OF_THE_KERNEL_ALONE
