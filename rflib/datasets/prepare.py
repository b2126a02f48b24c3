"""Prepare: parse a data set once into arrays that can be mapped into memory, and describe them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rflib.datasets.checksum import mismatch
from rflib.datasets.entry import Entry
from rflib.datasets.registry import MODULES, entry_of
from rflib.datasets.user import read_user_file
from rflib.datasets.write import write


def prepare(spec: str | Mapping[str, Any], raw_folder: str | Path, out_folder: str | Path) -> None:
    """Write a data set as X and y, or X_train, y_train, X_test and y_test, and ``meta.json``.

    Arrays are .npy, which can be mapped into memory; sparse inputs are .npz (`scipy.sparse.save_npz`).
    The folder gets its name when it is complete.

    Parameters
    ----------
    spec : str or mapping
        Name in the registry, or the specification of a user file (see `rflib.datasets.user.read_user_file`).
    raw_folder : path
        Folder of the official files, as `rflib.datasets.fetch.fetch` left them.
    out_folder : path
        Folder to write. An older folder is replaced.

    Raises
    ------
    ValueError
        For missing or malformed values; the message names file, row and column. Also if the numbers of rows,
        columns or classes are not those of the entry.
    OSError
        If an official file is missing or not the official one.
    """
    if isinstance(spec, str):
        entry = entry_of(spec)
        blocks, meta = entry.read(_official(spec, entry, Path(raw_folder))), entry.meta(spec)
    else:
        blocks, meta = read_user_file(spec)
    write(blocks, meta, Path(out_folder))


def sources_of(name: str) -> tuple[str, str]:
    """Return the modules that decide, with all that they import, what `prepare` writes for a data set.

    The modules hold the checksums of official files. A user file, which has any name that is not in the registry,
    is known by its own checksum.
    """
    return "rflib.datasets.write", MODULES.get(name, "rflib.datasets.user")


def _official(name: str, entry: Entry, folder: Path) -> list[Path]:
    """Return the official files, each in the form in which it is there."""
    found = []
    for file in entry.files:
        there = [form for form in file.forms if (folder / form.name).exists()]
        if not there:
            raise FileNotFoundError(f"{folder / file.name} is missing. Fetch {name!r} first.")
        path = folder / there[0].name
        if wrong := mismatch(path, there[0]):
            raise OSError(f"{path} is not the official file: {wrong}. Delete it and fetch {name!r} again.")
        found.append(path)
    return found
