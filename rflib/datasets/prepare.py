"""Prepare: parse a data set once into arrays that can be mapped into memory, with a description beside them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse, save_npz

from rflib.datasets.fetch import FetchError, verified
from rflib.datasets.parsers import checked
from rflib.datasets.readers import READERS, Arrays
from rflib.datasets.registry import entry_of
from rflib.datasets.user import read_user_file


def prepare(spec: str | Mapping[str, Any], raw_folder: Path, out_folder: Path) -> None:
    """Write X and y, or X_train, y_train, X_test and y_test, as .npy (sparse inputs as .npz), and meta.json.

    The folder appears when it is complete, under its name at once; meta.json is its last file.

    Parameters
    ----------
    spec : str or mapping
        Name in the registry, or a user's file (see `rflib.datasets.user`).
    raw_folder : Path
        Folder of the official files, as `fetch` left them.
    out_folder : Path
        Folder to write; an older one is replaced.

    Raises
    ------
    ValueError
        For missing or malformed values; the message names file, row and column.
    FetchError
        If an official file is missing or not the official one.
    """
    raw_folder, out_folder = Path(raw_folder), Path(out_folder)
    if isinstance(spec, str):
        entry = entry_of(spec)
        paths = [raw_folder / file.name for file in entry.files]
        for path, file in zip(paths, entry.files, strict=True):
            if not path.exists() or not verified(path, file):
                raise FetchError(f"{path} is missing or not the official file: fetch {spec!r} first.")
        arrays = READERS[entry.reader](paths)
        meta = {"name": spec, "task": entry.task, "split": entry.split, "source": entry.source}
        origin = paths[0] if paths else Path(spec)
    else:
        arrays, meta = read_user_file(spec)
        origin = Path(spec["file"])
    _write(arrays, meta, origin, out_folder)


def _write(arrays: Arrays, meta: Mapping[str, Any], origin: Path, out_folder: Path) -> None:
    temporary = out_folder.with_name(f".{out_folder.name}.{os.getpid()}.part")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        for name, array in arrays.items():
            if issparse(array):
                save_npz(temporary / f"{name}.npz", csr_matrix(array))
            else:
                np.save(temporary / f"{name}.npy", checked(origin, array) if name.startswith("X") else array)
        shapes = {name: list(array.shape) for name, array in arrays.items()}
        (temporary / "meta.json").write_text(
            json.dumps({**meta, "shapes": shapes}, indent=2), encoding="utf-8"
        )
        shutil.rmtree(out_folder, ignore_errors=True)
        os.replace(temporary, out_folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
