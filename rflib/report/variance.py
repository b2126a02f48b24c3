"""Figure: what orthogonal directions save of the variance, by formula (luo2021, figure 1 and theorems 4 to 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from rflib.experiment.names import build_kernel
from rflib.measures.base import RadialMeasure
from rflib.measures.construct import CONSTRUCTIONS, construction_of
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import exact_measure
from rflib.measures.reference import reference
from rflib.measures.variance import variance_frame, variance_iid, variance_orthogonal
from rflib.report.style import COLOURS

_LAWS = {"separate blocks": (variance_orthogonal, "-"), "printed frame": (variance_frame, ":")}


def draw_variance(entry: Mapping[str, Any], kernels: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Return Var(GORF) - Var(GRFF) against the distance z, with s = d frequencies for either sign.

    The entry gives ``kernels`` (labels of the study), ``dimensions`` and ``zmax``. The measure is the one that
    luo2021 draws from: exact for the delta-Gaussian, the authors' for the polynomial kernel. The difference is
    scaled by d.
    """
    figure = Figure(figsize=(4.0 * len(entry["kernels"]) + 0.5, 3.2), layout="constrained")
    panels = figure.subplots(1, len(entry["kernels"]), squeeze=False).ravel()
    for axes, label in zip(panels, entry["kernels"], strict=True):
        zmax = 2.0 if kernels[label]["type"] == "SphericalPolynomial" else entry["zmax"]
        z = np.linspace(0, zmax, 25)[1:]
        for i, d in enumerate(entry["dimensions"]):
            measure = _measure(kernels[label], d, z)
            independent = variance_iid(measure, z, d, d)
            for law, (variance, line) in _LAWS.items():
                saved = d * (variance(measure, z, d, d) - independent)
                style = {"color": COLOURS[i], "linestyle": line}
                axes.plot(z, saved, label=f"d = {d}, {law}", **style)
        axes.axhline(0, color="#555555", linewidth=0.8)
        axes.set(title=label, xlabel="distance z", ylabel="d (Var GORF - Var GRFF)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(entry["dimensions"]), frameon=False)
    return figure


def _measure(spec: Mapping[str, Any], d: int, z: np.ndarray) -> RadialMeasure:
    kernel: Any = build_kernel(
        {key: spec[key] for key in spec if key not in ("datasets", "methods", "preprocess")}
    )
    if construction_of("paper", kernel)["type"] in CONSTRUCTIONS:
        measure: Any = reference(kernel, Domain(d, float(z[-1]), z))
    else:
        measure = exact_measure(kernel, d)
    assert isinstance(measure, RadialMeasure)
    return measure
