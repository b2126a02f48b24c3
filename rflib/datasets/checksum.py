"""Whether a file is the official one."""

import hashlib
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


def checksum(path: Path, kind: str = "sha256") -> str:
    """Return the checksum of a file in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, kind).hexdigest()
