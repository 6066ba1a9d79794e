"""Experiments: their grids, and faults of the settings they ask for."""

from functools import partial

import pytest
from claims import ROOT

from skem.repro.config import expansion
from skem.repro.config.documents import ConfigurationError, read

TABLE = {"source": "ionosphere", "recipe": "table", "scale": "none", "folds": "stratified", "n_folds": 5}
FEATURES = {"ionosphere": TABLE, "mnist": {"source": "mnist", "recipe": "images", "n_components": 39}}
GRID = {"partition": ["2x16", "4x8", "1x32"], "n_components": [4, 8, 12], "rows": ["all"]}
"""A grid for ionosphere, which has 32 features of 34 columns."""


def expanded(grid=None, ends=False, dataset="ionosphere", candidate_runs=None, **method):
    how = {"model": "pskem", "params": {"reg_covar": 0.1}} | ({"grid": grid} if grid else {}) | method
    content = {"title": "A grid", "data_sets": {dataset: {"max_iter": 3, "methods": {"own": how}}}}
    fewer = {dataset: candidate_runs}
    runs = dict.fromkeys(FEATURES, 5)
    return expansion.settings("own.yaml", content, FEATURES, runs, ends=ends, candidate_runs=fewer)


def test_a_grid_is_every_combination_named_after_its_values():
    found = expanded(GRID | {"max_iter": {"1x32": 9}, "runs": {"4x8": 1}}, runs=2)
    assert [s.name for s in found] == [f"{p}-K{k}" for p in GRID["partition"] for k in GRID["n_components"]]
    assert (found[-1].n_features, found[-1].unit, found[-1].runs) == (32, "1x32", [0, 1])
    assert found[-1].params == {"reg_covar": 0.1, "n_blocks": 1, "n_components": 12, "max_iter": 9}
    assert found[0].params["max_iter"] == 3
    assert {s.unit: len(s.runs) for s in found} == {"2x16": 2, "4x8": 1, "1x32": 2}


def test_the_ends_of_a_grid():
    found = expanded(GRID, ends=True)
    assert [s.name for s in found] == ["2x16-K4", "2x16-K12", "1x32-K4", "1x32-K12"]
    assert {s.unit for s in found} == {"grid"}


def test_candidates_add_regularisations_to_every_setting():
    own = {"n_features": 32, "params": {"n_components": 12}}
    written = {
        "a": own | {"rows": ["all", "part"]},
        "b": own | {"rows": ["all"], "runs": 4},
        "c": own | {"rows": ["part"]},
    }
    found = partial(expanded, settings=written, candidates={"reg_covar": [0.3, 1.0, 3.0]})
    table = {s.name: (s.unit, s.params["reg_covar"], s.rows, len(s.runs)) for s in found(candidate_runs=2)}
    assert table["a"] == ("a", 0.1, ["all", "part"], 5)
    assert table["a-reg_covar0.3"] == ("candidates", 0.3, ["part"], 2)
    # With validation samples apart from the training samples, fits on all of them count.
    assert table["b-reg_covar3"] == ("candidates", 3.0, ["all"], 2)
    # Nothing but nested compares a setting that is trained beside validation samples alone.
    assert table["c"] == ("candidates", 0.1, ["part"], 2)
    assert len(table) == 12
    assert [s.name for s in found(ends=True, candidate_runs=2)][:3] == ["a", "a-reg_covar0.3", "a-reg_covar3"]
    assert [s.name for s in found(candidate_runs=0)] == ["a", "b"]


def test_folds_and_scaling_belong_to_the_features():
    grid = {"partition": ["1x32"], "folds": ["contiguous"], "scale": ["none", "range"], "rows": ["all"]}
    found = expanded(grid, model="svm_rbf", params={})
    assert [s.name for s in found] == ["1x32-contiguous-none", "1x32-contiguous-range"]
    assert found[1].spec == TABLE | {"folds": "contiguous", "scale": "range"}
    assert found[1].params == {}


@pytest.mark.parametrize(
    ("grid", "more", "words"),
    [
        ({"partition": ["3x20"]}, {}, "3x20-K4: n_features is 60; ionosphere has 34"),
        ({"max_iter": {"1x63": 4}}, {}, "grid.max_iter names '1x63'; did you mean 1x32? allowed: 2x16, 4x8, 1x32"),
        ({}, {"model": "skem"}, "2x16-K4: 2 blocks; skem has one block, as in partition 1x32"),
        ({}, {"model": "mda", "params": {"covariance_type": "tied"}}, "mda has no parameter 'covariance_type'"),
        ({}, {"dataset": "mnst"}, "data_sets names 'mnst'; did you mean mnist?"),
        ({"partition": ["3x13"]}, {"dataset": "mnist", "params": {"init": "class"}}, "one for each of 10 classes"),
        ({"scale": ["range"], "partition": ["1x9"]}, {"dataset": "mnist"}, "mnist is no table; leave out scale"),
    ],
)  # fmt: skip
def test_faults_of_settings(grid, more, words):
    with pytest.raises(ConfigurationError) as caught:
        expanded(GRID | grid, **more)
    assert words in str(caught.value)
    assert all("own.yaml: data_sets" in line for line in str(caught.value).split("\n"))


def test_faults_of_a_paper_entry():
    content = read(ROOT / "config/experiments/table1.yaml")
    rice = content["data_sets"]["rice"]
    rice["paper"] |= {"chosen_on_test": ["1x7-K41"]}
    rice["paper"] |= {"setting": "1x7-K9"}
    del content["data_sets"]["mnist"]["paper"]
    with pytest.raises(ConfigurationError) as caught:
        expansion.settings("own.yaml", content, {}, dict.fromkeys(content["data_sets"], 1))
    for words in (
        "rice.paper.chosen_on_test names '1x7-K41'; did you mean 1x7-K14?",
        "rice.paper.setting is '1x7-K9'; did you mean 1x7-K8? allowed: 1x7-K14",
        "data_sets.mnist has no entry 'paper' as the others do",
    ):
        assert words in str(caught.value)
