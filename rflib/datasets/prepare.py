"""Prepare: parse a data set once into arrays that can be mapped into memory, with a description beside them."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse, save_npz, vstack

from rflib.datasets.checksum import mismatch
from rflib.datasets.entry import Entry
from rflib.datasets.npy import NpyWriter
from rflib.datasets.readers import READERS, Block
from rflib.datasets.registry import entry_of
from rflib.datasets.user import read_user_file
from rflib.files import explained


def prepare(spec: str | Mapping[str, Any], raw_folder: str | Path, out_folder: str | Path) -> None:
    """Write a data set as X and y, or X_train, y_train, X_test and y_test, and ``meta.json``.

    Arrays are .npy, which can be mapped into memory; sparse inputs are .npz (`scipy.sparse.save_npz`).
    The folder appears when it is complete, under its name at once.

    Parameters
    ----------
    spec : str or mapping
        Name in the registry, or a user's file (see `rflib.datasets.user.read_user_file`).
    raw_folder : path
        Folder of the official files, as `rflib.datasets.fetch.fetch` left them.
    out_folder : path
        Folder to write; an older one is replaced.

    Raises
    ------
    ValueError
        For missing or malformed values; the message names file, row and column. For a file that does not hold the
        rows, columns or classes of its entry.
    OSError
        If an official file is missing or not the official one.
    """
    if isinstance(spec, str):
        entry = entry_of(spec)
        blocks, meta = READERS[entry.reader](_official(spec, entry, Path(raw_folder))), _about(spec, entry)
    else:
        blocks, meta = read_user_file(spec)
    _write(blocks, meta, Path(out_folder))


def _official(name: str, entry: Entry, folder: Path) -> list[Path]:
    paths = [folder / file.name for file in entry.files]
    for path, file in zip(paths, entry.files, strict=True):
        if not path.exists():
            raise FileNotFoundError(f"{path} is missing: fetch {name!r} first.")
        if wrong := mismatch(path, file):
            raise OSError(f"{path} is not the official file: {wrong}. Delete it and fetch {name!r} again.")
    return paths


def _about(name: str, entry: Entry) -> dict[str, Any]:
    files = [
        {"name": file.name, "url": file.urls[0] if file.urls else None, "checksum": " ".join(file.checksum)}
        for file in entry.files
    ]
    counts = {"rows": entry.rows, "columns": entry.columns, "classes": entry.classes}
    source = {"citation": entry.citation, "licence": entry.licence, "files": files}
    return {
        "name": name,
        "task": entry.task,
        "split": entry.split,
        "scaling": entry.scaling,
        **counts,
        **source,
    }


def _write(blocks: Iterable[Block], meta: Mapping[str, Any], out_folder: Path) -> None:
    temporary = out_folder.with_name(f".{out_folder.name}.{os.getpid()}.part")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        with explained(out_folder):
            temporary.mkdir(parents=True)
            shapes, labels = _write_arrays(blocks, temporary, meta["task"])
            found = _counts(shapes, labels, meta["task"])
            for key, value in found.items():
                if meta.get(key, value) != value:
                    raise ValueError(
                        f"data set {meta['name']!r} has {value} {key}, but {meta[key]} are expected."
                    )
            rows_of = {str(label): count for label, count in sorted(labels.items())}
            text = json.dumps({**meta, **found, "rows_of_label": rows_of, "shapes": shapes}, indent=2)
            (temporary / "meta.json").write_text(text + "\n", encoding="utf-8")
            shutil.rmtree(out_folder, ignore_errors=True)
            os.replace(temporary, out_folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write_arrays(
    blocks: Iterable[Block], folder: Path, task: str
) -> tuple[dict[str, tuple[int, ...]], Counter[int]]:
    """Write each part's arrays as the blocks come; return their shapes, and how many rows each label has."""
    writers: dict[str, NpyWriter] = {}
    sparse: dict[str, list[csr_matrix]] = {}
    labels: Counter[int] = Counter()
    with ExitStack() as stack:
        for part, X, y in blocks:
            suffix = "" if part == "all" else f"_{part}"
            for name, array in ((f"X{suffix}", X), (f"y{suffix}", y)):
                if issparse(array):
                    sparse.setdefault(name, []).append(array)
                    continue
                if name not in writers:
                    writers[name] = stack.enter_context(NpyWriter(folder / f"{name}.npy"))
                writers[name].append(np.asarray(array))
            if task == "classification":
                labels.update(dict(zip(*(a.tolist() for a in np.unique(y, return_counts=True)), strict=True)))
    shapes = {name: writer.shape for name, writer in writers.items()}
    for name, pieces in sparse.items():
        whole = vstack(pieces, format="csr")
        save_npz(folder / f"{name}.npz", whole)
        shapes[name] = whole.shape
    return shapes, labels


def _counts(shapes: Mapping[str, tuple[int, ...]], labels: Counter[int], task: str) -> dict[str, int | None]:
    inputs = [shape for name, shape in shapes.items() if name.startswith("X")]
    classes = len(labels) if task == "classification" else None
    return {"rows": sum(shape[0] for shape in inputs), "columns": inputs[0][1], "classes": classes}
