"""Write blocks of rows as the arrays of a prepared data set, with their description."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse, save_npz, vstack

from rflib.datasets.checksum import checksum
from rflib.datasets.entry import Blocks
from rflib.datasets.npy import NpyWriter
from rflib.files import explained


def write(blocks: Blocks, meta: Mapping[str, Any], out_folder: Path) -> None:
    """Write blocks of rows as arrays, with their description. The folder gets its name when it is complete.

    Raises ValueError if the numbers of rows, columns or classes are not those of the description.
    """
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
            digests = {file.name: checksum(file) for file in sorted(temporary.iterdir())}
            about = {**meta, **found, "rows_of_label": rows_of, "shapes": shapes, "digests": digests}
            text = json.dumps(about, indent=2)
            (temporary / "meta.json").write_text(text + "\n", encoding="utf-8")
            shutil.rmtree(out_folder, ignore_errors=True)
            os.replace(temporary, out_folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write_arrays(blocks: Blocks, folder: Path, task: str) -> tuple[dict[str, tuple[int, ...]], Counter[int]]:
    """Write the arrays of each part as the blocks arrive. Return their shapes and the rows of each label."""
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
        whole.sum_duplicates()
        whole.eliminate_zeros()
        save_npz(folder / f"{name}.npz", whole)
        shapes[name] = whole.shape
    return shapes, labels


def _counts(shapes: Mapping[str, tuple[int, ...]], labels: Counter[int], task: str) -> dict[str, int | None]:
    inputs = [shape for name, shape in shapes.items() if name.startswith("X")]
    classes = len(labels) if task == "classification" else None
    return {"rows": sum(shape[0] for shape in inputs), "columns": inputs[0][1], "classes": classes}
