"""Figure and table: the fits of SRF to polynomial kernels (pennington2015, figure 1), and their losses."""

from itertools import product
from math import pi, sqrt
from typing import Any

import numpy as np

from rflib.report import keys
from rflib.report.kind import Drawing, Figure, Options, Results, Rows, Table
from rflib.report.style import COLOURS, REFERENCE

_DISTANCES = np.linspace(0.02, 2.0, 100)
_FITS = ("ten Gaussians", "best measure")


@Figure.with_options(
    {"a": keys.CURVATURE, "dimension": keys.COUNT, "orders": keys.list_of(keys.COUNT)},
    name="fits",
)
def draw(entry: Options, _: Results, figure: Drawing) -> None:
    """Polynomial kernels of the given `orders` p, the fits of SRF to them, and the densities of the norms.

    The figure shows the paper's ten Gaussians and the best positive measure of all, whose atoms are vertical
    lines.
    """
    from rflib.kernels.polynomial import SphericalPolynomial

    orders, d = entry["orders"], entry["dimension"]
    figure.set_size_inches(3.6 * len(orders), 5.2)
    panels = figure.subplots(2, len(orders), squeeze=False)
    for (kernel_axes, density_axes), p in zip(panels.T, orders, strict=True):
        kernel = SphericalPolynomial(entry["a"], p)
        gaussians, optimum = _fits(kernel, d)
        kernel_axes.plot(_DISTANCES, kernel.at_distance(_DISTANCES), **REFERENCE, label="K")
        for i, (name, measure) in enumerate((("10 Gaussians", gaussians), ("best of all", optimum))):
            style = {"color": COLOURS[i], "linestyle": ("-", ":")[i], "label": name}
            kernel_axes.plot(_DISTANCES, measure.profile(_DISTANCES), **style)
        part = gaussians.positive
        density = np.diff(part.cdf) / np.diff(part.radii)
        density_axes.plot((part.radii[1:] + part.radii[:-1]) / 2, density, color=COLOURS[0])
        radii, probabilities = optimum.positive.quadrature()
        density_axes.vlines(radii, 0, probabilities * density.max(), color=COLOURS[1], linestyle=":")
        low, high = part.quantile(np.array([0.0005, 0.9995]))
        density_axes.set_xlim(min(low, radii.min()) * 0.9, max(high, radii.max()) * 1.1)
        kernel_axes.set_title(f"p = {p}, a = {entry['a']}, d = {d}")
        kernel_axes.set(xlabel="distance z", ylabel="K and its fit")
        density_axes.set(xlabel="frequency norm", ylabel="density")
    panels[0, 0].legend(frameon=False)


@Table.with_options(
    {"a": keys.list_of(keys.CURVATURE), "dimensions": keys.DIMENSIONS, "orders": keys.list_of(keys.COUNT)},
    name="fits",
)
def losses(entry: Options, _: Results) -> Rows:
    """The loss L of the fits of SRF to polynomial kernels, and the bound of pennington2015, eq. (6).

    The fits are the Gaussian exp(-p z^2 / a^2), ten Gaussians, and the best positive measure. The bound is the
    loss of the first fit for large p, (105 / 4096) sqrt(pi / 2) a / p^(5/2).
    """
    from rflib.kernels.gaussian import Gaussian
    from rflib.kernels.polynomial import SphericalPolynomial
    from rflib.measures.srf import fit_loss

    rows = []
    for a, d, p in product(entry["a"], entry["dimensions"], entry["orders"]):
        kernel = SphericalPolynomial(a, p)
        profiles = [Gaussian(a / sqrt(2 * p)).at_distance, *(fit.profile for fit in _fits(kernel, d))]
        names = [f"L, {name}" for name in ("one Gaussian", *_FITS)]
        loss = {name: fit_loss(kernel, profile, 2.0) for name, profile in zip(names, profiles, strict=True)}
        bound = 105 / 4096 * sqrt(pi / 2) * a / p**2.5
        below = "yes" if loss["L, ten Gaussians"] <= bound else "no"
        rows.append({"a": a, "p": p, "d": d, **loss, "bound": bound, "L below the bound": below})
    return rows


def _fits(kernel: Any, d: int) -> tuple[Any, Any]:
    """Return the paper's ten Gaussians and the best positive measure."""
    from rflib.measures.domain import Domain
    from rflib.measures.srf import srf

    domain = Domain(d, 2.0, _DISTANCES)
    return srf(kernel, domain, method="gaussians"), srf(kernel, domain, method="optimum")
