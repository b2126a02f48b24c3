"""Table: each kernel, and the characteristic function of its density by Monte Carlo."""

import numpy as np

from rflib.report import keys
from rflib.report.kind import Options, Results, Rows, Table

DENSITIES = {"Gaussian": "normal", "Laplacian": "product of Cauchy", "Cauchy": "product of Laplace"}
_DISTANCES = (0.25, 0.5, 1.0, 2.0)
# |z| above it has a probability of 1e-4: one in 800 tables of a dozen cells
_SURE = 3.9


@Table.with_options({"kernels": keys.KERNELS, "dimension": keys.COUNT, "draws": keys.SEVERAL})
def densities(entry: Options, results: Results) -> Rows:
    """Kernel k(z) at several distances z, and the mean of cos(w z) over `draws` frequencies w from its density.

    A z-score beyond 3.9 shows that kernel and density do not match.
    """
    from rflib.frequencies.draw import sample_frequencies
    from rflib.measures.exact_measures import exact_measure

    rows = []
    for label in entry["kernels"]:
        kernel = results.kernel(label)
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
            pair = {"kernel": label, "density": DENSITIES[type(kernel).__name__], "z": z, "k(z)": exact}
            mean = {"mean of cos(w z)": cosines.mean(), "standard error": error, "z-score": score}
            rows.append({**pair, **mean, "match": "yes" if abs(score) < _SURE else "no"})
    return rows
