"""How tables show numbers: a mean and its deviation, with as many digits as the deviation leaves."""

from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Any

import pandas as pd

_STD = " std"
_PRINTED = "published"


@dataclass(frozen=True)
class Column:
    """A column as shown: its name, the text in each row, and its numbers and their deviations (None: a text)."""

    name: str
    texts: list[str]
    keys: list[float] | None
    deviations: list[float] | None = None


def columns(table: pd.DataFrame) -> list[Column]:
    """Return the columns to show; "x" and "x std" become one column "mean ± deviation"."""
    found = []
    for name in table.columns:
        if name.endswith(_STD) and name.removesuffix(_STD) in table:
            continue
        values = table[name]
        if not pd.api.types.is_numeric_dtype(values):
            found.append(Column(str(name), ["" if pd.isna(v) else str(v) for v in values], None))
            continue
        deviations = None
        if f"{name}{_STD}" in table:
            deviations = table[f"{name}{_STD}"]
            show = _as_printed if name == _PRINTED else plus_minus
            texts = [show(m, s) for m, s in zip(values, deviations, strict=True)]
        else:
            texts = _alike(values)
        keys = [float(value) for value in values]
        found.append(Column(str(name), texts, keys, None if deviations is None else list(deviations)))
    return found


def plus_minus(mean: float, std: float) -> str:
    """Return "mean ± std" with two digits of the deviation; the mean alone where there is none."""
    if not isfinite(mean):
        return ""
    if not isfinite(std) or std <= 0:
        return plain(mean)
    exponent = floor(log10(abs(mean))) if mean else 0
    scale = 10.0**exponent if exponent < -3 or exponent > 5 else 1.0
    decimals = max(0, 1 - floor(log10(std / scale)))
    if decimals > 6:
        return f"{plain(mean)} ± {std:.1g}"
    text = f"{mean / scale:.{decimals}f} ± {std / scale:.{decimals}f}"
    return text if scale == 1.0 else f"({text})e{exponent}"


def plain(value: Any) -> str:
    """Return a number to four digits, a whole number in full, and an empty text for a missing one."""
    if pd.isna(value):
        return ""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.4g}"


def _alike(values: pd.Series) -> list[str]:
    """Return numbers with the same number of decimals, if three digits of the largest show two of the smallest."""
    sizes = values[values.notna() & (values != 0)].abs()
    whole = (values.dropna() % 1 == 0).all()
    if whole or sizes.min() < sizes.max() / 10 or not 1e-4 < sizes.max() < 1e4:
        return [plain(value) for value in values]
    decimals = max(0, 2 - floor(log10(sizes.max())))
    return ["" if pd.isna(value) else f"{value:.{decimals}f}" for value in values]


def _as_printed(mean: float, std: float) -> str:
    return f"{mean:.6g} ± {std:.6g}" if isfinite(std) else f"{mean:.6g}"
