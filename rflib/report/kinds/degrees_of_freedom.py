"""Table: degrees of freedom of the exact kernel matrices, and numbers of features that suffice."""

import numpy as np

from rflib.report import keys
from rflib.report.cell_table import select
from rflib.report.kind import DataFrame, Options, Results, Table


@Table.with_options(keys.PLACES, ())
def degrees(entry: Options, results: Results) -> DataFrame:
    """Degrees of freedom d_K and D_K of each kernel matrix, and how many features suffice according to liu2020.

    The latter are d_K log d_K and D_K log D_K (table 1). All of these are properties of the exact kernel matrix
    and do not depend on the method that was compared with it.
    """
    matrix = ["dataset", "kernel"]
    d, D = (
        select(results.cells, {**entry, "metric": metric})
        .drop_duplicates([*matrix, "seed"])
        .groupby(matrix, sort=False)["value"]
        .mean()
        for metric in ("effective_degrees", "surrogate_degrees")
    )
    table = d.to_frame("d_K").assign(**{"D_K": D, "d log d": d * np.log(d), "D log D": D * np.log(D)})
    return table.reset_index().rename(columns={"dataset": "data set"})
