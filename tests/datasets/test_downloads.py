"""Downloads from a server on this machine, broken off and damaged."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import threading

import pytest
from pictures import DAMAGE, FILES, is_right, raw_files, snapshot

from skem import datasets
from skem.datasets import _known, _sources


class Server(http.server.ThreadingHTTPServer):
    """Serves `files` on the loopback, breaking off as often as it is told to."""

    def __init__(self, files: dict[str, bytes], breaks: int, ranges: bool):
        super().__init__(("127.0.0.1", 0), Answer)
        self.files, self.breaks, self.ranges, self.asked = files, breaks, ranges, []


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        blob, start = server.files.get(self.path.lstrip("/")), 0
        server.asked.append((self.path, self.headers.get("Range")))
        if blob is None:
            self.send_error(404)
            return
        if server.ranges and "Range" in self.headers:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(blob) - start))
        self.end_headers()
        end = len(blob)
        if server.breaks:
            server.breaks -= 1
            end = start + (end - start) // 2 if server.ranges else end // (server.breaks + 2)
        self.wfile.write(blob[start:end])

    def log_message(self, *_):
        pass


@pytest.fixture
def serve(mirror, monkeypatch):
    """Start a server and make it the address of the data set."""
    monkeypatch.setenv("SKEM_OFFLINE", "0")
    started = []

    def start(
        files: dict[str, bytes], *, breaks: int = 0, ranges: bool = True, hashes: bool = True
    ) -> Server:
        server = Server(files, breaks, ranges)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        started.append(server)
        address = f"http://127.0.0.1:{server.server_port}"
        files = [{"url": f"{address}/{name}.gz"} for name in FILES]
        if hashes:
            for file in files:
                blob = gzip.compress(raw_files()[file["url"].split("/")[-1].removesuffix(".gz")], mtime=0)
                file["md5"] = hashlib.md5(blob).hexdigest()
        spec = _known.entries()["pictures"]
        spec["sources"] = [{"kind": "mirror"}, {"kind": "url", "decoder": "idx", "files": files}]
        return server

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def zipped() -> dict[str, bytes]:
    return {f"{name}.gz": gzip.compress(blob, mtime=0) for name, blob in raw_files().items()}


def test_download_shows_a_progress_bar(serve, capsys):
    server = serve(zipped())
    record = datasets.fetch("pictures")
    assert record["source"] == f"127.0.0.1:{server.server_port}"
    shown = capsys.readouterr()
    assert "100%" in shown.err
    assert shown.out == ""
    assert is_right(datasets.load("pictures"))


@pytest.mark.parametrize("ranges", [True, False])
def test_interrupted_downloads_continue(serve, monkeypatch, ranges):
    monkeypatch.setattr(_sources, "_CHUNK", 8)
    server = serve(zipped(), breaks=3, ranges=ranges)
    record = datasets.fetch("pictures", progress=False)
    assert record["available"], record["reasons"]
    first = [wanted for path, wanted in server.asked if path == "/train-images.gz"]
    assert len(first) == 4
    assert first[0] is None
    assert all(wanted.startswith("bytes=") for wanted in first[1:])


def test_broken_downloads_are_given_up(serve, monkeypatch):
    monkeypatch.setattr(_sources, "_PAUSE", 0)
    server = serve(zipped(), breaks=1000, hashes=False)
    reasons = datasets.fetch("pictures", progress=False)["reasons"]
    assert "Connection broken" in reasons[1]
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("hashes", "reason"), [(True, "corrupt, truncated or another file"), (False, "not IDX files")]
)
def test_damaged_download_is_refused(serve, home, hashes, reason):
    files = zipped()
    serve(files | {"train-images.gz": DAMAGE["truncated"](files["train-images.gz"])}, hashes=hashes)
    record = datasets.fetch("pictures", progress=False)
    assert not record["available"]
    assert record["reasons"][1].startswith("127.0.0.1")
    assert reason in record["reasons"][1]
    assert snapshot(home) == {}
