"""A folder of tables or figures: a file for each entry of a study, and index.json, which says what they are."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rflib.report.kind import Options, Shown, kinds

Save = Callable[[Any, Options, Path], dict[str, Any]]


def write_folder(folder: Path, cls: type[Shown], entries: Sequence[Options], suffix: str, save: Save) -> None:
    """Save each entry with ``save(kind, entry, path)``, and write the index. What the folder held is removed.

    What ``save`` returns becomes a part of the entry of the index.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    index = []
    for number, entry in enumerate(entries):
        kind = kinds(cls)[entry["type"]]
        file = f"{slug(number, entry['title'])}{suffix}"
        more = save(kind, entry, folder / file)
        own = kind.caption(entry) if kind.caption else ""
        caption = f"{str(entry.get('caption', own)).strip()} {kind.note}".strip()
        about = {key: entry[key] for key in ("type", "title", "metric", "learner") if key in entry}
        about |= {"caption": caption, "file": file}
        index.append({**about, **more})
    (folder / "index.json").write_text(json.dumps(index, indent=2), encoding="utf-8")


def read_index(folder: Path) -> list[dict[str, Any]]:
    """Return the index that :func:`write_folder` wrote; an empty list if the folder has none."""
    path = folder / "index.json"
    return list(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else []


def slug(number: int, title: str) -> str:
    """Return a file name for the n-th entry."""
    return f"{number:02d}_" + re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:50]
