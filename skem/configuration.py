"""Reading and checking the configuration: one clear message for a wrong key, type or value, before any job."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, by_relevance
from jsonschema.validators import extend

from skem import datasets, feasible


class ConfigurationError(ValueError):
    """Says which file, which key, what stands there and what is allowed."""


@dataclass(frozen=True)
class Setting:
    """One model on one data set: what a training job fits.

    Attributes
    ----------
    dataset, method, name : str
    unit : str
        What one job fits: settings of a method that share a unit are fitted by the same job.
    model : str
        "skem", "pskem", "mda" or the name of a baseline.
    params : dict
        Of the estimator, ``max_iter`` included; of a baseline, none.
    n_features : int
        The first so many features are used.
    rows : list of {"all", "part"}
    runs : list of int
    features : dict
        What is made of the features otherwise than the configuration says.
    """

    dataset: str
    method: str
    name: str
    unit: str
    model: str
    params: dict[str, Any]
    n_features: int
    rows: list[str]
    runs: list[int]
    features: dict[str, Any]

    def blocks(self, size: int) -> list[str]:
        """Names of blocks of at most ``size`` runs, "first-last"."""
        chunks = [self.runs[i : i + size] for i in range(0, len(self.runs), size)]
        return [f"{chunk[0]}-{chunk[-1]}" for chunk in chunks]


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Ten times faster where PyYAML was built with libyaml, as its wheels are; building the DAG reads some twenty files."""


def runs_of(block: str) -> list[int]:
    """The runs of a block, from its name."""
    first, last = map(int, block.split("-"))
    return list(range(first, last + 1))


def read(path: str | Path) -> Any:
    """The content of a YAML file.

    Raises
    ------
    ConfigurationError
        If it is not there or is no YAML.
    """
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), LOADER)
    except FileNotFoundError as error:
        raise ConfigurationError(f"{path}: there is no such file") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not a text in UTF-8") from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        raise ConfigurationError(
            f"{path}{line}: not valid YAML: {getattr(error, 'problem', error)}"
        ) from error


def check(document: Any, schema: str | Path, files: Sequence[str | Path]) -> None:
    """Hold a document against a JSON schema.

    Parameters
    ----------
    document : object
        What was read, overlays merged.
    schema : path
    files : sequence of path
        Where it was read from; the message names the last one that has the key in question.

    Raises
    ------
    ConfigurationError
    """
    refuse(_examined(document, schema, files)[1])


def _examined(document: Any, schema: str | Path, files: Sequence[str | Path]) -> tuple[Any, list[str]]:
    """What is left of a document without the values that the schema refuses, and all that it refuses."""
    faults = []
    places: dict[tuple[Any, ...], list[ValidationError]] = {}
    wrong = set()
    for error in _Validator(read(schema)).iter_errors(document):
        place = tuple(error.absolute_path)
        places.setdefault(place, []).append(error)
        # A mapping with a key too many or too few can still be looked at, and so can one with a bad name.
        scalar = (
            not isinstance(error.instance, dict | list) and "propertyNames" not in error.absolute_schema_path
        )
        if scalar or error.validator in ("type", "enum"):
            wrong.add(place)
    relevance: Callable[[Any], Any] = by_relevance()
    for errors in places.values():
        keys = [error for error in errors if error.validator in ("additionalProperties", "required")]
        others = [error for error in errors if error not in keys]
        # What else is wrong with the same value follows from one fault; each of its keys is one of its own.
        for error in [*keys, *([max(others, key=relevance)] if others else [])]:
            while error.context:
                error = _meant(error.context)
            path = list(error.absolute_path)
            for key in _unknown_keys(error) or [None]:
                file = _where([*path, key] if key is not None else path, files)
                faults.append(f"{file}: {_message(error, path, key)}")
    return _without(document, wrong), list(dict.fromkeys(faults))


def _without(node: Any, wrong: Collection[tuple[Any, ...]], path: tuple[Any, ...] = ()) -> Any:
    if path in wrong:
        return {}
    if isinstance(node, dict):
        return {k: _without(v, wrong, (*path, k)) for k, v in node.items() if (*path, k) not in wrong}
    if isinstance(node, list):
        return [_without(v, wrong, (*path, i)) for i, v in enumerate(node) if (*path, i) not in wrong]
    return node


