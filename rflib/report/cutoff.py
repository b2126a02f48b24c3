"""Figure: why the printed measure of the polynomial kernel cannot be used (luo2021, eq. 18; theorem 3 fails)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from rflib.kernels.polynomial import SphericalPolynomial
from rflib.measures.domain import Domain
from rflib.measures.truncated_fourier import truncated_fourier
from rflib.report.style import COLOURS, MARKERS

_DISTANCES = np.linspace(0.25, 1.75, 31)


def draw_cutoff(entry: Mapping[str, Any]) -> Figure:
    """Return the total mass and the root mean square error of the measure against its cut-off.

    The entry gives ``a``, ``p``, ``dimensions`` and ``cutoffs``. The error is that of the kernel which the
    measure represents, over distances in [0.25, 1.75]; it is there whatever the number of features.
    """
    kernel = SphericalPolynomial(entry["a"], entry["p"])
    figure = Figure(figsize=(8.5, 3.2), layout="constrained")
    mass_axes, error_axes = figure.subplots(1, 2)
    for i, d in enumerate(entry["dimensions"]):
        domain = Domain(d, 2.0, _DISTANCES)
        measures = [truncated_fourier(kernel, domain, cutoff=cutoff) for cutoff in entry["cutoffs"]]
        exact = kernel.at_distance(_DISTANCES)
        errors = [np.sqrt(np.mean((m.profile(_DISTANCES) - exact) ** 2)) for m in measures]
        style = {"color": COLOURS[i], "marker": MARKERS[i], "label": f"d = {d}"}
        mass_axes.plot(entry["cutoffs"], [m.total_mass for m in measures], **style)
        error_axes.plot(entry["cutoffs"], errors, **style)
    for axes, label in ((mass_axes, "total mass"), (error_axes, "root mean square error of the kernel")):
        axes.set(xscale="log", yscale="log", xlabel="cut-off of the frequency norm", ylabel=label)
        axes.set_xticks(entry["cutoffs"], [f"{cutoff:g}" for cutoff in entry["cutoffs"]])
        axes.minorticks_off()
    mass_axes.legend(frameon=False)
    return figure
