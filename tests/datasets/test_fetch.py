"""Fetching, against a server on this machine that misbehaves in every way it can."""

import gzip
import hashlib
import http.server
import lzma
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from rflib.datasets import download
from rflib.datasets.entry import Entry, File
from rflib.datasets.fetch import FetchError, fetch, held
from rflib.datasets.registry import REGISTRY, files

CONTENT = os.urandom(300_000) + bytes(range(256)) * 800
SHA = hashlib.sha256(CONTENT).hexdigest()
BODIES = {
    "wrong": b"x" * len(CONTENT),
    "long": CONTENT + b"more",
    "xz": lzma.compress(CONTENT),
    "gz": gzip.compress(CONTENT, 1),
    "badxz": b"no archive",
}


class Handler(http.server.BaseHTTPRequestHandler):
    """The first part of the path says what goes wrong."""

    cuts = 0
    ranges: list[str | None] = []  # noqa: RUF012
    stop = threading.Event()

    def do_GET(self):
        kind = self.path.split("/")[1]
        packed, ending = kind.removeprefix("bad"), Path(self.path).suffix[1:]
        if kind == "missing" or (packed != ending and {packed, ending} & {"xz", "gz"}):
            self.send_error(404)
        elif kind == "moved":
            self.send_response(302)
            self.send_header("Location", self.path.replace("/moved/", "/fine/"))
            self.end_headers()
        else:
            self.send_body(kind)

    def send_body(self, kind):
        body = BODIES.get(kind, CONTENT)
        wanted = self.headers.get("Range")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and kind != "whole" else 0
        if start > len(body):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if start:
            shift = 7 if kind == "shifted" else 0
            self.send_header("Content-Range", f"bytes {start + shift}-{len(body) - 1}/{len(body)}")
        if kind != "nolength":
            self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        if (kind == "cut" and Handler.cuts < 1) or kind == "cutalways":
            Handler.cuts += 1
            self.wfile.write(body[start : start + 100_000])
        elif kind == "stalled":
            self.wfile.write(body[start : start + 1000])
            self.wfile.flush()
            self.stop.wait(10)
        elif kind == "slow":
            for at in range(start, len(body), 100_000):
                self.wfile.write(body[at : at + 100_000])
                self.stop.wait(0.02)
        else:
            self.wfile.write(body[start:])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "_PAUSE_S", 0.0)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    Handler.cuts, Handler.ranges, Handler.stop = 0, [], threading.Event()
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}"
    Handler.stop.set()
    running.shutdown()
    running.server_close()
    thread.join(10)


@pytest.fixture
def register(monkeypatch, server):
    """Register the data set "thing" with a file at addresses of the given kinds."""

    def add(*kinds: str, **about) -> None:
        urls = tuple(f"{server}/{kind}/thing.data" for kind in kinds)
        file = File("thing.data", urls, **({"sha256": SHA, "size": len(CONTENT)} | about))
        entry = Entry(
            rows=1, columns=1, split="half", read=iter, files=(file,), scaling="",
            citation="", licence="",
        )  # fmt: skip
        monkeypatch.setitem(REGISTRY, "thing", entry)

    return add


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


@pytest.mark.parametrize("kind", ["fine", "slow", "moved", "cut", "nolength"])
def test_download(kind, register, tmp_path, capsys):
    register(kind)
    (path,) = fetch("thing", tmp_path)
    assert path.read_bytes() == CONTENT
    assert visible(tmp_path) == ["thing.data"]
    assert "thing.data" in capsys.readouterr().err


def test_a_file_that_is_there_is_not_fetched_again(register, tmp_path):
    register("fine")
    fetch("thing", tmp_path)
    fetch("thing", tmp_path)
    assert len(Handler.ranges) == 1


def test_a_broken_connection_is_taken_up_where_it_broke(register, tmp_path):
    register("cut")
    fetch("thing", tmp_path)
    assert Handler.ranges == [None, "bytes=100000-"]


def test_what_has_come_stays_for_a_later_run(register, tmp_path):
    register("cutalways")
    with pytest.raises(FetchError, match="the connection broke after 300,000 bytes"):
        fetch("thing", tmp_path)
    assert (tmp_path / "thing.data.part").read_bytes() == CONTENT[:300_000]
    register("fine")
    (path,) = fetch("thing", tmp_path)
    assert path.read_bytes() == CONTENT
    assert Handler.ranges[-1] == "bytes=300000-"


