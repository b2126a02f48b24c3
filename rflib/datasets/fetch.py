"""Fetch official files from mirrors or the official address: verified before use, resumed when cut off."""

from __future__ import annotations

import hashlib
import lzma
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import requests
from tqdm import tqdm
from urllib3.exceptions import HTTPError

from rflib.datasets.registry import File, entry_of

_CHUNK = 1 << 20
_ATTEMPTS = 3
_TIMEOUT = (10, 60)


class FetchError(OSError):
    """A file could not be had; the message says what was tried and how to place it by hand."""


def fetch(name: str, folder: Path, mirrors: Sequence[str] = ()) -> list[Path]:
    """Return the verified official files of a data set, fetching those that are not in ``folder`` yet.

    Parameters
    ----------
    name : str
        Name in the registry.
    folder : Path
        Where the files are kept.
    mirrors : sequence of str
        Folders or URLs tried first, in order; a mirror may hold a file compressed, with ``.xz`` added.

    Raises
    ------
    FetchError
        If a file can be had from nowhere, or its checksum is wrong.
    ValueError
        If there is no such data set.
    """
    return [_fetch_file(file, Path(folder), mirrors) for file in entry_of(name).files]


def verified(path: Path, file: File) -> bool:
    """Whether the file at ``path`` has the official checksum."""
    return _wrong_checksum(path, file) is None


def _fetch_file(file: File, folder: Path, mirrors: Sequence[str]) -> Path:
    target = folder / file.name
    if target.exists():
        if wrong := _wrong_checksum(target, file):
            raise FetchError(f"{target} is not the official file: {wrong}. Delete it and run again.")
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    failures = []
    for source in _sources(file, mirrors):
        part = target.with_name(f"{target.name}.part")
        try:
            _get(source, part)
        except (OSError, lzma.LZMAError, EOFError) as error:
            failures.append(f"{source}: {error}")
            continue
        if wrong := _wrong_checksum(part, file):
            part.unlink()
            failures.append(f"{source}: {wrong}")
            continue
        os.replace(part, target)
        return target
    tried = (
        "".join(f"\n  {failure}" for failure in failures)
        or "\n  it is in no mirror and has no official address"
    )
    where = f" from {file.url}" if file.url else ""
    checksum = f"sha256 {file.sha256}" if file.sha256 else f"md5 {file.md5}"
    raise FetchError(
        f"{file.name} could not be had:{tried}\nPlace it by hand: get it{where} and put it at {target}"
        f" ({checksum}), or name a mirror in config.yaml, data.mirrors."
    )


def _sources(file: File, mirrors: Sequence[str]) -> Iterator[str]:
    for mirror in mirrors:
        base = f"{mirror.rstrip('/')}/{file.name}"
        if mirror.startswith(("http://", "https://")):
            yield base
            yield f"{base}.xz"
        else:
            found = [path for path in (base, f"{base}.xz") if Path(path).exists()]
            yield from found or [base]
    if file.url:
        yield file.url


def _get(source: str, part: Path) -> None:
    """Copy or download a source to ``part``; decompress if it is the .xz of the file."""
    compressed = source.endswith(".xz")
    raw = part.with_name(f"{part.name}.xz") if compressed else part
    if source.startswith(("http://", "https://")):
        _download(source, raw)
    else:
        shutil.copyfile(source, raw)
    if compressed:
        with lzma.open(raw) as packed, part.open("wb") as plain:
            shutil.copyfileobj(packed, plain, _CHUNK)
        raw.unlink()


def _download(url: str, part: Path) -> None:
    """Download with progress; a connection that breaks is taken up again where it broke."""
    for attempt in range(_ATTEMPTS):
        have = part.stat().st_size if part.exists() else 0
        try:
            headers = {"Range": f"bytes={have}-"} if have else {}
            with requests.get(url, stream=True, timeout=_TIMEOUT, headers=headers) as response:
                if response.status_code == requests.codes.requested_range_not_satisfiable:
                    return
                response.raise_for_status()
                resumed = response.status_code == requests.codes.partial_content
                length = int(response.headers.get("Content-Length", 0))
                _write(response, part, have if resumed else 0, length)
                return
        except (requests.ConnectionError, requests.Timeout):
            if attempt == _ATTEMPTS - 1:
                raise


def _write(response: requests.Response, part: Path, have: int, length: int) -> None:
    response.raw.decode_content = False
    progress = tqdm(
        total=have + length or None, initial=have, unit="B", unit_scale=True, desc=part.stem, mininterval=1
    )
    written = 0
    with progress, part.open("ab" if have else "wb") as file:
        try:
            while chunk := response.raw.read(_CHUNK):
                file.write(chunk)
                written += len(chunk)
                progress.update(len(chunk))
        except HTTPError as error:
            raise requests.ConnectionError(str(error)) from error
    if length and written < length:
        raise requests.ConnectionError(f"the connection ended after {written} of {length} bytes")


def _wrong_checksum(path: Path, file: File) -> str | None:
    """Return what is wrong with the file's checksum, or None."""
    kind, expected = ("sha256", file.sha256) if file.sha256 else ("md5", file.md5)
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, kind).hexdigest()
    return (
        None if found == expected else f"{kind} is {found}, expected {expected} ({path.stat().st_size} bytes)"
    )
