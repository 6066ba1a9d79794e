"""Reading and checking the configuration: one clear message for a wrong key, type or value, before any job."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, by_relevance
from jsonschema.validators import extend

from skem import datasets


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
    faults = []
    places: dict[tuple[Any, ...], list[ValidationError]] = {}
    for error in _Validator(read(schema)).iter_errors(document):
        places.setdefault(tuple(error.absolute_path), []).append(error)
    relevance: Callable[[Any], Any] = by_relevance()
    for errors in places.values():  # what else is wrong with the same value follows from it
        error = max(errors, key=relevance)
        while error.context:
            error = _meant(error.context)
        path = list(error.absolute_path)
        wrong = _unknown_key(error)
        file = _where([*path, wrong] if wrong is not None else path, files)
        faults.append(f"{file}: {_message(error, path, wrong)}")
    refuse(faults)


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


def _unknown_key(error: ValidationError) -> str | None:
    if error.validator != "additionalProperties":
        return None
    patterns = error.schema.get("patternProperties", {})
    known = error.schema.get("properties", {})
    return next(
        key
        for key in error.instance
        if key not in known and not any(re.search(p, str(key)) for p in patterns)
    )


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


def settings(
    name: str, folder: str | Path, schema: str | Path, config: dict[str, Any]
) -> tuple[dict[str, Any], list[Setting]]:
    """An experiment file and all it asks to be trained.

    Parameters
    ----------
    name : str
        ``folder/name.yaml``.
    folder, schema : path
    config : dict
        The checked configuration.

    Returns
    -------
    experiment : dict
        The file's content.
    settings : list of Setting
        Data sets with no runs are left out.

    Raises
    ------
    ConfigurationError
        Also where an experiment asks for a data set, features or blocks that are not there.
    """
    path = Path(folder) / f"{name}.yaml"
    if not path.exists():
        known = sorted(p.stem for p in Path(folder).glob("*.yaml"))
        raise ConfigurationError(f"experiments: there is no {path}; there are {', '.join(known)}")
    experiment = read(path)
    check(experiment, schema, [path])
    faults = []
    without = [dataset for dataset, entry in experiment["data_sets"].items() if "paper" not in entry]
    if 0 < len(without) < len(experiment["data_sets"]):
        faults.append(
            f"{path}: data_sets.{without[0]} has no entry 'paper' as the others do; "
            "a data set of your own goes into an experiment of its own"
        )
    found = []
    for dataset, entry in experiment["data_sets"].items():
        lacking = [key for key in ("features", "runs") if dataset not in config[key]]
        if lacking:
            there = ", ".join(config[lacking[0]])
            faults.append(
                f"{path}: data_sets.{dataset}: no such data set under {lacking[0]}; there are {there}"
            )
            continue
        labels = set()
        for method, how in entry["methods"].items():
            where = f"{path}: data_sets.{dataset}.methods.{method}"
            for setting in _expanded(dataset, method, how, entry.get("max_iter"), config):
                labels.add(setting.name)
                faults += _faults(f"{where}.settings.{setting.name}", setting, config["features"][dataset])
                if setting.runs:
                    found.append(setting)
        if "paper" in entry and entry["paper"]["setting"] not in labels:
            faults.append(
                f"{path}: data_sets.{dataset}.paper.setting is {entry['paper']['setting']!r}; allowed: {', '.join(sorted(labels))}"
            )
    refuse(faults)
    return experiment, found


def _expanded(
    dataset: str, method: str, how: dict[str, Any], max_iter: int | None, config: dict[str, Any]
) -> list[Setting]:
    """The settings of a method: those written out, and those of its grid, named after what they are."""

    def setting(name: str, unit: str, own: dict[str, Any]) -> Setting:
        params = how["params"] | own.get("params", {})
        if how["model"] in _NOT_FOR:
            params["max_iter"] = own.get("max_iter", how.get("max_iter", max_iter))
        limit = own.get("runs", how.get("runs", config["runs"][dataset]))
        runs = list(range(min(config["runs"][dataset], limit)))
        features = how.get("features", {}) | own.get("features", {})
        return Setting(
            dataset, method, name, unit, how["model"], params, own["n_features"], own["rows"], runs, features
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
        if how["model"] in _NOT_FOR and "n_blocks" not in _NOT_FOR[how["model"]]:
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


def _faults(where: str, setting: Setting, spec: dict[str, Any]) -> list[str]:
    faults = []
    available = _n_features(spec)
    if setting.n_features > available:
        faults.append(f"{where}.n_features is {setting.n_features}, {setting.dataset} has {available}")
    if setting.params.get("n_blocks", 1) > setting.n_features:
        faults.append(
            f"{where}: {setting.params['n_blocks']} blocks of {setting.n_features} features: at most one per feature"
        )
    if setting.params.get("max_iter", 1) is None:
        faults.append(f"{where}: no max_iter, neither here nor for the data set")
    wrong = sorted(_NOT_FOR.get(setting.model, set(setting.params)) & set(setting.params))
    if wrong:
        faults.append(f"{where}: {setting.model} has no parameter {wrong[0]!r}")
    tables = {"folds", "scale"} if spec["recipe"] != "table" else set()
    if tables & set(setting.features):
        faults.append(f"{where}: {setting.dataset} is not a table: no {', '.join(sorted(tables))}")
    return faults


def _n_features(spec: dict[str, Any]) -> int:
    if spec["recipe"] == "images":
        return spec["n_components"]
    return len(spec["columns"]) if "columns" in spec else datasets.shape(spec["source"])[1]


_NOT_FOR = {"skem": {"n_blocks", "arrangement"}, "pskem": set(), "mda": {"covariance_type"}}


def check_known(config: dict[str, Any], files: Sequence[str | Path]) -> None:
    """Refuse entries for data sets that no ``features`` entry describes, or that lack one, and unknown methods.

    Raises
    ------
    ConfigurationError
    """
    known = set(config["features"])
    faults = []
    for path, entries in {
        ("runs",): config["runs"],
        ("runs_per_job",): config["runs_per_job"],
        ("baselines", "runs"): config["baselines"]["runs"],
    }.items():
        key = ".".join(path)
        unknown, missing = sorted(set(entries) - known), sorted(known - set(entries))
        if unknown:
            file = _where([*path, unknown[0]], files)
            there = ", ".join(sorted(known))
            faults.append(f"{file}: {key}.{unknown[0]}: unknown data set; allowed: {there}")
        if missing:
            faults.append(f"{_where(list(path), files)}: {key} has no entry for {missing[0]}")
    for part in ("presets", "n_features"):
        for dataset in sorted(set(config["baselines"][part]) - known):
            file = _where(["baselines", part, dataset], files)
            there = ", ".join(sorted(known))
            faults.append(f"{file}: baselines.{part}.{dataset}: unknown data set; allowed: {there}")
    unknown = sorted(set(config["baselines"]["max_rows"]) - set(_baseline_names()))
    if unknown:
        file = _where(["baselines", "max_rows", unknown[0]], files)
        allowed = ", ".join(_baseline_names())
        faults.append(f"{file}: baselines.max_rows.{unknown[0]}: unknown method; allowed: {allowed}")
    refuse(faults)


def _baseline_names() -> tuple[str, ...]:
    from skem import baselines

    return baselines.names()
