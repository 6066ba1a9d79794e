"""Reading and checking the configuration: one clear message for a wrong key, type or value, before any job."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from skem import datasets


class ConfigurationError(ValueError):
    """Says which file, which key, what stands there and what is allowed."""


@dataclass(frozen=True)
class Setting:
    """One model on one data set: what a training job fits.

    Attributes
    ----------
    dataset, method, name : str
    model : {"skem", "pskem", "mda"}
    params : dict
        Of the estimator, ``max_iter`` included.
    n_features : int
        The first so many features are used.
    rows : list of {"all", "part"}
    runs : list of int
    """

    dataset: str
    method: str
    name: str
    model: str
    params: dict[str, Any]
    n_features: int
    rows: list[str]
    runs: list[int]

    def blocks(self, size: int) -> list[str]:
        """Names of blocks of at most ``size`` runs, "first-last"."""
        chunks = [self.runs[i : i + size] for i in range(0, len(self.runs), size)]
        return [f"{chunk[0]}-{chunk[-1]}" for chunk in chunks]


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
        return yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigurationError(f"{path}: there is no such file") from error
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
    error = best_match(Draft202012Validator(read(schema)).iter_errors(document))
    if error is None:
        return
    path = list(error.absolute_path)
    wrong = _unknown_key(error)
    file = _where([*path, wrong] if wrong is not None else path, files)
    raise ConfigurationError(f"{file}: {_message(error, path, wrong)}")


def _unknown_key(error: ValidationError) -> str | None:
    if error.validator != "additionalProperties":
        return None
    return next(key for key in error.instance if key not in error.schema.get("properties", {}))


def _message(error: ValidationError, path: list[Any], wrong: str | None) -> str:
    key = ".".join(map(str, path)) or "the file"
    if wrong is not None:
        allowed = sorted(error.schema.get("properties", {}))
        close = difflib.get_close_matches(wrong, allowed, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        return f"unknown key {'.'.join([*map(str, path), wrong])!r}; {hint}allowed: {', '.join(allowed)}"
    if error.validator == "enum":
        return f"{key} is {error.instance!r}; allowed: {', '.join(map(repr, error.validator_value))}"
    if error.validator == "type":
        return f"{key} is {error.instance!r}; a value of type {error.validator_value} is needed"
    return f"{key}: {error.message}"


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
    found = []
    for dataset, entry in experiment["data_sets"].items():
        for key in ("features", "runs"):
            if dataset not in config[key]:
                there = ", ".join(config[key])
                raise ConfigurationError(
                    f"{path}: data_sets.{dataset}: no such data set under {key}; there are {there}"
                )
        available = _n_features(config["features"][dataset])
        for method, how in entry["methods"].items():
            for label, setting in how["settings"].items():
                where = f"{path}: data_sets.{dataset}.methods.{method}.settings.{label}"
                params = how["params"] | setting["params"] | {"max_iter": entry["max_iter"]}
                if setting["n_features"] > available:
                    raise ConfigurationError(
                        f"{where}.n_features is {setting['n_features']}, {dataset} has {available}"
                    )
                if params.get("n_blocks", 1) > setting["n_features"]:
                    raise ConfigurationError(
                        f"{where}: {params['n_blocks']} blocks of {setting['n_features']} features: at most one per feature"
                    )
                _check_params(where, how["model"], params)
                runs = list(range(min(config["runs"][dataset], setting.get("runs", config["runs"][dataset]))))
                if runs:
                    found.append(
                        Setting(
                            dataset,
                            method,
                            label,
                            how["model"],
                            params,
                            setting["n_features"],
                            setting["rows"],
                            runs,
                        )
                    )
        labels = {label for how in entry["methods"].values() for label in how["settings"]}
        if "paper" in entry and entry["paper"]["setting"] not in labels:
            raise ConfigurationError(
                f"{path}: data_sets.{dataset}.paper.setting is {entry['paper']['setting']!r}; allowed: {', '.join(sorted(labels))}"
            )
    return experiment, found


def _n_features(spec: dict[str, Any]) -> int:
    if spec["recipe"] == "images":
        return spec["n_components"]
    return len(spec["columns"]) if "columns" in spec else datasets.shape(spec["source"])[1]


_NOT_FOR = {"skem": {"n_blocks", "arrangement"}, "pskem": set(), "mda": {"covariance_type"}}


def _check_params(where: str, model: str, params: dict[str, Any]) -> None:
    wrong = sorted(_NOT_FOR[model] & set(params))
    if wrong:
        raise ConfigurationError(f"{where}: {model} has no parameter {wrong[0]!r}")


def check_known(config: dict[str, Any], file: str | Path) -> None:
    """Refuse entries for data sets that no ``features`` entry describes, and data sets without runs_per_job."""
    known = set(config["features"])
    for key, entries in {
        "runs": config["runs"],
        "runs_per_job": config["runs_per_job"],
        "baselines.runs": config["baselines"]["runs"],
    }.items():
        unknown, missing = sorted(set(entries) - known), sorted(known - set(entries))
        if unknown:
            raise ConfigurationError(
                f"{file}: {key}.{unknown[0]}: unknown data set; allowed: {', '.join(sorted(known))}"
            )
        if missing:
            raise ConfigurationError(f"{file}: {key} has no entry for {missing[0]}")
    unknown = sorted(set(config["baselines"]["max_rows"]) - set(_baseline_names()))
    if unknown:
        raise ConfigurationError(
            f"{file}: baselines.max_rows.{unknown[0]}: unknown method; allowed: {', '.join(_baseline_names())}"
        )


def _baseline_names() -> tuple[str, ...]:
    from skem import baselines

    return baselines.names()
