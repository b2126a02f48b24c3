"""Fetch official files from mirrors or from their official addresses, and verify them before use."""

import fcntl
import lzma
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from gzip import BadGzipFile
from pathlib import Path
from typing import Any, cast

from rflib.datasets.checksum import mismatch
from rflib.datasets.download import MAX_BYTES, BadContent, copy_bounded, download
from rflib.datasets.entry import File
from rflib.datasets.formats.checked import open_bytes
from rflib.datasets.registry import entry_of

_WEB = ("http://", "https://")
_PACKED = ("", ".xz", ".gz")
_DAMAGED = (BadContent, lzma.LZMAError, BadGzipFile, zlib.error, EOFError)


class FetchError(OSError):
    """A file could not be fetched. The message says what was tried and how to place the file by hand."""


def fetch(name: str, folder: str | Path, mirrors: Sequence[str | Path] = ()) -> list[Path]:
    """Return the verified official files of a data set, fetching those that are not in ``folder`` yet.

    Parameters
    ----------
    name : str
        Name of the data set in the registry.
    folder : path
        Folder of the files. Several processes may fetch to it at once: one downloads, and the others wait.
    mirrors : sequence of str or path
        Folders or URLs to try first, in order. A mirror may hold a compressed file, with ``.xz`` or ``.gz``
        added to its name, or the plain form of a file.

    Returns
    -------
    list of Path
        The files in the order of the registry; empty for data that scikit-learn ships.

    Raises
    ------
    FetchError
        If a file cannot be fetched from any source, or a file in ``folder`` is not the official one.
    ValueError
        If there is no such data set.
    """
    return [fetch_file(file, Path(folder), mirrors) for file in entry_of(name).files]


def fetch_file(file: File, folder: Path, mirrors: Sequence[str | Path] = ()) -> Path:
    """Return one verified official file, or its unpacked form, as `fetch` does."""
    target = folder / file.name
    if found := _present(file, folder):
        return found
    target.parent.mkdir(parents=True, exist_ok=True)
    failures = []
    with _alone(target):
        if found := _present(file, folder):
            return found
        for form, source, packed in _sources(file, [str(mirror) for mirror in mirrors]):
            try:
                _take(source, packed, folder / form.name, form)
            except OSError as error:
                failures.append(f"{source}: {error}")
            else:
                return folder / form.name
    raise FetchError(_how_to_place(file, target, failures))


def held(name: str, folder: str | Path, mirrors: Sequence[str | Path] = ()) -> bool:
    """Whether all files of a data set are in ``folder`` or in mirrors that are folders, without the network."""
    places = [Path(folder), *(Path(mirror) for mirror in mirrors if not str(mirror).startswith(_WEB))]
    return all(
        any(
            (place / f"{form.name}{packed}").exists()
            for form in file.forms
            for place in places
            for packed in _PACKED
        )
        for file in entry_of(name).files
    )


def _present(file: File, folder: Path) -> Path | None:
    """Return the official file, or its unpacked form, if it is there. Another file under its name is an error."""
    for form in file.forms:
        target = folder / form.name
        if target.exists():
            if wrong := mismatch(target, form):
                raise FetchError(f"{target} is not the official file: {wrong}. Delete it and run again.")
            return target
    return None


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Keep other processes from fetching the same file to the same place in the meantime."""
    with target.with_name(f".{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sources(file: File, mirrors: Sequence[str]) -> Iterator[tuple[File, str, str]]:
    """Yield a form of the file, where it may be and the ending added if it is compressed there: mirrors first."""
    for mirror in mirrors:
        places = [
            (form, f"{mirror.rstrip('/')}/{form.name}{packed}", packed)
            for form in file.forms
            for packed in _PACKED
        ]
        if not mirror.startswith(_WEB):
            places = [place for place in places if Path(place[1]).exists()] or places[:1]
        yield from places
    yield from ((file, url, "") for url in file.urls)


def _take(source: str, packed: str, target: Path, file: File) -> None:
    """Copy or download the file from ``source`` to ``target``, or raise OSError that says what is wrong.

    A partial file may come from another source or be damaged. If resuming it does not give the official file, it
    is discarded, and the file is fetched once more from the start.
    """
    part = target.with_name(f"{target.name}.part")
    received = target.with_name(f"{part.name}{packed}")
    resumes = source.startswith(_WEB) and received.exists()
    for again in (True, False) if resumes else (False,):
        try:
            _get(source, part, received, file.size or MAX_BYTES)
            wrong = mismatch(part, file)
        except _DAMAGED as error:
            wrong = str(error)
        if received != part:
            received.unlink(missing_ok=True)
        if wrong is None:
            os.replace(part, target)
            return
        part.unlink(missing_ok=True)
        if not again:
            raise OSError(wrong)


def _get(source: str, part: Path, received: Path, limit: int) -> None:
    """Copy or download a source to ``part``; what is ``received`` under another name is compressed."""
    compressed = received != part
    here = Path(source)
    if source.startswith(_WEB):
        here = received
        download(source, here, MAX_BYTES if compressed else limit)
    if here != part:
        with open_bytes(here) if compressed else here.open("rb") as stream, part.open("wb") as file:
            copy_bounded(cast(Any, stream), file, limit)


def _how_to_place(file: File, target: Path, failures: Sequence[str]) -> str:
    tried = (
        "".join(f"\n  {failure}" for failure in failures)
        or "\n  no mirror is named, and the file has no official address"
    )
    where = f" from {file.urls[0]}" if file.urls else ""
    kind, expected = file.checksum
    return (
        f"{file.name} could not be fetched:{tried}\nTo place it by hand, get it{where} and store it as {target} "
        f"({kind} {expected}). Or name a mirror that has it under data.mirrors in config.yaml."
    )
