"""Data sets as they are loaded: from every form of a source, and from the cache."""

from __future__ import annotations

import numpy as np
import pytest
from pictures import FORMS, PICTURES, fill, is_right, raw_files, snapshot, spec_of

from skem import datasets
from skem.datasets import _known


@pytest.mark.parametrize("form", FORMS)
def test_mirror_takes_every_form(mirror, form):
    fill(mirror, FORMS[form]())
    record = datasets.fetch("pictures", progress=False)
    assert record["available"]
    assert record["reasons"] == []
    assert record["source"].startswith("mirror folder (")
    assert is_right(datasets.load("pictures"))


def test_a_mirror_alone_is_a_source(mirror):
    table = np.array([[1.5, 2.0], [3.0, -4.0], [0.5, 1.0]])
    entries = _known.entries()
    entries["pictures"] = spec_of(table, np.array([0, 1, 0]), [], target_names=["a", "b"])
    with pytest.raises(datasets.DatasetNotAvailable, match=r"Place its table, rows of numbers"):
        datasets.load("pictures")
    fill(mirror, {"READ[ME": b"nothing", "some table.csv": b"x,z,label\n1.5,2,a\n3,-4,b\n0.5,1,a\n"})
    np.testing.assert_array_equal(datasets.load("pictures").data, table)


@pytest.mark.parametrize("content", [b"secret\x00\xff\xfe", b"1,secret\n2,secret\n"])
def test_a_reason_quotes_nothing_of_a_file(monkeypatch, tmp_path, content):
    """A file in the mirror folder may be a link to anything."""
    monkeypatch.setenv("SKEM_DATA_MIRROR", str(tmp_path / "mirror"))
    (tmp_path / "mirror/ozone").mkdir(parents=True)
    (tmp_path / "elsewhere").write_bytes(content)
    (tmp_path / "mirror/ozone/eighthr.data").symlink_to(tmp_path / "elsewhere")
    record = datasets.fetch("ozone")
    assert not record["available"]
    assert "table" in record["reasons"][0]
    assert "secret" not in str(record)


def test_a_wrong_switch_for_working_offline_is_named(monkeypatch):
    monkeypatch.setenv("SKEM_OFFLINE", "maybe")
    with pytest.raises(ValueError, match="SKEM_OFFLINE is 'maybe'; allowed: 1, true"):
        datasets.fetch("rice")


def test_load_gives_a_data_set(mirror, home):
    fill(mirror, raw_files())
    found = datasets.load("pictures")
    assert found.data.dtype == np.uint8
    assert found.target.dtype == np.int64
    assert found.target_names == ("0", "1", "2")
    assert found.feature_names is None
    assert [len(part) for part in (*found.train, *found.test)] == [6, 6, 4, 4]
    assert np.array_equal(np.concatenate([found.train[0], found.test[0]]), PICTURES)
    found.data[0] = 0  # the arrays are the caller's own
    assert is_right(datasets.load("pictures"))
    with pytest.raises(AttributeError):
        found.name = "other"
    _known.entries()["pictures"]["n_train"] = None
    with pytest.raises(ValueError, match="no published training and test set"):
        _ = datasets.load("pictures").train


def test_home_is_the_argument_or_the_environment(mirror, home, tmp_path):
    absent = datasets.fetch("pictures", progress=False, home=tmp_path / "third")
    fill(mirror, raw_files())
    table = datasets.format_table(
        [absent, datasets.fetch("pictures", home=tmp_path / "other", progress=False)]
    )
    assert "not available" in table.splitlines()[2]
    assert _known.entries()["pictures"]["sha256"][:12] in table.splitlines()[3]
    assert (tmp_path / "other" / "pictures" / "data.npy").is_file()
    assert not home.exists()
    datasets.fetch("pictures", progress=False)
    assert sorted(snapshot(home)) == ["pictures/data.npy", "pictures/record.json", "pictures/target.npy"]
