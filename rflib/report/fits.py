"""SRF's fits of polynomial kernels: a figure (pennington2015, figure 1), and their losses as a table."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import pi, sqrt
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rflib.kernels.gaussian import Gaussian
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.measures.base import TablePart
from rflib.measures.domain import Domain
from rflib.measures.srf import fit_loss, srf
from rflib.report.style import COLOURS, REFERENCE

_DISTANCES = np.linspace(0.02, 2.0, 100)


def draw_fits(entry: Mapping[str, Any]) -> Figure:
    """Return, for each p of the entry, K and its fit against z, and the density of the frequencies' norms.

    The entry gives ``a``, ``dimension`` and ``orders``. Shown are the paper's ten Gaussians, and the best
    positive measure of all, whose atoms are lines.
    """
    orders, d = entry["orders"], entry["dimension"]
    figure = Figure(figsize=(3.6 * len(orders), 5.2), layout="constrained")
    panels = figure.subplots(2, len(orders), squeeze=False)
    for (kernel_axes, density_axes), p in zip(panels.T, orders, strict=True):
        kernel = SphericalPolynomial(entry["a"], p)
        gaussians, optimum = (srf(kernel, _domain(d), method=m) for m in ("gaussians", "optimum"))
        kernel_axes.plot(_DISTANCES, kernel.at_distance(_DISTANCES), **REFERENCE, label="K")
        for i, (name, measure) in enumerate((("10 Gaussians", gaussians), ("best of all", optimum))):
            kernel_axes.plot(
                _DISTANCES, measure.profile(_DISTANCES), color=COLOURS[i], linestyle=("-", ":")[i], label=name
            )
        part = gaussians.positive
        assert isinstance(part, TablePart)
        density = np.diff(part.cdf) / np.diff(part.radii)
        density_axes.plot((part.radii[1:] + part.radii[:-1]) / 2, density, color=COLOURS[0])
        radii, probabilities = (
            optimum.positive.quadrature() if optimum.positive else (np.empty(0), np.empty(0))
        )
        density_axes.vlines(radii, 0, probabilities * density.max(), color=COLOURS[1], linestyle=":")
        low, high = part.quantile(np.array([0.0005, 0.9995]))
        density_axes.set_xlim(min(low, radii.min()) * 0.9, max(high, radii.max()) * 1.1)
        kernel_axes.set(
            title=f"p = {p}, a = {entry['a']}, d = {d}", xlabel="distance z", ylabel="K and its fit"
        )
        density_axes.set(xlabel="frequency norm", ylabel="density")
    panels[0, 0].legend(frameon=False)
    return figure


def fits(entry: Mapping[str, Any]) -> pd.DataFrame:
    """Return L = 1/2 int_0^2 (K - K_hat)^2 dz of three fits, beside the bound of eq. (6).

    The entry gives ``a``, ``dimensions`` and ``orders``. The fits are the Gaussian exp(-p z^2 / a^2), ten
    Gaussians, and the best positive measure. The bound, the loss of the first for large p, is
    (105 / 4096) sqrt(pi / 2) a / p^(5/2).
    """
    rows = []
    for a, d, p in product(entry["a"], entry["dimensions"], entry["orders"]):
        kernel = SphericalPolynomial(a, p)
        single = fit_loss(kernel, Gaussian(a / sqrt(2 * p)).at_distance, 2.0)
        ten, best = (
            fit_loss(kernel, srf(kernel, _domain(d), method=m).profile, 2.0) for m in ("gaussians", "optimum")
        )
        bound = 105 / 4096 * sqrt(pi / 2) * a / p**2.5
        verdict = "holds" if ten <= bound else "fails"
        rows.append((a, p, d, single, ten, best, bound, verdict))
    names = (
        "a",
        "p",
        "d",
        "L, one Gaussian",
        "L, ten Gaussians",
        "L, best measure",
        "bound",
        "L below the bound",
    )
    return pd.DataFrame(rows, columns=list(names))


def _domain(d: int) -> Domain:
    return Domain(d, 2.0, _DISTANCES)
