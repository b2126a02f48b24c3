"""Downloading, against a server on this machine that misbehaves in every way it can."""

import hashlib
import http.server
import lzma
import threading
from pathlib import Path

import pytest

import rflib.datasets.fetch as module
from rflib.datasets.fetch import FetchError, fetch
from rflib.datasets.registry import Entry, File

CONTENT = bytes(range(256)) * 2000
SHA = hashlib.sha256(CONTENT).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """Paths say what goes wrong: /cut/, /missing/, /wrong/, /moved/, /slow/, /xz/, /fine/."""

    cuts = 0
    ranges: list[str | None] = []  # noqa: RUF012

    def do_GET(self):
        kind = self.path.split("/")[1]
        if kind == "missing" or (kind == "xz") != self.path.endswith(".xz"):
            self.send_error(404)
        elif kind == "moved":
            self.send_response(302)
            self.send_header("Location", self.path.replace("/moved/", "/fine/"))
            self.end_headers()
        else:
            self.send_body(kind)

    def send_body(self, kind):
        body = {"wrong": b"x" * len(CONTENT), "xz": lzma.compress(CONTENT)}.get(kind, CONTENT)
        wanted = self.headers.get("Range")
        Handler.ranges.append(wanted)
        start = int(wanted.split("=")[1].rstrip("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        if kind == "cut" and Handler.cuts < 1:
            Handler.cuts += 1
            self.wfile.write(body[start : start + 100_000])
            self.wfile.flush()
            self.connection.close()
        elif kind == "slow":
            for at in range(start, len(body), 100_000):
                self.wfile.write(body[at : at + 100_000])
                threading.Event().wait(0.02)
        else:
            self.wfile.write(body[start:])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    Handler.cuts, Handler.ranges = 0, []
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture
def registry(monkeypatch, server):
    def register(url_kind: str) -> None:
        file = File("thing.data", f"{server}/{url_kind}/thing.data", SHA)
        entry = Entry("regression", 1, 1, None, "housing", "half", "test", (file,))
        monkeypatch.setattr(module, "entry_of", lambda name: entry)

    return register


@pytest.mark.parametrize("kind", ["fine", "slow", "moved", "cut"])
def test_download(kind, registry, tmp_path):
    registry(kind)
    (path,) = fetch("thing", tmp_path)
    assert path.read_bytes() == CONTENT
    assert [p.name for p in tmp_path.iterdir()] == ["thing.data"]


def test_a_broken_connection_is_taken_up_where_it_broke(registry, tmp_path):
    registry("cut")
    fetch("thing", tmp_path)
    assert Handler.ranges == [None, "bytes=100000-"]


def test_a_later_run_takes_up_a_partial_file(registry, tmp_path):
    registry("fine")
    (tmp_path / "thing.data.part").write_bytes(CONTENT[:5000])
    (path,) = fetch("thing", tmp_path)
    assert path.read_bytes() == CONTENT
    assert Handler.ranges == ["bytes=5000-"]


@pytest.mark.parametrize(("kind", "message"), [("missing", "404"), ("wrong", f"expected {SHA}")])
def test_failure_names_file_address_and_remedy(kind, message, registry, server, tmp_path):
    registry(kind)
    with pytest.raises(FetchError) as failure:
        fetch("thing", tmp_path)
    text = str(failure.value)
    assert message in text
    assert f"{server}/{kind}/thing.data" in text
    assert f"put it at {tmp_path / 'thing.data'}" in text
    assert SHA in text
    assert not (tmp_path / "thing.data").exists()


def test_no_network_and_no_mirror(monkeypatch, tmp_path):
    file = File("thing.data", "http://127.0.0.1:1/thing.data", SHA)
    entry = Entry("regression", 1, 1, None, "housing", "half", "test", (file,))
    monkeypatch.setattr(module, "entry_of", lambda name: entry)
    with pytest.raises(FetchError, match=r"thing\.data could not be had"):
        fetch("thing", tmp_path)


def test_mirrors_come_first_and_may_be_compressed(registry, server, tmp_path):
    registry("missing")
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "thing.data.xz").write_bytes(lzma.compress(CONTENT))
    (path,) = fetch("thing", tmp_path / "raw", [str(tmp_path / "none"), str(mirror)])
    assert path.read_bytes() == CONTENT
    assert not Handler.ranges


def test_a_mirror_may_be_an_address(registry, server, tmp_path):
    registry("missing")
    (path,) = fetch("thing", tmp_path, [f"{server}/xz"])
    assert path.read_bytes() == CONTENT


def test_wrong_mirror_falls_through_to_the_official_address(registry, tmp_path):
    registry("fine")
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "thing.data").write_bytes(b"other")
    (path,) = fetch("thing", tmp_path / "raw", [str(mirror)])
    assert path.read_bytes() == CONTENT


def test_unknown_data_set():
    with pytest.raises(ValueError, match=r"unknown data set 'digit': did you mean 'digits'\?"):
        fetch("digit", Path())
