"""Runs whose home folder cannot be written."""

import os

import platformdirs
import pytest

from skem.repro import caches


@pytest.mark.skipif(os.name != "posix", reason="the variables are those of POSIX systems")
def test_caches_of_a_home_that_cannot_be_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "writable"))
    caches.move_unwritable()
    assert platformdirs.user_cache_path() == tmp_path / "writable"
    assert capsys.readouterr().err == ""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    caches.move_unwritable()
    assert platformdirs.user_cache_path() == tmp_path / ".snakemake/cache"
    assert f"{tmp_path / 'file'} cannot be written" in capsys.readouterr().err
