"""Numbers of columns for the values of s of a study, according to its budget."""

import math
import re
from collections.abc import Iterator
from typing import Any

from rflib.experiment.grids import Study

# An s as the study writes it, its value, and the number of columns.
Columns = tuple[str, float, int]


def blocks_of_columns(study: Study, d: int | None, columns_per_s: int) -> Iterator[tuple[Columns, ...]]:
    """Yield the values of s of each block, with their numbers of columns (for both budgets if the study says so).

    Values that lead to more than ``max_columns`` are left out. If all of them do, the smallest is kept.

    Parameters
    ----------
    study : mapping
        A grid of a study.
    d : int or None
        Number of input columns, if known.
    columns_per_s : int
        Number of columns that the papers give the method for each s.
    """
    factors = {"paper": [columns_per_s], "columns": [4], "both": [columns_per_s, 4], "n_components": [1]}
    items = [item if isinstance(item, list) else [item] for item in study["s"]]
    for factor in dict.fromkeys(factors[study.get("budget", "columns")]):
        blocks = [[_columns(value, d, factor) for value in item] for item in items]
        limit = max(study.get("max_columns", math.inf), min(n for block in blocks for _, _, n in block))
        for block in blocks:
            if kept := tuple(value for value in block if value[2] <= limit):
                yield kept


def _columns(value: Any, d: int | None, factor: int) -> Columns:
    s = _number(value, d)
    return str(value), s, max(1, round(factor * s))


def _number(value: Any, d: int | None) -> float:
    """Return s: a number, or an expression such as d/2, d or 8d in the number of input columns."""
    if isinstance(value, int):
        return value
    match = re.fullmatch(r"(\d*)d(?:/(\d+))?", value)
    if not match:
        raise ValueError(
            f"s must be a positive integer or an expression such as d/2, d or 8d, got {value!r}."
        )
    if d is None:
        raise ValueError(
            f"s = {value!r} needs the number of input columns. Give it as the data set's columns."
        )
    return int(match[1] or 1) * d / int(match[2] or 1)
