"""numba's cache on disk holds the code that runs; damaged or full, it never ends a fit."""

import ast
import errno
import importlib
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile
from sklearn.datasets import load_iris

from skem import GaussianMixture, KMeans, PRBFClassifier, PSKEMClassifier, SKEMClassifier
from skem.engine import compile_cache
from skem.warm_up import warm_up

ENGINE = Path(compile_cache.__file__).parent


def test_key_covers_the_imports_of_compiled_modules():
    for name in compile_cache.MODULES:
        tree = ast.parse((ENGINE / f"{name}.py").read_text(encoding="utf-8"))
        found = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        of_ours = {module.rsplit(".", 1)[1] for module in found if module.startswith("skem.engine.")}
        assert of_ours <= {*compile_cache.MODULES, "interrupts", "compile_cache"}, name
    compiled = [path.stem for path in ENGINE.glob("*.py") if "\n@entry\n" in path.read_text(encoding="utf-8")]
    assert set(compiled) <= set(compile_cache.MODULES)


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Import a package of two compiled modules as another process would, or another revision."""
    compile_cache._warn_once.cache_clear()
    compile_cache._announce.cache_clear()
    shutil.copy(compile_cache.__file__, tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    # Not Python's own cache, which tells files of one size and second apart by neither.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in compile_cache.MODULES:
        (tmp_path / f"{name}.py").touch()
    (tmp_path / "components.py").write_text(
        "from compile_cache import TolerantCache\nfrom kernels import CONSTANT\nfrom numba import njit\n\n\n"
        "def python(x):\n    return x + CONSTANT\n\n\n"
        "function = njit(python)\nfunction._cache = TolerantCache(python)\n"
    )

    def forget():
        for name in ("compile_cache", "kernels", "components"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()

    def imported(constant=10):
        (tmp_path / "kernels.py").write_text(f"CONSTANT = {constant}\n")
        forget()
        return importlib.import_module("components").function

    yield imported
    forget()


def test_constants_of_other_modules(load):
    assert [load(constant)(1) for constant in (10, 20, 10)] == [11, 21, 11]


def test_compilation_is_announced_once(load, caplog):
    load()(1)
    assert [record.name for record in caplog.records] == ["skem"]
    assert "python -m skem.warm_up" in caplog.text
    caplog.clear()
    assert load()(1) == 11  # from disk
    assert not caplog.records


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", [lambda blob: blob[:-20], lambda blob: b"\xff" * 99])
def test_damaged_files_are_compiled_again(load, tmp_path, suffix, damage):
    assert load()(1) == 11
    for path in (tmp_path / "__pycache__").glob(f"*{suffix}"):
        path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(RuntimeWarning, match="has damaged files") as caught:
        assert load()(1) == 11
    assert len(caught) == 1
    mended = load()
    assert mended(1) == 11
    assert sum(mended.stats.cache_hits.values()) == 1


def test_full_disk_is_one_warning(load, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(IndexDataCacheFile, "_save_data", full)
    function = load()
    with pytest.warns(RuntimeWarning, match=r"cannot be written.*No space left") as caught:
        assert (function(1), function(1.5)) == (11, 11.5)
    assert len(caught) == 1


def test_files_of_old_revisions_are_deleted(tmp_path):
    key, old = compile_cache.code_key(), 1.0
    names = [f"kernels.f.{key}-1.py311.nbi", "kernels.f.0123-1.py311.1-1.nbc", "of_others.f-1.py311.nbi"]
    for name in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (old, old))
    recent = "kernels.f.4567-1.py311.nbi"  # of a branch that was just left
    (tmp_path / recent).touch()
    compile_cache.delete_outdated.__wrapped__(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {names[0], names[2], recent}


def test_warm_up_compiles_what_is_missing(caplog):
    warm_up()
    compile_cache._announce.cache_clear()
    caplog.clear()
    X, y = load_iris(return_X_y=True)
    for model in (PSKEMClassifier(6, n_blocks=2), PRBFClassifier(6), GaussianMixture(3, n_init=2)):
        model.set_params(random_state=0).fit(X.astype(np.float32), y).predict(X)
    assert not caplog.records


def layouts(X, path):
    read_only = X.copy()
    read_only.flags.writeable = False
    np.save(path, X)
    return read_only, np.asfortranarray(X), np.load(path, mmap_mode="r"), np.repeat(X, 2, axis=1)[:, ::2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_layout_of_samples_is_compiled_for_again(dtype, tmp_path, new_types):
    warm_up()
    warmed, (X, y) = new_types(), load_iris(return_X_y=True)
    for samples in layouts(X.astype(dtype), tmp_path / "X.npy"):
        shared = SKEMClassifier(6, init_params="sample", max_iter=2)
        for model in (KMeans(3), GaussianMixture(3, max_iter=2), shared):
            model.set_params(random_state=0).fit(samples, y).predict(samples)
    assert new_types() == warmed