@contextmanager
def gathered(faults: list[str]) -> Iterator[None]:
    """Add what a check refuses to ``faults``, to tell it together with what others refuse."""
    try:
        yield
    except ConfigurationError as error:
        faults.append(str(error))


def refuse(faults: Sequence[str]) -> None:
    """Raise one error that lists all faults found, if there are any.

    Raises
    ------
    ConfigurationError
    """
    if faults:
        raise ConfigurationError("\n       ".join(dict.fromkeys(faults)))


def _is_integer(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_: object, value: object) -> bool:
    return _is_integer(_, value) or (isinstance(value, float) and math.isfinite(value))


# JSON's 3.0 is an integer and YAML's .nan a number; neither is one for us.
_Validator = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer).redefine(
        "number", _is_number
    ),
)


def _meant(errors: Sequence[ValidationError]) -> ValidationError:
    """Of the alternatives that all failed, the one that was meant: whose tag fits, or the nearest one."""
    branches: dict[Any, list[ValidationError]] = {}
    for error in errors:
        branches.setdefault(error.schema_path[0], []).append(error)
    names = {error.path[-1] for error in errors if error.validator == "const"}
    tags = {
        index: [e for e in branch if e.validator in ("const", "enum") and e.path and e.path[-1] in names]
        for index, branch in branches.items()
    }
    fitting = [branch for index, branch in branches.items() if not tags[index]]
    if fitting:
        relevance: Callable[[Any], Any] = by_relevance()
        nearest: list[ValidationError] = min(fitting, key=len)
        return max(nearest, key=relevance)
    wrong = [tag for branch in tags.values() for tag in branch]
    allowed: list[Any] = []
    for tag in wrong:
        allowed += tag.validator_value if tag.validator == "enum" else [tag.validator_value]
    first = wrong[0]
    return ValidationError(
        first.message,
        "enum",
        first.path,
        validator_value=list(dict.fromkeys(allowed)),
        instance=first.instance,
        parent=first.parent,
    )


def _unknown_keys(error: ValidationError) -> list[Any]:
    if error.validator != "additionalProperties":
        return []
    patterns = error.schema.get("patternProperties", {})
    known = error.schema.get("properties", {})
    return [
        key
        for key in error.instance
        if key not in known and not any(re.search(p, str(key)) for p in patterns)
    ]