@pytest.mark.parametrize("kind", ["fine", "whole", "shifted"])
@pytest.mark.parametrize("partial", [CONTENT[:5000], b"of another source", CONTENT + b"too long"])
def test_a_partial_file_is_continued_or_replaced(kind, partial, register, tmp_path):
    """Also if it is of other content, or the server has no ranges or sends another one than it was asked for."""
    register(kind)
    (tmp_path / "thing.data.part").write_bytes(partial)
    (path,) = fetch("thing", tmp_path)
    assert path.read_bytes() == CONTENT
    assert visible(tmp_path) == ["thing.data"]


def test_a_damaged_partial_archive_is_replaced(register, server, tmp_path):
    register()
    (tmp_path / "thing.data.part.xz").write_bytes(b"no archive")
    (path,) = fetch("thing", tmp_path, [f"{server}/xz"])
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("missing", "404"),
        ("wrong", f"sha256 is {hashlib.sha256(BODIES['wrong']).hexdigest()}, expected {SHA}"),
        ("long", "it has more than the expected"),
        ("cutalways", "the connection broke after 300,000 bytes"),
    ],
)
def test_failure_names_file_addresses_and_remedy(kind, message, register, server, tmp_path):
    register(kind, "missing")
    with pytest.raises(FetchError) as failure:
        fetch("thing", tmp_path, [str(tmp_path / "nowhere"), f"{server}/missing/mirror"])
    text = str(failure.value)
    assert message in text
    for tried in (
        tmp_path / "nowhere/thing.data",
        f"{server}/missing/mirror/thing.data",
        f"{server}/{kind}/thing.data",
    ):
        assert str(tried) in text
    assert (
        f"get it from {server}/{kind}/thing.data and store it as {tmp_path / 'thing.data'} (sha256 {SHA})"
        in text
    )
    assert not (tmp_path / "thing.data").exists()


def test_a_body_that_stalls_is_an_error(register, monkeypatch, tmp_path):
    monkeypatch.setattr(download, "_TIMEOUT_S", (1.0, 0.1))
    register("stalled")
    with pytest.raises(FetchError, match=r"after 3,000 bytes, the server sent nothing for 0\.1 s"):
        fetch("thing", tmp_path)


def test_no_network_and_no_mirror(register, monkeypatch, tmp_path):
    register()
    file = File("thing.data", ("http://127.0.0.1:1/thing.data",), SHA)
    monkeypatch.setitem(REGISTRY, "thing", replace(REGISTRY["thing"], files=(file,)))
    with pytest.raises(
        FetchError, match=r"thing\.data could not be fetched:\n  http://127\.0\.0\.1:1/thing\.data: "
    ):
        fetch("thing", tmp_path)


def test_neither_mirror_nor_address(register, tmp_path):
    register()
    with pytest.raises(FetchError, match="no mirror is named, and the file has no official address"):
        fetch("thing", tmp_path)


def test_mirrors_come_first_and_may_be_compressed(register, tmp_path):
    register("fine")
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "thing.data.xz").write_bytes(lzma.compress(CONTENT))
    (path,) = fetch("thing", tmp_path / "raw", [tmp_path / "none", str(mirror)])
    assert path.read_bytes() == CONTENT
    assert not Handler.ranges
    assert visible(mirror) == ["thing.data.xz"]


def test_held_is_what_needs_no_network(register, server, tmp_path):
    register("fine")
    raw, mirror = tmp_path / "raw", tmp_path / "mirror"
    mirror.mkdir()
    assert not held("thing", raw, [mirror, f"{server}/xz/"])
    (mirror / "thing.data.xz").write_bytes(lzma.compress(CONTENT))
    assert held("thing", raw, [mirror])
    assert not held("thing", raw)
    fetch("thing", raw, [mirror])
    assert held("thing", raw)
    assert held("digits", raw)


