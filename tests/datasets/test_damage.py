"""Every way a file can be wrong: none is believed, and nothing is lost."""

from __future__ import annotations

import gzip
import io
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from pictures import (
    DAMAGE,
    DIGITS,
    FILES,
    FORMS,
    PICTURES,
    fill,
    idx,
    in_package,
    is_right,
    raw_files,
    snapshot,
    tar_of,
)

from skem import datasets
from skem.datasets import _decode


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("form", FORMS)
def test_damaged_file_is_refused(mirror, home, form, damage):
    files = FORMS[form]()
    first = next(iter(files))
    fill(mirror, files | {first: DAMAGE[damage](files[first])})
    record = datasets.fetch("pictures", progress=False)
    # the bit that was flipped may lie in a header and leave the content right: then the file may be used
    assert not record["available"] or (damage == "one bit" and is_right(datasets.load("pictures")))
    if not record["available"]:
        assert first in record["reasons"][0]
        assert snapshot(home) == {}


def test_other_content_of_the_right_shape_is_refused(mirror):
    files = raw_files()
    fill(mirror, files | {"train-labels": idx(DIGITS[:6][::-1])})
    record = datasets.fetch("pictures", progress=False)
    assert not record["available"]
    assert "content is not the published one" in record["reasons"][0]


class Trap:
    """Unpickling it leaves a trace."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def damaged_caches(tmp_path: Path) -> dict[str, bytes]:
    def saved(array, **options):
        stream = io.BytesIO()
        np.save(stream, array, **options)
        return stream.getvalue()

    archive = io.BytesIO()
    np.savez(archive, data=PICTURES)
    good = saved(PICTURES)
    return {
        **{damage: change(good) for damage, change in DAMAGE.items()},
        "another type": saved(PICTURES.astype(np.int8)),
        "another shape": saved(PICTURES[:9]),
        "a huge shape": good.replace(b"(10, 4, 4), }".ljust(30), b"(10, 4, 400000000000), }".ljust(30)),
        "an archive": archive.getvalue(),
        "objects": saved(np.array([Trap(tmp_path / "trap")], dtype=object), allow_pickle=True),
        "a bare pickle": pickle.dumps(Trap(tmp_path / "trap")),
    }


@pytest.mark.parametrize("damage", damaged_caches(Path()))
def test_damaged_cache_is_noticed_and_fetched_again(mirror, home, tmp_path, damage):
    fill(mirror, raw_files())
    datasets.load("pictures")
    before = snapshot(home)
    cached = home / "pictures" / "data.npy"
    rubbish = damaged_caches(tmp_path)[damage]
    cached.write_bytes(rubbish)
    assert rubbish != before["pictures/data.npy"]

    for file in FILES:  # nowhere to fetch it from: nothing is thrown away
        (mirror / file).rename(mirror / f"{file}.away")
    record = datasets.fetch("pictures", progress=False)
    assert not record["available"]
    assert record["reasons"][0].startswith("cache: ")
    assert cached.read_bytes() == rubbish

    for file in FILES:
        (mirror / f"{file}.away").rename(mirror / file)
    record = datasets.fetch("pictures", progress=False)
    assert record["available"]
    assert len(record["reasons"]) == 1
    assert snapshot(home) == before
    assert not (tmp_path / "trap").exists()


def test_members_that_point_elsewhere_do_nothing(mirror, home, tmp_path):
    strange = {"../../escaped": b"x", str(tmp_path / "escaped"): b"x", "package/../../escaped": b"x"}
    links = {"package/away": str(tmp_path), "package/loop": "package/loop"}
    fill(mirror, {"pictures-1.0.tgz": tar_of(strange | in_package(), links)})
    outside = sorted(tmp_path.parent.rglob("escaped"))
    assert is_right(datasets.load("pictures"))
    assert sorted(tmp_path.parent.rglob("escaped")) == outside == []
    assert sorted(snapshot(home)) == ["pictures/data.npy", "pictures/record.json", "pictures/target.npy"]


def test_member_that_is_a_link_is_not_followed(mirror):
    members = in_package()
    del members["package/train-images"]
    packed = tar_of(members, {"package/train-images": "/etc/hostname"})
    fill(mirror, {"pictures-1.0.tgz": packed})
    record = datasets.fetch("pictures", progress=False)
    assert "has no member package/train-images" in record["reasons"][0]


def test_decompression_bomb_is_refused(mirror, monkeypatch):
    monkeypatch.setattr(_decode, "_LARGEST", 1 << 20)
    fill(mirror, FORMS["loose, gzipped"]() | {"train-images.gz": gzip.compress(bytes(1 << 22))})
    record = datasets.fetch("pictures", progress=False)
    assert "larger than 1 MiB" in record["reasons"][0]
