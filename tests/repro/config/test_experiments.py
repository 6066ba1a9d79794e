"""Experiments: their grids, the settings they ask for, and the faults of all their files told together."""

import copy
import shutil

import pytest
import yaml
from configurations import (
    CONFIG,
    DATASETS,
    DUMPER,
    EXPERIMENTS,
    REAL,
    ROOT,
    SCHEMAS,
    complaint,
    merged,
    unclear,
)

from skem.repro.config import documents, experiments, schemas
from skem.repro.config.documents import ConfigurationError
from skem.repro.training import feature_store


@pytest.mark.parametrize("overlays", [[], ["paper"], ["ci"], ["paper", "ci"]])
@pytest.mark.parametrize("experiment", sorted(path.stem for path in EXPERIMENTS.glob("*.yaml")))
def test_the_committed_files_are_valid(overlays, experiment):
    files = [ROOT / "config" / f"{name}.yaml" for name in overlays]
    config = merged(*map(documents.read, files))
    schemas.check(config, SCHEMAS / "config.yaml", [CONFIG, *files])
    experiments.check_known(config, [CONFIG])
    schemas.check(REAL["datasets"], SCHEMAS / "datasets.yaml", [DATASETS])
    content, found = experiments.settings(experiment, EXPERIMENTS, SCHEMAS / "experiment.yaml", config)
    assert content["title"]
    assert {setting.dataset for setting in found} == {
        name for name in content["data_sets"] if config["runs"][name]
    }
    for setting in found:
        assert len(setting.runs) <= config["runs"][setting.dataset]
        blocks = setting.blocks(config["runs_per_job"][setting.dataset])
        assert [run for block in blocks for run in feature_store.runs_of(block)] == setting.runs
        how = content["data_sets"][setting.dataset]["methods"][setting.method]
        if how["model"] in ("skem", "pskem", "mda"):
            assert setting.params["max_iter"] > 0
        else:
            assert not setting.params


GRID = {"partition": ["2x16", "4x8", "1x32"], "n_components": [4, 8, 12], "rows": ["all"]}
"""A grid for ionosphere, which has 32 features."""


def expanded(tmp_path, grid, config=None, **method):
    """The settings of an experiment with one method."""
    how = {"model": "pskem", "params": {"reg_covar": 0.1}, "grid": grid} | method
    entry = {"max_iter": 3, "methods": {"grid": how}}
    content = {"title": "A grid", "data_sets": {"ionosphere": entry}}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    config = config or REAL["config"]
    return experiments.settings("own", tmp_path, SCHEMAS / "experiment.yaml", config)[1]


def test_a_grid_is_every_combination_named_after_what_it_is(tmp_path):
    found = expanded(tmp_path, GRID | {"max_iter": {"1x32": 9}, "runs": {"4x8": 1}}, runs=2)
    assert [setting.name for setting in found] == [
        f"{partition}-K{k}" for partition in GRID["partition"] for k in GRID["n_components"]
    ]
    last = found[-1]
    assert (last.n_features, last.unit, last.runs) == (32, "1x32", [0, 1])
    assert last.params == {"reg_covar": 0.1, "n_blocks": 1, "n_components": 12, "max_iter": 9}
    assert found[0].params["n_blocks"] == 2
    assert found[0].params["max_iter"] == 3
    assert {setting.unit: len(setting.runs) for setting in found} == {"2x16": 2, "4x8": 1, "1x32": 2}
    assert len({(setting.name, setting.unit) for setting in found}) == 9


def test_the_ends_of_a_grid(tmp_path):
    found = expanded(tmp_path, GRID, merged({"grids": "ends"}))
    assert [setting.name for setting in found] == ["2x16-K4", "2x16-K12", "1x32-K4", "1x32-K12"]
    assert {setting.unit for setting in found} == {"grid"}


def test_folds_and_scaling_are_of_the_features_not_of_the_model(tmp_path):
    grid = {
        "partition": ["1x32"],
        "folds": ["contiguous"],
        "scale": ["none", "range"],
        "rows": ["all", "part"],
    }
    found = expanded(tmp_path, grid, model="svm_rbf", params={})
    assert [setting.name for setting in found] == ["1x32-contiguous-none", "1x32-contiguous-range"]
    assert found[1].features == {"folds": "contiguous", "scale": "range"}
    assert found[1].params == {}


def test_all_faults_of_an_experiment_are_told_at_once(tmp_path):
    with pytest.raises(ConfigurationError) as caught:
        expanded(
            tmp_path, GRID | {"partition": ["2x16", "3x20", "1x99"]}, params={"n_blocks": 2}, model="skem"
        )
    message = str(caught.value)
    for words in (
        "3x20-K4.n_features is 60",
        "1x99-K12.n_features is 99, ionosphere has 32",
        "no parameter 'n_blocks'",
    ):
        assert words in message
    assert message.count("own.yaml") == message.count("\n") + 1 > 6