def _message(error: ValidationError, path: list[Any], wrong: str | None) -> str:
    key = ".".join(map(str, path)) or "the file"
    if wrong is not None:
        allowed = [*sorted(error.schema.get("properties", {})), *error.schema.get("patternProperties", {})]
        close = difflib.get_close_matches(str(wrong), allowed, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        where = ".".join(map(str, [*path, wrong]))
        return f"unknown key {where!r}; {hint}allowed: {', '.join(allowed)}"
    if error.validator == "enum":
        return f"{key} is {error.instance!r}; allowed: {', '.join(map(repr, error.validator_value))}"
    if error.validator == "type":
        message = f"{key} is {error.instance!r}; a value of type {error.validator_value} is needed"
        return f"{message}; write 1e-6 as 1.0e-6" if _looks_like_a_number(error.instance) else message
    return f"{key}: {error.message}"


def _looks_like_a_number(value: object) -> bool:
    """YAML 1.1 reads 1e-6, without a point, as text."""
    try:
        return isinstance(value, str) and math.isfinite(float(value))
    except ValueError:
        return False


def _where(path: list[Any], files: Sequence[str | Path]) -> str:
    for file in reversed(files):
        node = read(file)
        try:
            for key in path:
                node = node[key]
        except (KeyError, IndexError, TypeError):
            continue
        return str(file)
    return str(files[0]) if files else "the command line"


def load(
    config: dict[str, Any],
    files: Sequence[str | Path],
    folder: str | Path,
    schemas: str | Path,
    numbers: Collection[str] | None = None,
) -> tuple[dict[str, dict[str, Any]], dict[tuple[str, str, str], Setting]]:
    """Everything a run is made of, with the faults of all its files told at once.

    Parameters
    ----------
    config : dict
        ``config.yaml`` and its overlays, merged.
    files : sequence of path
        Where it was read from.
    folder : path
        ``config``, with ``datasets.yaml`` and ``experiments``.
    schemas : path
    numbers : collection of str, optional
        See `settings`.

    Returns
    -------
    experiments : dict
        By name, the content of the file.
    settings : dict
        By data set, method and name.

    Raises
    ------
    ConfigurationError
    """
    folder, schemas = Path(folder), Path(schemas)
    described = folder / "datasets.yaml"
    faults: list[str] = []
    sound, faults = _examined(config, schemas / "config.yaml", files)
    with gathered(faults):
        check(read(described), schemas / "datasets.yaml", [described])
    complete = None if faults else config
    if complete:
        with gathered(faults):
            check_known(complete, files)
    experiments: dict[str, dict[str, Any]] = {}
    found: dict[tuple[str, str, str], Setting] = {}
    for name in sound.get("experiments", []):
        with gathered(faults):
            experiments[name], own = settings(
                name, folder / "experiments", schemas / "experiment.yaml", complete, numbers
            )
            refuse(
                [
                    f"{folder}/experiments/{name}.yaml: {setting.dataset}/{setting.method}/{setting.name} "
                    "is another setting in another experiment"
                    for setting in own
                    if found.setdefault((setting.dataset, setting.method, setting.name), setting) != setting
                ]
            )
    refuse(faults)
    return experiments, found


def settings(
    name: str,
    folder: str | Path,
    schema: str | Path,
    config: dict[str, Any] | None,
    numbers: Collection[str] | None = None,
) -> tuple[dict[str, Any], list[Setting]]:
    """An experiment file and all it asks to be trained.

    Parameters
    ----------
    name : str
        ``folder/name.yaml``.
    folder, schema : path
    config : dict or None
        The checked configuration; without one the file is only held against the schema.
    numbers : collection of str, optional
        Ids of the claims about numbers, which a ``paper`` entry may name.

    Returns
    -------
    experiment : dict
        The file's content.
    settings : list of Setting
        Data sets with no runs are left out.

    Raises
    ------
    ConfigurationError
        Also where an experiment asks for a data set, features, blocks or claims that are not there.
    """
    path = Path(folder) / f"{name}.yaml"
    if not path.exists():
        known = sorted(p.stem for p in Path(folder).glob("*.yaml"))
        raise ConfigurationError(f"experiments: there is no {path}; there are {', '.join(known)}")
    experiment = read(path)
    sound, faults = _examined(experiment, schema, [path])
    valid = not faults
    if config is None:
        refuse(faults)
        return experiment, []
    entries = sound.get("data_sets", {})
    without = [dataset for dataset in entries if "paper" not in experiment["data_sets"][dataset]]
    if 0 < len(without) < len(entries):
        faults.append(
            f"{path}: data_sets.{without[0]} has no entry 'paper' as the others do; "
            "a data set of your own goes into an experiment of its own"
        )
    found = []
    for dataset, entry in entries.items():
        where = f"{path}: data_sets.{dataset}"
        lacking = [key for key in ("features", "runs") if dataset not in config[key]]
        if lacking:
            there = ", ".join(config[lacking[0]])
            faults.append(f"{where}: no such data set under {lacking[0]}; there are {there}")
        methods = entry.get("methods", {})
        faults += feasible.faults_of_paper(f"{where}.paper", entry.get("paper", {}), methods, numbers)
        # One grid is often another with some keys changed, and keeps the passes of partitions it leaves out.
        partitions = [p for how in methods.values() for p in how.get("grid", {}).get("partition", [])]
        # A max_iter that was refused is not missing.
        max_iter = entry.get("max_iter", None if valid else 1)
        for method, how in methods.items():
            faults += feasible.faults_of_grid(f"{where}.methods.{method}.grid", how, partitions)
            try:
                expanded = _expanded(dataset, method, how, max_iter, config)
            except KeyError:
                if valid:
                    raise
                continue  # What is missing has been told.
            for setting in expanded:
                at = f"{where}.methods.{method}.settings.{setting.name}"
                faults += feasible.faults_of_setting(at, setting, config["features"].get(dataset))
                if setting.runs:
                    found.append(setting)
    refuse(faults)
    return experiment, found


def _expanded(
    dataset: str, method: str, how: dict[str, Any], max_iter: int | None, config: dict[str, Any]
) -> list[Setting]:
    """The settings of a method: those written out, and those of its grid, named after what they are."""
    model = how.get("model", "")

    def setting(name: str, unit: str, own: dict[str, Any]) -> Setting:
        params = how["params"] | own.get("params", {})
        if model in feasible.NOT_FOR:
            params["max_iter"] = own.get("max_iter", how.get("max_iter", max_iter))
        most = config["runs"].get(dataset, 0)
        runs = list(range(min(most, own.get("runs", how.get("runs", most)))))
        features = how.get("features", {}) | own.get("features", {})
        return Setting(
            dataset, method, name, unit, model, params, own["n_features"], own["rows"], runs, features
        )

    found = [setting(name, name, own) for name, own in how.get("settings", {}).items()]
    grid = dict(how.get("grid", {}))
    if not grid:
        return found
    passes, rows = grid.pop("max_iter", {}), grid.pop("rows")
    lists = {key: grid[key] for key in GRID if key in grid}
    if config["grids"] == "ends":
        lists = {key: [values[0], values[-1]] if len(values) > 1 else values for key, values in lists.items()}
    for values in product(*lists.values()):
        point = dict(zip(lists, values, strict=True))
        name = "-".join(GRID[key].format(value) for key, value in point.items())
        n_blocks, size = map(int, point["partition"].split("x"))
        own: dict[str, Any] = {"n_features": n_blocks * size, "rows": rows, "params": {}, "features": {}}
        if point["partition"] in passes:
            own["max_iter"] = passes[point["partition"]]
        if model in feasible.NOT_FOR and "n_blocks" not in feasible.NOT_FOR[model]:
            own["params"]["n_blocks"] = n_blocks
        own["params"] |= {key: point[key] for key in ("n_components", "reg_covar") if key in point}
        own["features"] |= {key: point[key] for key in ("folds", "scale") if key in point}
        large = len(lists["partition"]) > 1 and config["grids"] == "all"
        unit = point["partition"] if large else "grid"
        found.append(setting(name, unit, own))
    return found


GRID = {
    "partition": "{}",
    "n_components": "K{}",
    "folds": "{}",
    "scale": "{}",
    "reg_covar": "ridge{:g}",
}
"""What a grid may vary, and how it is called in the name of a setting."""


def check_known(config: dict[str, Any], files: Sequence[str | Path]) -> None:
    """Refuse what no file describes: data sets and methods by name, and more rows or features than there are.

    Raises
    ------
    ConfigurationError
    """
    faults = []

    def refused(path: list[str], what: str) -> None:
        faults.append(f"{_where(path, files)}: {'.'.join(path)}{what}")

    known, baselines = set(config["features"]), config["baselines"]
    there = ", ".join(sorted(known))
    for path, entries, all_of_them in (
        (["runs"], config["runs"], True),
        (["runs_per_job"], config["runs_per_job"], True),
        (["baselines", "runs"], baselines["runs"], True),
        (["baselines", "presets"], baselines["presets"], False),
        (["baselines", "n_features"], baselines["n_features"], False),
    ):
        for dataset in sorted(set(entries) - known):
            refused([*path, dataset], f": unknown data set; allowed: {there}")
        for dataset in sorted(known - set(entries)) if all_of_them else ():
            refused(path, f" has no entry for {dataset}")
    for method in sorted(set(baselines["max_rows"]) - set(_baseline_names())):
        allowed = ", ".join(_baseline_names())
        refused(["baselines", "max_rows", method], f": unknown method; allowed: {allowed}")
    for dataset, spec in config["features"].items():
        impossible = feasible.faults_of_features(spec)
        for key, what in impossible:
            refused(["features", dataset, key], f" {what}")
        wanted = baselines["n_features"].get(dataset, 0)
        if not impossible and wanted > (
            available := feasible.n_features_of(spec, datasets._config()[spec["source"]])
        ):
            refused(["baselines", "n_features", dataset], f" is {wanted}, {dataset} has {available}")
    refuse(faults)


def _baseline_names() -> tuple[str, ...]:
    from skem import baselines

    return baselines.names()
