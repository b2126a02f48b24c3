"""Measures in npz files, which hold plain arrays and names and no pickled objects."""

from __future__ import annotations

from pathlib import Path

from rflib.files import read_arrays, write_arrays
from rflib.measures.base import SpectralMeasure
from rflib.plain import flatten, unflatten


def save(measure: SpectralMeasure, path: str | Path) -> None:
    """Write a measure to ``path`` (npz)."""
    write_arrays(path, flatten({"measure": measure}))


def load(path: str | Path) -> SpectralMeasure:
    """Read a measure that `save` wrote.

    Raises
    ------
    ValueError
        If the file is damaged or does not hold a measure. The message names the file.
    """
    arrays = read_arrays(path)
    try:
        measure = unflatten(arrays, "measure")
        if not isinstance(measure, SpectralMeasure):
            raise TypeError(f"found {type(measure).__name__}")
        return measure
    except (KeyError, ValueError, TypeError) as error:
        raise ValueError(f"{path} holds no spectral measure ({error}): delete it and run again.") from error
