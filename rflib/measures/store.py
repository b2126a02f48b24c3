"""Measures in npz files, which hold plain arrays and names and no pickled objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rflib.files import read_arrays, write_arrays
from rflib.measures import atomic, base, digmm_reference, exact_measures
from rflib.measures.base import SpectralMeasure

_CLASSES: dict[str, type] = {
    name: value
    for module in (atomic, base, digmm_reference, exact_measures)
    for name, value in vars(module).items()
    if is_dataclass(value) and isinstance(value, type)
}


def save(measure: SpectralMeasure, path: str | Path) -> None:
    """Write a measure to ``path`` (npz)."""
    write_arrays(path, dict(_flatten("measure", measure)))


def load(path: str | Path) -> SpectralMeasure:
    """Read a measure that `save` wrote.

    Raises
    ------
    ValueError
        If the file is damaged or does not hold a measure. The message names the file.
    """
    arrays = read_arrays(path)
    try:
        measure = _unflatten("measure", arrays)
        if not isinstance(measure, SpectralMeasure):
            raise TypeError(f"found {type(measure).__name__}")
        return measure
    except (KeyError, ValueError, TypeError) as error:
        raise ValueError(f"{path} holds no spectral measure ({error}): delete it and run again.") from error


def _flatten(name: str, value: Any) -> Iterator[tuple[str, NDArray]]:
    if is_dataclass(value):
        yield f"{name}/class", np.array(type(value).__name__)
        for field in fields(value):
            yield from _flatten(f"{name}/{field.name}", getattr(value, field.name))
    elif isinstance(value, tuple):
        yield f"{name}/length", np.array(len(value))
        for i, item in enumerate(value):
            yield from _flatten(f"{name}/{i}", item)
    elif value is not None:
        yield name, np.asarray(value)


def _unflatten(name: str, archive: Mapping[str, NDArray]) -> Any:
    if f"{name}/class" in archive:
        cls = _CLASSES[str(archive[f"{name}/class"])]
        return cls(
            **{field.name: _unflatten(f"{name}/{field.name}", archive) for field in fields(cls) if field.init}
        )
    if f"{name}/length" in archive:
        return tuple(_unflatten(f"{name}/{i}", archive) for i in range(int(archive[f"{name}/length"])))
    value = archive.get(name)
    return value.item() if value is not None and value.ndim == 0 else value
