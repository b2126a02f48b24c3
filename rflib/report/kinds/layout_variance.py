"""Figure: the variance of the two layouts of columns, cosine and sine or cosine with a random phase."""

from typing import Any

import numpy as np

from rflib.maps.parameters import Layout
from rflib.report import keys
from rflib.report.kind import Drawing, Figure, Options, Results
from rflib.report.style import COLOURS, MARKERS, legend_below

_LAYOUTS: dict[Layout, str] = {"cos_sin": "cosine and sine", "phase": "cosine with a random phase"}


@Figure.with_options(
    {
        **{"kernels": keys.KERNELS, "dimension": keys.COUNT, "columns": keys.COUNT},
        **{"zmax": keys.POSITIVE, "draws": keys.SEVERAL},
    }
)
def maps(entry: Options, results: Results, figure: Drawing) -> None:
    """Variance of the layouts "cosine and sine" and "cosine with a random phase", by formula and over `draws`.

    With D columns, it is (1 + k(2z) - 2 k^2) / D for the first and (1 + k(2z) / 2 - k^2) / D for the second.
    """
    from rflib.maps.rff import RFF

    D, handles = entry["columns"], dict[str, Any]()
    figure.set_size_inches(3.4 * len(entry["kernels"]), 3.2)
    z = np.linspace(0, entry["zmax"], 25)
    points = np.zeros((len(z), entry["dimension"]))
    points[:, 0] = z
    panels = figure.subplots(1, len(entry["kernels"]), squeeze=False).ravel()
    for axes, label in zip(panels, entry["kernels"], strict=True):
        kernel = results.kernel(label)
        k, twice = (kernel(scale * points, points[:1])[:, 0] for scale in (1, 2))
        formulas = {"cos_sin": (1 + twice - 2 * k**2) / D, "phase": (1 + twice / 2 - k**2) / D}
        for i, (layout, name) in enumerate(_LAYOUTS.items()):
            draws = (RFF(kernel, D, layout=layout, random_state=seed) for seed in range(entry["draws"]))
            estimates = np.array([Z @ Z[0] for Z in (draw.fit_transform(points) for draw in draws)])
            style = {"color": COLOURS[i], "marker": MARKERS[i], "linestyle": "none"}
            (formula,) = axes.plot(z, formulas[layout], color=COLOURS[i])
            (measured,) = axes.plot(z, estimates.var(axis=0, ddof=1), **style)
            handles |= {f"{name}, formula": formula, f"{name}, measured": measured}
        axes.set(title=label, xlabel="distance z along one axis", ylim=(0, None))
    figure.axes[0].set_ylabel(f"Variance of the estimate, D = {D}")
    legend_below(figure, handles, 2)
