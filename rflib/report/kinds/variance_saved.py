"""Figure: the variance that orthogonal directions save, by formula (luo2021, figure 1 and theorems 4 to 6)."""

from typing import Any

import numpy as np

from rflib.report import keys
from rflib.report.kind import Drawing, Figure, Options, Results
from rflib.report.style import COLOURS


@Figure.with_options({"kernels": keys.KERNELS, "dimensions": keys.DIMENSIONS, "zmax": keys.POSITIVE})
def variance(entry: Options, results: Results, figure: Drawing) -> None:
    """Variance of GORF minus that of GRFF by distance, computed by formula.

    There are s = d frequencies for each sign, and the difference is multiplied by d. The measure is the one that
    luo2021 draws from: exact for the delta-Gaussian, and the authors' own for the polynomial kernel.
    """
    from rflib.measures.construct import CONSTRUCTIONS, construction_of
    from rflib.measures.domain import Domain
    from rflib.measures.exact_measures import exact_measure
    from rflib.measures.reference import reference
    from rflib.measures.variance import variance_frame, variance_iid, variance_orthogonal

    laws = {"separate blocks": (variance_orthogonal, "-"), "printed frame": (variance_frame, ":")}
    figure.set_size_inches(4.0 * len(entry["kernels"]) + 0.5, 3.2)
    panels = figure.subplots(1, len(entry["kernels"]), squeeze=False).ravel()
    for axes, label in zip(panels, entry["kernels"], strict=True):
        kernel: Any = results.kernel(label)
        constructed = construction_of("paper", kernel)["type"] in CONSTRUCTIONS
        zmax = 2.0 if kernel.unit_norm else entry["zmax"]
        z = np.linspace(0, zmax, 25)[1:]
        for i, d in enumerate(entry["dimensions"]):
            measure: Any = reference(kernel, Domain(d, zmax, z)) if constructed else exact_measure(kernel, d)
            independent = variance_iid(measure, z, d, d)
            for law, (variance_of_law, line) in laws.items():
                saved = d * (variance_of_law(measure, z, d, d) - independent)
                style = {"color": COLOURS[i], "linestyle": line}
                axes.plot(z, saved, label=f"d = {d}, {law}", **style)
        axes.axhline(0, color="#555555", linewidth=0.8)
        axes.set(title=label, xlabel="distance z", ylabel="d (Var GORF - Var GRFF)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(entry["dimensions"]), frameon=False)
