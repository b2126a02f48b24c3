"""Weka's ARFF: comma-separated values below a header that declares their names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rflib.datasets.formats.checked import open_bytes, reading

if TYPE_CHECKING:
    import pandas as pd


def read_arff(path: Path) -> pd.DataFrame:
    """Return the data of an ARFF file with numeric or nominal columns, named by its attributes."""
    import pandas as pd

    with reading(path, "ARFF"), open_bytes(path) as file:
        names = _arff_names(file)
        table = pd.read_csv(file, header=None, comment="%")
        if table.shape[1] != len(names):
            raise ValueError(
                f"it declares {len(names)} attributes, but its rows have {table.shape[1]} values"
            )
        return table.set_axis(names, axis=1)


def _arff_names(lines: Iterator[bytes]) -> list[str]:
    """Return the names of the attributes, and leave the lines at the data."""
    names = []
    for line in lines:
        words = line.decode().split()
        if words and words[0].lower() == "@attribute" and len(words) > 2:
            names.append(words[1])
        elif words and words[0].lower() == "@data":
            return names
    raise ValueError("it has no @DATA line")
