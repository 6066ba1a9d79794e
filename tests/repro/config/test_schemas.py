"""Every fault of a file that a schema sees: one line with the file, the key and what is allowed."""

import pytest
import yaml
from configurations import CONFIG, FILES, REAL, ROOT, SCHEMAS, at, changed, complaint, merged, unclear, walk

from skem.repro.config import experiments, schemas
from skem.repro.config.documents import ConfigurationError, read

SKEM = ["data_sets", "rice", "methods", "skem"]
NAN, INF = float("nan"), float("inf")
SOME = {
    "datasets": ["mnist", "ionosphere"],
    "data_sets": ["ionosphere"],
    "features": ["ionosphere", "mnist_half_fixed", "cifar10_moved"],
}


def paths(schema):
    """Of some data sets; the others are like them."""
    for path in walk(REAL[schema]):
        kind, names = (path[0], path[1:2]) if schema in ("config", "experiment") else (schema, path[:1])
        if kind not in SOME or not names or names[0] in SOME[kind]:
            yield path


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
        config = merged(*map(read, order))
        with pytest.raises(ConfigurationError) as caught:
            schemas.check(config, SCHEMAS / "config.yaml", [CONFIG, *order])
        assert str(caught.value).startswith(f"{bad}: ")


@pytest.mark.parametrize(
    ("schema", "path", "value", "words"),
    [
        ("config", ["experiments", 0], "table1\n", ["experiments.0", "is no name"]),
        ("config", ["features", "wine\n"], REAL["config"]["features"]["rice"], ["features", "is no name"]),
        ("config", ["baselines", "preset_runs", "bagged_trees"], 10**12, ["bagged_trees", "maximum of 10000"]),
        ("experiment", [*SKEM, "params", "n_components"], 10**31, ["number of 32 digits"]),
        ("experiment", [*SKEM, "max_iter"], 10**12, ["max_iter", "maximum of 1000000"]),
        ("experiment", [*SKEM, "grid"], {"partition": ["1x7\n"], "rows": ["all"]}, ["partition.0", "is no name"]),
        ("experiment", [*SKEM, "grid"], {"partition": ["1x" + "7" * 50], "rows": ["all"]}, ["partition.0", "is no name"]),
        ("experiment", [*SKEM[:-1], "m" * 300], {}, ["is too long", "100 characters"]),
        ("datasets", ["wine\n"], REAL["datasets"]["rice"], ["'wine\\n' is no name"]),
        ("datasets", ["rice", "sha256"], REAL["datasets"]["rice"]["sha256"] + "\n", ["rice.sha256"]),
    ],
)  # fmt: skip
def test_a_name_ends_where_it_ends_and_numbers_have_limits(schema, path, value, words, tmp_path):
    assert not unclear(complaint(schema, changed(schema, path, value), tmp_path), *words)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"runs": {"rice": "1"}}, ["--config: runs.rice is '1'", "integer", "for --configfile"]),
        ({"seed": "x"}, ["--config: seed is 'x'", "integer is needed"]),
        ({"sead": 1}, ["--config: unknown key 'sead'", "did you mean 'seed'"]),
        ({"runs": {"ric": 1}}, ["--config: runs.ric: unknown data set"]),
    ],
)
def test_the_command_line_is_blamed_for_what_it_brought(given, words):
    with pytest.raises(ConfigurationError) as caught:
        experiments.load(merged(given), [CONFIG, given], ROOT / "config", SCHEMAS)
    assert not unclear(str(caught.value), *words)
    assert str(caught.value).count("\n") == 0
