"""What is written down about data sets, and what is said of those that cannot be had."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import yaml
from pictures import pictures_config
from pydantic import ValidationError

from skem import datasets
from skem.datasets import _decode, _known
from skem.repro.config.models import DescribedDataSets

ROOT = Path(__file__).parents[2]
MIRROR_OF_THIS_MACHINE = os.environ.get("SKEM_DATA_MIRROR")
NAMES = (
    *("mnist", "fashion_mnist", "cifar10", "rice", "ionosphere", "pima", "phoneme", "satimage"),
    *("ripley", "banana", "titanic", "breast", "waveform"),
    *("letter", "penbased", "magic", "winequality", "covertype", "ozone", "birch3"),
)


def test_config_is_valid_and_names_every_data_set():
    config = yaml.safe_load((ROOT / "config" / "datasets.yaml").read_text())
    DescribedDataSets.model_validate(config)
    assert datasets.names() == tuple(config) == NAMES


def test_wrong_entries_are_refused():
    DescribedDataSets.model_validate(pictures_config())
    for change in (
        {"colour": "red"},
        {"sha256": "1"},
        {"sources": [{"kind": "mirror", "path": "x"}]},
        {"target_names": ["one"]},
        {"n_train": 10**6},
    ):
        config = pictures_config()
        config["pictures"] |= change
        with pytest.raises(ValidationError):
            DescribedDataSets.model_validate(config)


@pytest.mark.parametrize("name", NAMES)
def test_config_fits_itself(name):
    spec = _known.entries()[name]
    assert len(spec["target_names"]) == spec["n_classes"] == len(spec.get("labels", spec["target_names"]))
    assert len(spec.get("feature_names", range(spec["shape"][1]))) == spec["shape"][1]
    assert spec["sources"][0] == {"kind": "mirror"}
    for source in spec["sources"]:
        assert source["kind"] in ("mirror", "definition") or source["decoder"] in _decode._DECODERS
    assert spec.get("levels", {}).keys() <= set(spec.get("feature_names", ()))


def test_rice_from_the_mirror_of_this_machine_or_a_clear_reason(monkeypatch):
    if MIRROR_OF_THIS_MACHINE:
        monkeypatch.setenv("SKEM_DATA_MIRROR", MIRROR_OF_THIS_MACHINE)
    record = datasets.fetch("rice", progress=False)
    if record["available"]:
        rice = datasets.load("rice")
        assert rice.data.shape == (3810, 7)
        assert rice.target_names == ("Cammeo", "Osmancik")
        assert np.bincount(rice.target).tolist() == [1630, 2180]
        assert np.all(np.diff(rice.target) >= 0)  # the file's order: sorted by class
        assert rice.data[0, 0] == 15231
    else:
        assert record["reasons"][0].startswith("mirror folder: ")


def test_unknown_name():
    with pytest.raises(
        ValueError, match=r"unknown data set 'fashion-mnist'.*ionosphere.*mean 'fashion_mnist'"
    ):
        datasets.load("fashion-mnist")
    with pytest.raises(ValueError, match="unknown data set 3"):
        datasets.fetch(3)
    for ask in (datasets.shape, datasets.describe):
        with pytest.raises(ValueError, match="unknown data set 'moons'"):
            ask("moons")


def test_what_is_known_of_a_data_set_is_told_without_it_and_not_to_be_changed(home):
    known = datasets.describe("rice")
    assert (known["n_classes"], tuple(known["shape"])) == (2, datasets.shape("rice")) == (2, (3810, 7))
    with pytest.raises(TypeError):
        known["n_classes"] = 3
    assert not home.exists()


def test_what_has_a_definition_needs_no_source(home):
    waves = datasets.load("waveform")
    assert waves.data.shape == (5000, 21)
    assert waves.record["source"] == "its definition"


@pytest.mark.parametrize("name", [name for name in NAMES if name != "waveform"])
def test_not_available_says_what_was_tried_and_where_to_put_the_file(name):
    record = datasets.fetch(name, progress=False)
    spec = _known.entries()[name]
    assert not record["available"]
    assert record["source"] is None
    assert len(record["reasons"]) == len(spec["sources"])
    with pytest.raises(datasets.DatasetNotAvailable) as caught:
        datasets.load(name)
    message = str(caught.value)
    assert repr(name) in message
    assert f"$SKEM_DATA_MIRROR/{name}/" in message
    assert all(reason in message for reason in record["reasons"])
    for source in spec["sources"]:
        assert source.get("package", "") in message
        assert source.get("archive", "") in message
        assert all(file["url"] in message for file in source.get("files", ()))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == message
    assert again.record == record
