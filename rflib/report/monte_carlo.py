"""Poczos' slides by Monte Carlo: each kernel from its density, and the variance of the two maps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rflib.experiment.names import build_kernel
from rflib.frequencies.draw import sample_frequencies
from rflib.kernels.base import Kernel
from rflib.maps.rff import RFF
from rflib.measures.exact_measures import exact_measure
from rflib.report.style import COLOURS, MARKERS

DENSITIES = {"Gaussian": "normal", "Laplacian": "product of Cauchy", "Cauchy": "product of Laplace"}
_DISTANCES = (0.25, 0.5, 1.0, 2.0)
# |z| above it has a probability of 1e-4: one in 800 tables of a dozen cells
_SURE = 3.9
_MAPS = {"cos_sin": "cos and sin", "phase": "cos with a phase"}


def densities(entry: Mapping[str, Any], kernels: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return k(z) along the first axis beside the mean of cos(w z) over ``draws`` frequencies of the density.

    The entry gives ``kernels`` (labels of the study), ``dimension`` and ``draws``. A z-score beyond 3.9 would tell
    that kernel and density do not belong together.
    """
    rows = []
    for label in entry["kernels"]:
        kernel = _kernel(kernels[label])
        rng = np.random.default_rng(0)
        measure = exact_measure(kernel, entry["dimension"])
        drawn = sample_frequencies(measure, entry["draws"], directions="iid", radii="iid", rng=rng)
        for z in _DISTANCES:
            point = np.zeros((1, entry["dimension"]))
            point[0, 0] = z
            exact = float(kernel(point, np.zeros_like(point))[0, 0])
            cosines = np.cos(drawn.vectors[:, 0] * z)
            error = cosines.std(ddof=1) / np.sqrt(len(cosines))
            score = (cosines.mean() - exact) / error
            verdict = "holds" if abs(score) < _SURE else "fails"
            density = DENSITIES[kernels[label]["type"]]
            rows.append((label, density, z, exact, cosines.mean(), error, score, verdict))
    names = (
        "kernel",
        "density",
        "z",
        "k(z)",
        "mean of cos(w z)",
        "standard error",
        "z-score",
        "verdict of the pair",
    )
    return pd.DataFrame(rows, columns=list(names))


def draw_maps(entry: Mapping[str, Any], kernels: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Return the variance of the estimate of both maps against z: by formula (lines) and over draws (markers).

    With D columns it is (1 + k(2z) - 2 k^2) / D for cos and sin, (1 + k(2z) / 2 - k^2) / D for cos with a phase.
    The entry gives ``kernels``, ``dimension``, ``columns`` D, ``zmax`` and ``draws``.
    """
    labels, D = entry["kernels"], entry["columns"]
    figure = Figure(figsize=(3.4 * len(labels), 3.2), layout="constrained")
    z = np.linspace(0, entry["zmax"], 25)
    points = np.zeros((len(z), entry["dimension"]))
    points[:, 0] = z
    for axes, label in zip(figure.subplots(1, len(labels), squeeze=False).ravel(), labels, strict=True):
        kernel = _kernel(kernels[label])
        k, twice = (kernel(scale * points, points[:1])[:, 0] for scale in (1, 2))
        formulas = {"cos_sin": (1 + twice - 2 * k**2) / D, "phase": (1 + twice / 2 - k**2) / D}
        for i, (layout, name) in enumerate(_MAPS.items()):
            estimates = np.array(
                [_estimate(kernel, layout, D, seed, points) for seed in range(entry["draws"])]
            )
            axes.plot(z, formulas[layout], color=COLOURS[i], label=f"{name}, formula")
            measured = estimates.var(axis=0, ddof=1)
            axes.plot(
                z, measured, color=COLOURS[i], marker=MARKERS[i], linestyle="none", label=f"{name}, measured"
            )
        axes.set(title=label, xlabel="distance z along one axis", ylim=(0, None))
    figure.axes[0].set_ylabel(f"Variance of the estimate, D = {D}")
    handles, texts = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _estimate(kernel: Kernel, layout: str, D: int, seed: int, points: NDArray) -> NDArray:
    features = RFF(kernel, n_components=D, layout=layout, random_state=seed).fit_transform(points)
    return features @ features[0]


def _kernel(spec: Mapping[str, Any]) -> Kernel:
    return build_kernel({key: spec[key] for key in spec if key not in ("datasets", "methods", "preprocess")})
