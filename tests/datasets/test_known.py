"""Descriptions of the data sets, and messages about those that are unavailable."""

from __future__ import annotations

import pickle

import pytest

from skem import datasets
from skem.datasets import _decode, _known, _sources


@pytest.mark.parametrize("name", [name for name, entry in _known.entries().items() if "sources" in entry])
def test_descriptions_are_consistent(name):
    spec = _known.entries()[name]
    assert len(spec["target_names"]) == spec["n_classes"] == len(spec.get("labels", spec["target_names"]))
    assert len(spec.get("feature_names", range(spec["shape"][1]))) == spec["shape"][1]
    assert spec["sources"][0] == {"kind": "mirror"}
    for source in spec["sources"]:
        assert source["kind"] in ("mirror", "definition") or source["decoder"] in _decode._DECODERS
    assert spec.get("levels", {}).keys() <= set(spec.get("feature_names", ()))


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


def test_descriptions_are_read_only(home):
    known = datasets.describe("rice")
    assert (known["n_classes"], tuple(known["shape"])) == (2, datasets.shape("rice")) == (2, (3810, 7))
    with pytest.raises(TypeError):
        known["n_classes"] = 3
    assert not home.exists()


@pytest.mark.parametrize("name", ["rice", "ionosphere"])
def test_included_data_sets_need_no_network(name):
    """The copy has the content of the public source, whose hash the registry states, and comes with its citation."""
    data = datasets.load(name)
    assert data.record["source"] == "the copy that comes with skem"
    spec = _known.entries()[name]
    citation = (_sources.INCLUDED / f"{name}.txt").read_text(encoding="utf-8")
    assert spec["doi"] in citation
    assert spec["licence"] in citation


def test_defined_data_sets_need_no_source(home):
    waves = datasets.load("waveform")
    assert waves.data.shape == (5000, 21)
    assert waves.record["source"] == "its definition"


@pytest.mark.parametrize("name", ["birch3", "mnist", "cifar10", "ozone"])
def test_unavailable_data_sets_name_all_sources(name):
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read"),
        ("- a\n", "holds .'a'.; write entries such as mine: {file: mine.csv}"),
        ("mine: {fil: mine.csv}\n", "entry 'mine' is .*; needed is one of the keys file, bundled or sources"),
    ],
)
def test_a_faulty_registry_is_named_with_its_variable(text, words, registry):
    if text is not None:
        registry.write_text(text)
    with pytest.raises(ValueError, match=f"SKEM_DATASETS={registry}.*{words}"):
        datasets.names()
