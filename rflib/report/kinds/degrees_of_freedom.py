"""Table: degrees of freedom of the exact kernel matrices, and the numbers of features that suffice by them."""

import numpy as np

from rflib.report import keys
from rflib.report.cell_table import select
from rflib.report.kind import DataFrame, Options, Results, Table


@Table.with_options(keys.PLACES, ())
def degrees(entry: Options, results: Results) -> DataFrame:
    """Degrees of freedom d_K and D_K of each kernel matrix, and the numbers of features that suffice by liu2020.

    These are d log d and D log D (table 1), properties of the exact kernel matrix, whatever the method that was
    compared with it.
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
