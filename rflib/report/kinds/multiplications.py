"""Table: the multiplications that a row takes by formula, beside its seconds."""

from __future__ import annotations

from collections.abc import Callable
from math import log2

from rflib.report import keys
from rflib.report.cell_table import at_columns, select
from rflib.report.kind import Options, Results, Rows, Table

Formula = tuple[str, Callable[[int, int, int], float]]

_COSINES: Formula = ("d D / 2", lambda d, D, p: d * D / 2)
_FAST_SKETCH: Formula = ("p (d + D log2 D + 2 D)", lambda d, D, p: p * (d + D * log2(D) + 2 * D))
# Nystroem multiplies a panel of so many columns with the triangle above it, if the kernel is positive definite.
_PANEL = 256
# Input columns from which TensorSketch takes fast Fourier transforms in place of matrix products.
_MANY = 48
FORMULAS: dict[str, Formula] = {
    **dict.fromkeys(("RFF", "ORF", "QMC", "SORF", "GRFF", "GORF", "SRF", "MVORF"), _COSINES),
    **dict.fromkeys(
        ("MomentMatching", "QuadratureFeatures", "QuadratureRFF", "SphericalRadialRFF"), _COSINES
    ),
    "RandomMaclaurin": ("d D, on average", lambda d, D, p: d * D),
    "TensorSketch": ("p D (d + 2)", lambda d, D, p: p * D * (d + 2)),
    "Nystroem": ("d D + D (D + 256) / 2", lambda d, D, p: d * D + D * (D + min(D, _PANEL)) / 2),
}


def formula_of(method: str, d: int) -> Formula | None:
    """Return the formula for a type of method with d input columns, in words and as a function of d, D and p."""
    return _FAST_SKETCH if method == "TensorSketch" and d >= _MANY else FORMULAS.get(method)


@Table.with_options(
    {**keys.PLACES, "n_components": keys.COUNT},
    caption=lambda entry: (
        "The multiplications of numbers that the transform of a row takes by the formula of the map, from d input "
        f"columns to D = {entry['n_components']} columns, with the degree p of a polynomial kernel. Cosines, "
        "kernel functions and additions are not counted. The seconds are medians on one thread. Maps that choose "
        "their structure from the data (OptimizedMaclaurin, PolySketch, CRAFT, MercerFeatures, AutoMap) have no "
        "formula."
    ),
)
def multiplications(entry: Options, results: Results) -> Rows:
    """Multiplications of a row by formula with `n_components` columns, beside its seconds, and their ratio."""
    from rflib.datasets.registry import describe

    timed = at_columns(select(results.cells, {**entry, "metric": "row_microseconds"}))
    timed = timed[timed["n_components"] == entry["n_components"]]
    rows = []
    for (dataset, name, kernel, method), cells in timed.groupby(
        ["dataset", "name", "kernel", "method"], sort=False
    ):
        d, n = int(describe(name)["columns"]), int(entry["n_components"])
        formula = formula_of(results.study["methods"][method]["type"], d)
        if formula is None:
            continue
        degree = getattr(results.kernel(kernel), "p", 0)
        number, seconds = formula[1](d, n, degree) / 1000, cells["value"].median()
        row = {"data set": dataset, "d": d, "kernel": kernel, "method": method, "formula": formula[0]}
        row |= {"thousands of multiplications": number, "microseconds a row": seconds}
        rows.append(row | {"multiplications a nanosecond": number / seconds})
    return rows
