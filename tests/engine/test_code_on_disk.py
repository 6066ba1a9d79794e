"""Machine code on disk is that of the code that runs."""

import ast
import importlib
import os
import shutil
import sys
from pathlib import Path

import pytest

from skem.engine import compile_cache

ENGINE = Path(compile_cache.__file__).parent


def test_what_a_compiled_module_imports_of_the_library_is_part_of_the_key():
    for name in compile_cache.MODULES:
        tree = ast.parse((ENGINE / f"{name}.py").read_text(encoding="utf-8"))
        found = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        of_ours = {module.rsplit(".", 1)[1] for module in found if module.startswith("skem.engine.")}
        assert of_ours <= {*compile_cache.MODULES, "interrupts", "compile_cache"}, name
    compiled = [path.stem for path in ENGINE.glob("*.py") if "\n@entry\n" in path.read_text(encoding="utf-8")]
    assert set(compiled) <= set(compile_cache.MODULES)


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Import a package of two compiled modules again: as another process would, or another revision."""
    shutil.copy(compile_cache.__file__, tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in compile_cache.MODULES:
        (tmp_path / f"{name}.py").touch()
    (tmp_path / "components.py").write_text(
        "from compile_cache import TolerantCache\nfrom kernels import CONSTANT\nfrom numba import njit\n\n\n"
        "def python(x):\n    return x + CONSTANT\n\n\n"
        "function = njit(python)\nfunction._cache = TolerantCache(python)\n"
    )

    def again(constant):
        (tmp_path / "kernels.py").write_text(f"CONSTANT = {constant}\n")
        for name in ("compile_cache", "kernels", "components"):
            sys.modules.pop(name, None)
            importlib.invalidate_caches()
        # Not Python's own cache, which tells files of one size and second apart by neither.
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        return importlib.import_module("components").function

    yield again
    for name in ("compile_cache", "kernels", "components"):
        sys.modules.pop(name, None)


def test_a_constant_of_another_module_changes_what_runs(load):
    assert [load(constant)(1) for constant in (10, 20, 10)] == [11, 21, 11]


def test_code_is_read_from_disk_by_the_next_process(load):
    load(10)(1)
    function = load(10)
    assert function(1) == 11
    assert sum(function.stats.cache_hits.values()) == 1


def test_two_processes_that_compile_at_once_keep_their_own_code(load, tmp_path, monkeypatch):
    first = load(10)
    first(1)
    (index,) = (tmp_path / "__pycache__").glob("*.nbi")
    kept = index.read_bytes()
    index.unlink()  # the second one looked before it was written
    monkeypatch.setattr(os, "getpid", lambda: 1)
    load(10)(0.5)
    index.write_bytes(kept)
    assert load(10)(1) == 11
    assert isinstance(load(10)(1), int)


def test_only_what_old_revisions_left_is_deleted(tmp_path):
    key, old = compile_cache.code_key(), 1.0
    names = [f"kernels.f.{key}-1.py311.nbi", "kernels.f.0123-1.py311.1-1.nbc", "of_others.f-1.py311.nbi"]
    for name in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (old, old))
    (tmp_path / "kernels.f.4567-1.py311.nbi").touch()  # of a branch that was just left
    compile_cache.delete_outdated.__wrapped__(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {
        names[0],
        names[2],
        "kernels.f.4567-1.py311.nbi",
    }
