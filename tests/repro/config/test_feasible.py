"""What would fail in jobs is refused before, whatever stands in a file."""

import copy

import pytest
import yaml
from configurations import CONFIG, NUMBERS, REAL, ROOT, SCHEMAS, merged, unclear, walk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skem.repro.config import documents, experiments, feasible
from skem.repro.config.documents import ConfigurationError
from skem.repro.training.settings import Setting


@pytest.mark.parametrize(
    ("overlay", "words"),
    [
        ({"seed": "2022"}, ["seed is '2022'", "integer", "leave out the quotes"]),
        ({"runs": {"rice": 10**12}}, ["runs.rice", "maximum of 10000"]),
        ({"experiments": ["a" * 5000]}, ["experiments.0", "too long", "100 characters"]),
        ({"experiments": ["../table1"]}, ["experiments.0", "'../table1'", "[A-Za-z0-9_-]"]),
        ({"features": {"Rice2": REAL["config"]["features"]["rice"]}}, ["features: 'Rice2' is no name", "[a-z0-9_]"]),
        ({"features": {"rice": {"validation_fraction": 0.9999}}}, ["rice.validation_fraction is 0.9999", "0.999"]),
        ({"features": {"rice": {"validation_fraction": 1e-9}}}, ["rice.validation_fraction is 1e-09", "0.000583"]),
        ({"features": {"cifar10": {"validation_fraction": 1e-5}}}, ["cifar10.validation_fraction is 1e-05"]),
        ({"runs": {1: 2}}, ["key 'runs.1' is no text"]),
        ({"features": {"ionosphere": {"n_folds": 176}}}, ["ionosphere.n_folds is 176", "351 rows of 2 classes", "175"]),
        ({"features": {"mnist": {"n_train": 9}}}, ["mnist.n_train is 9", "10 classes", "n_components is 150"]),
        ({"features": {"cifar10": {"n_components": 2501, "validation_fraction": 0.95}}}, ["cifar10.n_components is 2501", "2500 images"]),
    ],
)  # fmt: skip
def test_what_would_fail_in_jobs_is_refused_before(overlay, words, tmp_path):
    with pytest.raises(ConfigurationError) as caught:
        experiments.load(merged(overlay), [CONFIG], ROOT / "config", SCHEMAS, NUMBERS)
    assert not unclear(str(caught.value), *words)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("init", "rows", "n_components", "accepted"),
    [
        ("uniform", "all", 5000, True),
        ("sample", "all", 3429, True),  # of 3810 rows, nine of ten folds
        ("sample", "all", 3430, False),
        ("sample", "part", 3086, True),  # and a tenth of these to validate on
        ("kmeans", "part", 3087, False),
    ],
)
def test_a_start_that_draws_more_rows_than_there_are(init, rows, n_components, accepted):
    params = {"init": init, "n_components": n_components, "max_iter": 3}
    setting = Setting("rice", "own", "K", "K", "skem", params, 7, 1, [rows], [0], {})
    found = feasible.faults_of_setting("own.yaml: K", setting, REAL["config"]["features"]["rice"])
    assert [unclear(fault, f"n_components is {n_components}", init, "rows") for fault in found] == [""] * (
        not accepted
    )


def test_the_folds_of_a_setting_fit_the_data_set():
    setting = Setting("rice", "own", "K", "K", "skem", {}, 7, 1, ["all"], [0], {"folds": "stratified"})
    spec = REAL["config"]["features"]["rice"] | {"folds": "shuffled", "n_folds": 2000}
    assert not feasible.faults_of_features(spec)
    (fault,) = feasible.faults_of_setting("own.yaml: K", setting, spec)
    assert not unclear(fault, "stratified folds: features.rice.n_folds is 2000", "at most 1905")


def test_data_sets_that_nothing_describes():
    assert not feasible.faults_of_names("peers.yaml: beside.data_sets", ["mnist"], REAL["config"]["features"])
    (fault,) = feasible.faults_of_names("regress.yaml: accuracy.runs", {"mnist", "wine"}, ["mnist", "rice"])
    assert not unclear(fault, "regress.yaml: accuracy.runs names 'wine'", "allowed: mnist, rice")


def test_how_many_rows_train():
    features = REAL["config"]["features"]
    assert feasible.rows_trained(features["mnist_half"], "all") == features["mnist_half"]["n_train"]
    assert feasible.rows_trained(features["cifar10"], "part") == 45000
    assert feasible.rows_trained(features["ionosphere"], "all") == 280


@pytest.mark.parametrize(
    ("name", "key", "value", "words"),
    [
        ("rice", "target_names", ["one"], ["rice.target_names has 1 names", "n_classes: 2"]),
        ("satimage", "labels", ["1", "2"], ["satimage.labels has 2 names", "n_classes: 6"]),
        ("rice", "feature_names", ["Area"], ["rice.feature_names has 1 names", "columns in shape: 7"]),
        ("mnist", "n_train", 70000, ["mnist.n_train is 70000", "70000 rows"]),
        ("mnist", "n_train", 9, ["mnist.n_train is 9", "10 classes"]),
        (
            "mnist",
            "n_classes",
            70001,
            ["mnist.n_classes is 70001", "target_names has 10 names", "70000 rows"],
        ),
    ],
)
def test_what_contradicts_itself_in_the_list_of_data_sets(name, key, value, words):
    described = copy.deepcopy(REAL["datasets"])
    assert not feasible.faults_of_data_sets(described)
    described[name][key] = value
    assert not unclear("\n".join(feasible.faults_of_data_sets(described)), *words)


ODD = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**40), 10**40),
        st.floats(),
        st.text(max_size=5),
        st.sampled_from(["", "x" * 5000, "..", "/", "1e-6", "2022", "rice", "\0", "é", "{}", "\n"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(st.text(max_size=3), st.integers(), st.none(), st.booleans()), inner, max_size=3
        ),
    ),
    max_leaves=4,
)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_overlay_is_accepted_or_refused_in_plain_lines(data, tmp_path):
    """A value of the configuration replaced by something odd, a key deleted, or one more given."""
    document = copy.deepcopy(REAL["config"])
    path = data.draw(st.sampled_from(sorted(walk(document), key=str)))
    *above, last = path
    node = document
    for key in above:
        node = node[key]
    if data.draw(st.booleans()):
        node[last] = data.draw(ODD)
    elif isinstance(node, dict):
        del node[last]
        node[data.draw(st.one_of(st.text(max_size=3), st.integers(), st.none()))] = data.draw(ODD)
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    try:
        experiments.load(documents.read(file), [file], ROOT / "config", SCHEMAS, NUMBERS)
    except ConfigurationError as error:
        for line in str(error).split("\n       "):
            assert "config" in line
            assert len(line) < 700
