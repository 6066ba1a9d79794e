"""The configuration: whatever is wrong in a file stops before any job, with the file, the key and what is allowed."""

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from snakemake.utils import update_config

from skem.repro.config import documents, experiments, schemas
from skem.repro.config.documents import ConfigurationError
from skem.repro.ledger import stated_claims
from skem.repro.training import feature_store

ROOT = Path(__file__).parents[3]
SCHEMAS = ROOT / "workflow" / "schemas"
EXPERIMENTS = ROOT / "config" / "experiments"
NAN, INF = float("nan"), float("inf")
CONFIG, DATASETS, TABLE1 = (
    ROOT / "config" / name for name in ("config.yaml", "datasets.yaml", "experiments/table1.yaml")
)
FILES = {"config": CONFIG, "datasets": DATASETS, "experiment": TABLE1}
SOME = {"datasets": ["mnist", "ionosphere"], "data_sets": ["ionosphere"]}
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
STATED = stated_claims.read(
    ROOT / "config" / "claims.csv", documents.read(ROOT / "config" / "protocols.yaml")
)
NUMBERS = set(STATED.loc[STATED["kind"] == "number", "id"])
REAL = {schema: yaml.safe_load(path.read_text(encoding="utf-8")) for schema, path in FILES.items()}


def merged(*overlays):
    config = copy.deepcopy(REAL["config"])
    for overlay in overlays:
        update_config(config, overlay)
    return config


def check(schema, document, folder):
    """Everything that is checked of a file before any job."""
    path = folder / FILES[schema].name
    path.write_text(yaml.dump(document, Dumper=DUMPER), encoding="utf-8")
    if schema == "experiment":
        experiments.settings("table1", folder, SCHEMAS / "experiment.yaml", REAL["config"], NUMBERS)
    elif schema == "config":
        experiments.load(document, [path], ROOT / "config", SCHEMAS, NUMBERS)
    else:
        schemas.check(document, SCHEMAS / f"{schema}.yaml", [path])


