"""Figure: why the printed measure of the polynomial kernel cannot be used (luo2021, eq. 18 and theorem 3)."""

import numpy as np

from rflib.report import keys
from rflib.report.kind import Drawing, Figure, Options, Results
from rflib.report.style import COLOURS, MARKERS

_DISTANCES = np.linspace(0.25, 1.75, 31)


@Figure.with_options(
    {
        "a": keys.CURVATURE,
        "p": keys.COUNT,
        "dimensions": keys.DIMENSIONS,
        "cutoffs": keys.list_of(keys.POSITIVE),
    }
)
def cutoff(entry: Options, _: Results, figure: Drawing) -> None:
    """Mass and error of the measure that luo2021 prints for the polynomial kernel, by cut-off.

    The error is the root mean square difference between the kernel that the measure represents and the given one,
    over distances in [0.25, 1.75]. No number of features removes it.
    """
    from rflib.kernels.polynomial import SphericalPolynomial
    from rflib.measures.domain import Domain
    from rflib.measures.truncated_fourier import truncated_fourier

    kernel = SphericalPolynomial(entry["a"], entry["p"])
    figure.set_size_inches(8.5, 3.2)
    mass_axes, error_axes = figure.subplots(1, 2)
    for i, d in enumerate(entry["dimensions"]):
        domain = Domain(d, 2.0, _DISTANCES)
        measures = [truncated_fourier(kernel, domain, cutoff=at) for at in entry["cutoffs"]]
        exact = kernel.at_distance(_DISTANCES)
        errors = [np.sqrt(np.mean((m.profile(_DISTANCES) - exact) ** 2)) for m in measures]
        style = {"color": COLOURS[i], "marker": MARKERS[i], "label": f"d = {d}"}
        mass_axes.plot(entry["cutoffs"], [m.total_mass for m in measures], **style)
        error_axes.plot(entry["cutoffs"], errors, **style)
    for axes, label in ((mass_axes, "total mass"), (error_axes, "root mean square error of the kernel")):
        axes.set(xscale="log", yscale="log", xlabel="cut-off of the frequency norm", ylabel=label)
        axes.set_xticks(entry["cutoffs"], [f"{at:g}" for at in entry["cutoffs"]])
        axes.minorticks_off()
    mass_axes.legend(frameon=False)
