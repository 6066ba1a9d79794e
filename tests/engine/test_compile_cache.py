"""numba's cache on disk, damaged or full, never ends a fit."""

import errno
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.caching import IndexDataCacheFile

from skem.engine import compile_cache

MODULE = """
from skem.engine.kernels import entry

@entry
def successor(x):
    return x + 1
"""


def successor(folder):
    """The compiled function of a module in a folder, as a new process would have it."""
    (folder / "small.py").write_text(MODULE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("small", folder / "small.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.successor


@pytest.fixture(autouse=True)
def _new_process():
    compile_cache._warn_once.cache_clear()


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", [lambda blob: b"", lambda blob: blob[:-20], lambda blob: b"\xff" * 99])
def test_a_damaged_cache_is_compiled_again_with_one_warning(tmp_path, suffix, damage):
    first = successor(tmp_path)
    assert first(1) == 2
    for path in Path(first.dispatcher.stats.cache_path).glob(f"*{suffix}"):
        path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(RuntimeWarning, match="has damaged files") as caught:
        assert successor(tmp_path)(1) == 2
    assert len(caught) == 1
    mended = successor(tmp_path)
    assert mended(1) == 2
    assert sum(mended.dispatcher.stats.cache_hits.values()) == 1


def test_a_full_disk_is_one_warning(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(IndexDataCacheFile, "_save_data", full)
    function = successor(tmp_path)
    with pytest.warns(RuntimeWarning, match=r"cannot be written.*No space left") as caught:
        assert (function(1), function(1.5)) == (2, 2.5)
    assert len(caught) == 1


@pytest.mark.parametrize(("name", "value"), [("NUMBA_NUM_THREADS", "0"), ("NUMBA_DISABLE_JIT", "1")])
def test_variables_that_numba_cannot_work_with_are_named(name, value):
    code = "from skem.engine import compiled; compiled.kernels()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {name: value}, capture_output=True, text=True
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"RuntimeError: {name}")
    assert last.endswith("unset the variable")