def test_a_mirror_may_be_an_address(register, server, tmp_path):
    register()
    (path,) = fetch("thing", tmp_path, [f"{server}/xz/"])
    assert path.read_bytes() == CONTENT
    assert visible(tmp_path) == ["thing.data"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("thing.data", b"other"),
        ("thing.data", CONTENT + b"more"),
        ("thing.data.xz", b"no archive"),
        ("thing.data.xz", lzma.compress(b"other")),
        ("thing.data.xz", lzma.compress(CONTENT)[:-1000]),
        ("thing.data.xz", lzma.compress(bytes(10**7))),
        ("thing.data.gz", b"no archive"),
        ("thing.data.gz", gzip.compress(CONTENT, 1)[:-1000]),
        ("thing.data.gz", gzip.compress(CONTENT, 1)[:1000] + bytes(10**5)),
        ("thing.data.gz", gzip.compress(bytes(10**7), 1)),
    ],
)
def test_wrong_mirror_falls_through_to_the_official_address(name, content, register, tmp_path):
    register("fine")
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / name).write_bytes(content)
    (path,) = fetch("thing", tmp_path / "raw", [mirror])
    assert path.read_bytes() == CONTENT


def test_second_address_and_bad_archives(register, server, tmp_path):
    register("missing", "fine")
    (path,) = fetch("thing", tmp_path, [f"{server}/badxz"])
    assert path.read_bytes() == CONTENT


def test_md5_where_nothing_else_is_known(register, tmp_path):
    register("fine", sha256=None, size=None, md5=hashlib.md5(CONTENT).hexdigest())
    assert fetch("thing", tmp_path)[0].read_bytes() == CONTENT


def test_two_at_once_download_once(register, tmp_path):
    register("slow")
    with ThreadPoolExecutor(3) as pool:
        paths = list(pool.map(lambda _: fetch("thing", tmp_path)[0], range(3)))
    assert Handler.ranges == [None]
    assert paths[0].read_bytes() == CONTENT


def test_unknown_data_set(tmp_path):
    with pytest.raises(ValueError, match=r"no data set 'digit' in the registry\. Did you mean 'digits'\?"):
        fetch("digit", tmp_path)


def test_what_scikit_learn_ships_needs_no_file(tmp_path):
    assert fetch("digits", tmp_path / "raw") == files("digits") == []
    assert not (tmp_path / "raw").exists()


UNPACKED = {
    "plain": File("thing", sha256=SHA, size=len(CONTENT)),
    "sha256": hashlib.sha256(b"packed").hexdigest(),
}


@pytest.mark.parametrize("packed", ["", ".xz", ".gz"])
@pytest.mark.parametrize("kind", ["folder", "server"])
def test_a_mirror_may_hold_the_unpacked_form(kind, packed, register, server, tmp_path):
    register(**UNPACKED, size=6)
    mirror = f"{server}/{packed[1:] or 'fine'}"
    if kind == "folder":
        mirror = tmp_path / "mirror"
        mirror.mkdir()
        (mirror / f"thing{packed}").write_bytes(BODIES[packed[1:]] if packed else CONTENT)
        assert held("thing", tmp_path / "raw", [mirror])
    (path,) = fetch("thing", tmp_path / "raw", [mirror])
    assert path == tmp_path / "raw/thing"
    assert path.read_bytes() == CONTENT
    assert fetch("thing", tmp_path / "raw") == [path]
    assert held("thing", tmp_path / "raw")


def test_the_official_file_is_taken_before_its_unpacked_form(register, tmp_path):
    register(**UNPACKED, size=6)
    (tmp_path / "thing.data").write_bytes(b"packed")
    (tmp_path / "thing").write_bytes(CONTENT)
    assert fetch("thing", tmp_path) == [tmp_path / "thing.data"]


def test_another_file_under_the_name_of_the_unpacked_form(register, tmp_path):
    register(**UNPACKED, size=6)
    (tmp_path / "thing").write_bytes(b"something else")
    with pytest.raises(FetchError, match="thing is not the official file: sha256 is"):
        fetch("thing", tmp_path)


def test_an_archive_that_was_compressed_anew_is_known_by_its_content(register, monkeypatch, tmp_path):
    """A mirror may have it under the name of the official archive, whose checksum is another one."""
    register()
    plain = File("thing", sha256=SHA, size=len(CONTENT))
    file = File("thing.gz", sha256=hashlib.sha256(b"official").hexdigest(), size=8, plain=plain)
    monkeypatch.setitem(REGISTRY, "thing", replace(REGISTRY["thing"], files=(file,)))
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "thing.gz").write_bytes(BODIES["gz"])
    (path,) = fetch("thing", tmp_path / "raw", [mirror])
    assert path.read_bytes() == CONTENT
    assert visible(tmp_path / "raw") == ["thing"]
