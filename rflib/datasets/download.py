"""Download a file from one address to a partial file, and resume what is there already.

pooch, which scipy and scikit-image use for this, deletes a partial file when a connection breaks and takes a
single address for each file. It supports neither resuming nor mirrors, so requests and tqdm are used here.
"""

import time
from pathlib import Path
from typing import BinaryIO, Protocol

import requests
from tqdm import tqdm
from urllib3.exceptions import HTTPError, ReadTimeoutError

_CHUNK = 1 << 20
MAX_BYTES = 4 << 30
_ATTEMPTS = 3
_PAUSE_S = 1.0
_TIMEOUT_S = (10.0, 60.0)


class BadContent(OSError):
    """What was received can be neither the file nor a part of it."""


class _Readable(Protocol):
    def read1(self, size: int, /) -> bytes: ...


def download(url: str, part: Path, limit: int = MAX_BYTES) -> None:
    """Append to ``part`` what it lacks of the file at ``url``, and show the progress on standard error.

    If a connection breaks or stalls, the download is resumed where it stopped, in up to three attempts. If the
    last one fails too, what was received stays in ``part``.

    Parameters
    ----------
    url : str
        Address, http or https; redirects are followed.
    part : Path
        Partial file. It need not exist.
    limit : int
        Largest accepted size in bytes.

    Raises
    ------
    BadContent
        If the server sends more than ``limit`` bytes, or other bytes than were requested.
    OSError
        If the server answers with an error, cannot be reached, or stalls.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return _download_once(url, part, limit)
        except (requests.ConnectionError, requests.Timeout):
            if attempt == _ATTEMPTS:
                raise
            time.sleep(_PAUSE_S * attempt)


def _download_once(url: str, part: Path, limit: int) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(url, stream=True, timeout=_TIMEOUT_S, headers=headers) as response:
        if have and response.status_code == requests.codes.requested_range_not_satisfiable:
            return
        response.raise_for_status()
        start = have if _continues(response, have) else 0
        _receive(response, part, start, limit)


def _continues(response: requests.Response, have: int) -> bool:
    """Whether the answer continues from byte ``have``. A server without ranges sends the whole file."""
    partial = response.status_code == requests.codes.partial_content
    if partial and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        raise BadContent(f"the server did not send the bytes from {have:,} on, which were requested")
    return partial


def _receive(response: requests.Response, part: Path, start: int, limit: int) -> None:
    length = int(response.headers.get("Content-Length", 0))
    bar = tqdm(
        total=start + length if length else None,
        initial=start,
        unit="B",
        unit_scale=True,
        desc=part.stem,
        mininterval=1,
    )
    with bar, part.open("ab" if start else "wb") as file:
        try:
            copy_bounded(response.raw, file, limit, bar, start)
        except ReadTimeoutError as error:
            raise requests.Timeout(
                f"after {file.tell():,} bytes, the server sent nothing for {_TIMEOUT_S[1]:g} s"
            ) from error
        except HTTPError as error:
            raise requests.ConnectionError(f"the connection broke after {file.tell():,} bytes") from error


def copy_bounded(
    source: _Readable, target: BinaryIO, limit: int, bar: tqdm | None = None, start: int = 0
) -> None:
    """Copy a stream in chunks to a target that has ``start`` bytes already.

    Raises BadContent if the target would get more than ``limit`` bytes.
    """
    size = start
    while chunk := source.read1(_CHUNK):
        size += len(chunk)
        if size > limit:
            raise BadContent(f"it has more than the expected {limit:,} bytes")
        target.write(chunk)
        if bar is not None:
            bar.update(len(chunk))