def test_a_fault_of_the_schema_hides_no_other_fault(tmp_path):
    grid = {"model": "pskem", "params": {}, "grid": GRID | {"partition": ["99x9"], "n_components": [4]}}
    methods = {"unknown": {"model": "gmm"} | {key: grid[key] for key in ("params", "grid")}, "large": grid}
    content = {
        "title": "Faults",
        "data_sets": {
            "ionosphere": {"methods": methods},
            "wine": {"max_iter": 3, "methods": {"skem": {"model": "skem", "params": {}, "grid": GRID}}},
        },
    }
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        experiments.settings("own", tmp_path, SCHEMAS / "experiment.yaml", REAL["config"])
    lines = str(caught.value).split("\n")
    for words in (
        "unknown.model is 'gmm'",
        "unknown.settings.99x9-K4.n_features is 891, ionosphere has 32",
        "large.settings.99x9-K4.n_features is 891",
        "data_sets.wine: no such data set under features",
        "skem.grid.partition has 2x16",
        "skem.grid.partition has 4x8",
    ):
        assert sum(words in line for line in lines) == 1, words
    assert len(lines) == 6


def test_faults_of_all_files_are_told_together(tmp_path):
    (tmp_path / "experiments").mkdir()
    for name, model in (("one", "gmm"), ("two", "svm")):
        method = {"model": model, "params": {}, "grid": GRID}
        content = {"title": name, "data_sets": {"ionosphere": {"methods": {"own": method}}}}
        (tmp_path / "experiments" / f"{name}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    described = copy.deepcopy(REAL["datasets"])
    described["rice"]["n_classes"] = 0
    (tmp_path / "datasets.yaml").write_text(yaml.dump(described, Dumper=DUMPER), encoding="utf-8")
    broken = merged({"seed": "x", "experiments": ["one", "two", "three"]})
    with pytest.raises(ConfigurationError) as caught:
        experiments.load(broken, [CONFIG], tmp_path, SCHEMAS)
    words = ("seed is 'x'", "rice.n_classes", "one.yaml", "'gmm'", "two.yaml", "'svm'", "three.yaml")
    assert not unclear(str(caught.value), *words)


def test_two_experiments_may_not_call_two_settings_the_same(tmp_path):
    (tmp_path / "experiments").mkdir()
    shutil.copy(DATASETS, tmp_path)
    for name, ridge in (("one", 0.1), ("two", 0.2)):
        method = {"model": "pskem", "params": {"reg_covar": ridge}, "grid": GRID}
        content = {"title": name, "data_sets": {"ionosphere": {"max_iter": 2, "methods": {"own": method}}}}
        (tmp_path / "experiments" / f"{name}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        experiments.load(merged({"experiments": ["one", "two"]}), [CONFIG], tmp_path, SCHEMAS)
    assert not unclear(str(caught.value), "two.yaml: ionosphere/own/2x16-K4", "1x32-K12", "another setting")


@pytest.mark.parametrize("key", ["max_iter", "runs"])
def test_passes_and_runs_of_a_partition_that_is_in_no_grid(tmp_path, key):
    with pytest.raises(ConfigurationError) as caught:
        expanded(tmp_path, GRID | {key: {"1x63": 40}})
    assert not unclear(str(caught.value), f"grid.{key} names partition '1x63'; allowed: 2x16, 4x8, 1x32")


@pytest.mark.parametrize("init", ["class", "class_kmeans"])
def test_a_start_by_class_needs_a_component_per_class(init, tmp_path):
    method = {"model": "pskem", "params": {"init": init}, "grid": {"partition": ["3x12"], "rows": ["all"]}}

    def settings(*n_components):
        method["grid"]["n_components"] = list(n_components)
        content = {
            "title": "Starts",
            "data_sets": {"mnist_half": {"max_iter": 3, "methods": {"own": method}}},
        }
        (tmp_path / "own.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
        return experiments.settings("own", tmp_path, SCHEMAS / "experiment.yaml", REAL["config"])

    settings(1, 10, 20)  # one is the same Gaussian for all classes
    with pytest.raises(ConfigurationError) as caught:
        settings(9, 10)
    message = str(caught.value)
    assert not unclear(message, "3x12-K9: n_components is 9", init, "10 classes")
    assert "3x12-K10" not in message


def test_the_setting_of_a_paper_is_written_out(tmp_path):
    """Passes are timed of one setting, and the points of a grid share their jobs."""
    document = copy.deepcopy(REAL["experiment"])
    rice = document["data_sets"]["rice"]
    rice["methods"]["grid"] = {
        "model": "skem",
        "params": {},
        "grid": {"partition": ["1x7"], "n_components": [9], "rows": ["all"]},
    }
    assert complaint("experiment", document, tmp_path) is None
    rice["paper"]["setting"] = "1x7-K9"
    assert not unclear(complaint("experiment", document, tmp_path), "paper.setting is '1x7-K9'", "1x7-K14")