def walk(node, path=()):
    """Every path of a document."""
    if path:
        yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield from walk(child, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def paths(schema):
    """Of some data sets; the others are like them."""
    for path in walk(REAL[schema]):
        kind, names = (path[0], path[1:2]) if schema == "experiment" else (schema, path[:1])
        if kind not in SOME or not names or names[0] in SOME[kind]:
            yield path


def changed(schema, path, value):
    """The real file with one value changed; without a value, the key is gone."""
    document = copy.deepcopy(REAL[schema])
    parent = at(document, path[:-1])
    if value is Ellipsis:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return document


def complaint(schema, document, folder):
    """The message, without the folder, or None if nothing is wrong."""
    try:
        check(schema, document, folder)
    except ConfigurationError as error:
        return str(error).replace(f"{folder}/", "")
    except Exception as error:
        return f"crash: {error!r}"
    return None


def wrong_values(value):
    """What can never stand where `value` does."""
    if isinstance(value, dict | list) or value is None:
        return ["nonsense"]
    if isinstance(value, bool):
        return ["nonsense", 7]
    if isinstance(value, int):
        return [str(value), float(value), True, -1]
    if isinstance(value, float):
        return [str(value), -1.0, NAN, INF]
    return [{"nonsense": {"deep": 1}}, 7]


def unclear(message, *words):
    """What is wrong with a message, or nothing."""
    if message is None:
        return "is accepted"
    if message.startswith("crash"):
        return message
    missing = [word for word in words if word not in message]
    if missing:
        return f"does not say {missing}: {message}"
    lines = message.split("\n")  # one fault each
    return f"is too long: {message}" if max(map(len, lines)) > 400 or len(set(lines)) < len(lines) else ""


@pytest.mark.parametrize("schema", FILES)
def test_every_wrong_value_is_blamed_on_its_key(schema, tmp_path):
    found = {}
    for path in paths(schema):
        for value in wrong_values(at(REAL[schema], path)):
            message = complaint(schema, changed(schema, path, value), tmp_path)
            if fault := unclear(message, FILES[schema].name, ".".join(map(str, path))):
                found[(*path, repr(value))] = fault
    assert not found, f"{len(found)}, the first: {next(iter(found.items()))}"


@pytest.mark.parametrize("schema", FILES)
def test_every_unknown_key_is_named(schema, tmp_path):
    found = {}
    for path in [(), *paths(schema)]:
        if isinstance(at(REAL[schema], path), dict):
            document = changed(schema, (*path, "nonsense key"), 1)
            if fault := unclear(complaint(schema, document, tmp_path), FILES[schema].name, "nonsense key"):
                found[path] = fault
    assert not found, f"{len(found)}, the first: {next(iter(found.items()))}"


@pytest.mark.parametrize("schema", FILES)
def test_every_missing_key_is_named_or_was_optional(schema, tmp_path):
    optional, found = set(), {}
    for path in paths(schema):
        if isinstance(path[-1], str):
            message = complaint(schema, changed(schema, path, ...), tmp_path)
            if message is None:
                optional.add(path[-1])
            elif not any(clear in message for clear in ("should be non-empty", "allowed: ")) and (
                fault := unclear(message, path[-1])
            ):
                found[path] = fault
    assert not found, f"{len(found)}, the first: {next(iter(found.items()))}"
    assert not optional & {
        "seed",
        "experiments",
        "source",
        "recipe",
        "sha256",
        "kind",
        "model",
        "rows",
        "max_iter",
    }


@pytest.mark.parametrize(
    ("schema", "path", "value", "words"),
    [
        ("config", ["sead"], 1, ["unknown key 'sead'", "did you mean 'seed'", "on_missing_data"]),
        ("config", ["on_missing_data"], "ignore", ["'ignore'", "'report', 'fail'"]),
        ("config", ["experiments"], [], ["experiments", "non-empty"]),
        ("config", ["experiments"], ["tabel1"], ["tabel1.yaml", "reg_covar", "table1"]),
        ("config", ["runs", "ric"], 3, ["runs.ric", "unknown data set", "cifar10", "rice"]),
        ("config", ["runs", "rice"], ..., ["runs has no entry for rice"]),
        ("config", ["runs_per_job", "rice"], 0, ["runs_per_job.rice", "minimum of 1"]),
        ("config", ["baselines", "names"], ["knn"], ["baselines.names.0", "'knn_1'", "'svm_rbf'"]),
        (
            "config",
            ["baselines", "max_rows", "svm"],
            9,
            ["baselines.max_rows.svm", "unknown method", "svm_rbf"],
        ),
        ("config", ["features", "rice", "source"], "rise", ["features.rice.source", "'rise'", "'rice'"]),
        ("config", ["features", "rice", "n_comp"], 3, ["features.rice.n_comp", "n_folds"]),
        (
            "config",
            ["features", "rice", "validation_fraction"],
            1.0,
            ["features.rice.validation_fraction", "1"],
        ),
        ("config", ["features", "mnist", "recipe"], "pictures", ["features.mnist.recipe", "table", "images"]),
        (
            "config",
            ["features", "mnist", "validation_fraction"],
            0.1,
            ["features.mnist", "validation_fraction"],
        ),
        (
            "config",
            ["features", "mnist", "n_components"],
            50,
            ["table1.yaml", "n_features is 60, mnist has 50"],
        ),
        ("config", ["features", "ionosphere", "columns"], [2], ["n_features is 32, ionosphere has 1"]),
        (
            "config",
            ["features", "ionosphere", "columns"],
            [2, 34, 40],
            ["features.ionosphere.columns names 34, 40", "columns 0 to 33"],
        ),
        ("config", ["features", "ionosphere", "n_folds"], 352, ["n_folds is 352", "351 rows"]),
        ("config", ["features", "mnist", "n_components"], 1000, ["mnist.n_components is 1000", "784"]),
        ("config", ["features", "mnist_half", "n_components"], 300, ["n_components is 300", "half", "196"]),
        ("config", ["features", "mnist", "n_train"], 100, ["n_components is 150", "100 images"]),
        ("config", ["features", "mnist", "n_train"], 50001, ["n_train is 50001", "60001", "60000"]),
        ("config", ["features", "cifar10", "deskew"], True, ["features.cifar10.deskew", "grey"]),
        ("config", ["features", "rice", "source"], "mnist", ["features.rice.recipe", "'table'", "'images'"]),
        ("config", ["baselines", "n_features", "rice"], 8, ["baselines.n_features.rice is 8, rice has 7"]),
        (
            "experiment",
            ["data_sets", "rise"],
            REAL["experiment"]["data_sets"]["rice"],
            ["rise", "there are rice,"],
        ),
        ("experiment", ["data_sets", "rice", "paper", "setting"], "1x7-K9", ["'1x7-K9'", "1x7-K14"]),
        (
            "experiment",
            ["data_sets", "rice", "paper", "accuracy"],
            "pulford.table1.rice.skem_acuracy",
            ["rice.paper.accuracy", "claims.csv", "did you mean 'pulford.table1.rice.skem_accuracy'"],
        ),
        # An ordering has no number.
        (
            "experiment",
            ["data_sets", "rice", "paper", "best"],
            "pulford.table1.rice.best_method",
            ["rice.paper.best is 'pulford.table1.rice.best_method'", "ids of numbers"],
        ),
        ("experiment", ["data_sets", "rice", "paper"], ..., ["data_sets.rice", "'paper'", "of its own"]),
        (
            "experiment",
            ["data_sets", "rice", "methods", "skem", "params", "reg_covar"],
            "1e-6",
            ["reg_covar is '1e-6'", "1.0e-6"],
        ),
        (
            "experiment",
            ["data_sets", "rice", "methods", "skem", "model"],
            "gmm",
            ["'gmm'", "'skem', 'pskem', 'mda'"],
        ),
        (
            "experiment",
            ["data_sets", "rice", "methods", "skem", "params", "n_blocks"],
            2,
            ["skem", "'n_blocks'"],
        ),
        (
            "experiment",
            ["data_sets", "rice", "methods", "skem", "params", "init"],
            "kmean",
            ["'kmeans'", "'uniform'"],
        ),
        ("datasets", ["My Data"], REAL["datasets"]["rice"], ["'My Data'"]),
        ("datasets", ["rice", "sha256"], "abc", ["rice.sha256", "'abc'"]),
        (
            "datasets",
            ["rice", "sources", 0, "kind"],
            "ftp",
            ["rice.sources.0.kind", "mirror", "url", "npm", "apt"],
        ),
        (
            "datasets",
            ["rice", "sources", 1, "decoder"],
            "zip",
            ["rice.sources.1.decoder", "'idx'", "'table'"],
        ),
    ],
)
def test_the_message_says_what_is_allowed(schema, path, value, words, tmp_path):
    message = complaint(schema, changed(schema, path, value), tmp_path)
    assert not unclear(message, *words)


def test_too_many_blocks(tmp_path):
    path = ["data_sets", "ionosphere", "methods", "pskem", "settings", "2x16-K12", "params", "n_blocks"]
    message = complaint("experiment", changed("experiment", path, 33), tmp_path)
    assert not unclear(message, "table1.yaml: data_sets.ionosphere", "2x16-K12", "33 blocks of 32 features")


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
    found = expanded(tmp_path, GRID | {"max_iter": {"1x32": 9}}, runs=2)
    assert [setting.name for setting in found] == [
        f"{partition}-K{k}" for partition in GRID["partition"] for k in GRID["n_components"]
    ]
    last = found[-1]
    assert (last.n_features, last.unit, last.runs) == (32, "1x32", [0, 1])
    assert last.params == {"reg_covar": 0.1, "n_blocks": 1, "n_components": 12, "max_iter": 9}
    assert found[0].params["n_blocks"] == 2
    assert found[0].params["max_iter"] == 3
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


def test_every_wrong_key_of_one_mapping_is_told(tmp_path):
    message = complaint("config", merged({"sead": 1, "run": 2, "runs": {"ric": 1, "rize": 2}}), tmp_path)
    assert not unclear(message, "'sead'", "'run'")
    message = complaint("config", merged({"runs": {"ric": 1, "rize": 2}}), tmp_path)
    assert not unclear(message, "runs.ric:", "runs.rize:")
    without = merged()
    del without["seed"], without["grids"]
    assert not unclear(
        complaint("config", without, tmp_path), "'seed' is a required", "'grids' is a required"
    )
    without = merged({"features": {"wine": REAL["config"]["features"]["rice"]}})
    for key in ("mnist", "rice"):
        del without["runs"][key]
    words = ("runs has no entry for mnist", "runs has no entry for rice", "runs has no entry for wine")
    assert not unclear(complaint("config", without, tmp_path), *words)


def test_faults_of_all_files_are_told_together(tmp_path):
    (tmp_path / "experiments").mkdir()
    for name, model in (("one", "gmm"), ("two", "svm")):
        method = {"model": model, "params": {}, "grid": GRID}
        content = {"title": name, "data_sets": {"ionosphere": {"methods": {"own": method}}}}
        (tmp_path / "experiments" / f"{name}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    described = copy.deepcopy(REAL["datasets"])
    described["rice"]["n_classes"] = 1
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


def test_the_passes_of_a_partition_that_is_in_no_grid(tmp_path):
    with pytest.raises(ConfigurationError) as caught:
        expanded(tmp_path, GRID | {"max_iter": {"1x63": 40}})
    assert not unclear(str(caught.value), "grid.max_iter names partition '1x63'; allowed: 2x16, 4x8, 1x32")


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


def test_all_faults_of_a_configuration_are_told_at_once(tmp_path):
    broken = merged({"seed": "x", "threads": {"train": 0}, "grids": "some"})
    with pytest.raises(ConfigurationError) as caught:
        schemas.check(broken, SCHEMAS / "config.yaml", [CONFIG])
    for words in ("seed is 'x'", "threads.train", "grids is 'some'"):
        assert words in str(caught.value)
    with pytest.raises(ConfigurationError) as caught:
        experiments.check_known(merged({"runs": {"ric": 1}, "baselines": {"max_rows": {"svm": 9}}}), [CONFIG])
    for words in ("runs.ric", "max_rows.svm"):
        assert words in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [{"sead": 1}, {"seed": "x"}, {"runs": {"rice": "3"}}, {"features": {"mnist": {"deskw": True}}}]
)
def test_an_overlay_is_blamed_for_what_it_brought(wrong, tmp_path):
    bad, good = tmp_path / "bad.yaml", tmp_path / "good.yaml"
    bad.write_text(yaml.safe_dump(wrong), encoding="utf-8")
    good.write_text("runs: {mnist: 1}\nfeatures: {mnist: {half: true}}\n", encoding="utf-8")
    for order in ([bad], [bad, good], [good, bad]):
        config = merged(*map(documents.read, order))
        with pytest.raises(ConfigurationError) as caught:
            schemas.check(config, SCHEMAS / "config.yaml", [CONFIG, *order])
        assert str(caught.value).startswith(f"{bad}: ")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"seed: [1, 2\nruns: 3\n", "line 2: not valid YAML"),
        (b"title: Gr\xfc\xdfe\n", "UTF-8"),
        (b"a:\tb: c\n", "line 1"),
    ],
)
def test_what_cannot_be_read(content, words, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        documents.read(path)
    assert not unclear(str(caught.value), str(path), words)
    with pytest.raises(ConfigurationError, match="there is no such file"):
        documents.read(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("overlay.yaml", "threads: {train: two}\n", ["overlay.yaml: threads.train is 'two'", "integer"]),
        (
            "config/config.yaml",
            "runs: {ric: 3}\n",
            ["config/config.yaml: runs.ric", "unknown data set", "rice"],
        ),
    ],
)
def test_the_command_says_it_in_one_line(name, content, words, tmp_path):
    for part in ("Snakefile", "config", "workflow", "profiles", "skem"):
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / part)
    if name == "overlay.yaml":
        (tmp_path / name).write_text(content, encoding="utf-8")
    else:
        (tmp_path / "overlay.yaml").write_text("seed: 1\n", encoding="utf-8")
        config = merged(yaml.safe_load(content))
        (tmp_path / name).write_text(yaml.safe_dump(config), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--cores", "1", "--configfile", "overlay.yaml"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if "error" in line.lower()]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert not unclear(lines[0], *words)
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "runs: {rice: 1}\nseed: 2\nruns: {rice: 2}\n",
            ["line 3", "key 'runs' stands there twice", "line 1"],
        ),
        ("runs: {1: 2}\n", ["line 1", "key 'runs.1' is no text"]),
        ("runs: {null: 2}\n", ["key 'runs.null' is no text"]),
        ("runs:\n  ? [a, b]\n  : 2\n", ["is no text"]),
        ("runs: &all\n  rice: *all\n", ["runs.rice contains itself"]),
        (f"runs: {{rice: {'9' * 1000}}}\n", ["runs.rice is a number of 1000 digits"]),
        (f"runs: {{rice: {'9' * 5000}}}\n", ["runs.rice is a number of 5000 digits"]),
        ("[" * 3000 + "]" * 3000, ["overlay.yaml"]),
    ],
)
def test_what_yaml_takes_and_nobody_means_is_refused(content, words, tmp_path):
    path = tmp_path / "overlay.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        documents.read(path)
    assert not unclear(str(caught.value), str(path), *words)
    assert len(str(caught.value)) < 400


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
    ],
)  # fmt: skip
def test_what_would_fail_in_jobs_is_refused_before(overlay, words, tmp_path):
    with pytest.raises(ConfigurationError) as caught:
        experiments.load(merged(overlay), [CONFIG], ROOT / "config", SCHEMAS, NUMBERS)
    assert not unclear(str(caught.value), *words)
    assert len(str(caught.value)) < 400


def test_overlays_that_snakemake_cannot_read_are_named(tmp_path):
    """It reads them before the Snakefile, and would not say which one is at fault."""
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    (tmp_path / "Snakefile").write_text("rule all:\n    shell: 'true'\n")
    bad = {
        "binary": b"\x80\xff",
        "latin": b"title: Gr\xfc\xdfe\n",
        "broken": b"a: [1\n",
        "empty": b"",
        "list": b"- a\n",
    }
    for name, content in bad.items():
        (tmp_path / f"{name}.yaml").write_bytes(content)
    names = [f"{name}.yaml" for name in (*bad, "missing")]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--cores", "1", "--configfile", *names],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    lines = done.stderr[done.stderr.index("error: ") + len("error: ") :].splitlines()
    assert [line.split(":")[0].split(",")[0].strip() for line in lines] == names


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
