"""The cache on its disk: several processes at once, no room, and what a killed run left."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pictures import FORMS, fill, is_right, raw_files, snapshot

from skem import datasets

ROOT = Path(__file__).parents[2]


def python(code: str, tmp_path: Path) -> subprocess.Popen:
    """Start another Python that reads the small data set."""
    return subprocess.Popen(
        [sys.executable, "-c", f"from skem import datasets\n{code}"],
        cwd=ROOT,
        env={**os.environ, "SKEM_DATASETS": str(tmp_path / "datasets.yaml")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_at_once_do_not_harm_each_other(mirror, home, tmp_path):
    fill(mirror, FORMS["npm package"]())
    code = f"""
import contextlib, os, pathlib, time
pathlib.Path({str(tmp_path)!r}, f"ready-{{os.getpid()}}").touch()
while not os.path.exists({str(tmp_path / "go")!r}):
    time.sleep(0.001)
for _ in range(15):
    found = datasets.load("pictures")
    assert datasets.content_hash(found.data, found.target) == found.record["sha256"]
    with contextlib.suppress(FileNotFoundError):
        os.unlink({str(home / "pictures" / "data.npy")!r})
datasets.load("pictures")
"""
    running = [python(code, tmp_path) for _ in range(2)]
    while len(list(tmp_path.glob("ready-*"))) < 2 and all(process.poll() is None for process in running):
        time.sleep(0.01)
    (tmp_path / "go").touch()
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    assert is_right(datasets.load("pictures"))
    assert sorted(snapshot(home)) == ["pictures/data.npy", "pictures/record.json", "pictures/target.npy"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of this kind")
def test_full_disk(mirror, home, tmp_path):
    """A limit on the size of files is a real write error, and needs no privilege."""
    fill(mirror, raw_files())
    code = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
try:
    datasets.load("pictures")
except OSError as error:
    print(error)
"""
    output, errors = python(code, tmp_path).communicate(timeout=60)
    assert f"cannot write to the cache folder {home / 'pictures'}" in output, errors
    assert "SKEM_DATA_HOME" in output
    assert snapshot(home) == {}
    assert list((home / "pictures").iterdir()) == []
    assert is_right(datasets.load("pictures"))


def test_home_that_cannot_be_written(mirror, tmp_path):
    fill(mirror, raw_files())
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match=r"cannot write to the cache folder .*set SKEM_DATA_HOME"):
        datasets.load("pictures", home=tmp_path / "file" / "home")


def test_leftovers_of_killed_runs(mirror, home):
    fill(mirror, raw_files())
    for name, age in ((".work-old", 90000), (".work-young", 60)):
        left = home / "pictures" / name
        left.mkdir(parents=True)
        (left / "data.npy").write_bytes(b"half")
        os.utime(left, (time.time() - age,) * 2)
    assert is_right(datasets.load("pictures"))
    assert not (home / "pictures" / ".work-old").exists()
    assert (home / "pictures" / ".work-young").exists()  # it may belong to a run under way
