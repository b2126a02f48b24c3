"""Whether a file is the official one, and whether prepared arrays are the ones that were written."""

import hashlib
import json
from pathlib import Path

from rflib.datasets.entry import File


def mismatch(path: Path, file: File) -> str | None:
    """Return how the file at ``path`` differs from the official one, or None if it does not."""
    kind, expected = file.checksum
    found = checksum(path, kind)
    if found == expected:
        return None
    size = f", expected {file.size:,}" if file.size else ""
    return f"{kind} is {found}, expected {expected} (it has {path.stat().st_size:,} bytes{size})"


def check_prepared(folder: Path) -> None:
    """Raise ValueError if an array of a prepared data set is missing or is not the one that was written."""
    try:
        digests = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["digests"]
        damaged = [name for name, digest in digests.items() if checksum(folder / name) != digest]
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(
            f"{folder} is not a complete prepared data set ({error}). Delete it and run again."
        ) from error
    if damaged:
        raise ValueError(
            f"{folder / damaged[0]} is damaged (its content is not the one that was written): delete the folder "
            f"{folder} and run again."
        )


def checksum(path: Path, kind: str = "sha256") -> str:
    """Return the checksum of a file in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, kind).hexdigest()
