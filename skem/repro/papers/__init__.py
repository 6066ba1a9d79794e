"""The papers, each with a file ``config/claims/<name>.yaml``, rules ``workflow/rules/<name>.smk``, and a folder here if it needs one.

A folder may have the modules

- ``figures``, with ``FIGURES`` by name of file;
- ``measures``, for rows of claims: functions whose first argument is ``evidence``, which are metrics or outcomes that no row can say;
  ``names``, from the settings to the names that rows use;
- ``settings``, with ``Settings``, a pydantic model of ``config/<name>.yaml``; if the settings need experiments, the model is ``Stated``, and
  ``settings(stated, experiment)`` makes them from an instance of it and a function that reads an experiment by name. Without the module,
  the settings are the content of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from inspect import getmembers, isfunction, signature
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pandas as pd

from skem.repro.config.documents import ConfigurationError, merged, read_mapping
from skem.repro.config.validation import parsed, suggestion
from skem.repro.drawing import Figure
from skem.repro.ledger import cells, rows
from skem.repro.ledger.evaluator import OF_TERMS, Evaluator

PAPERS = "[a-z]*[0-9][0-9][0-9][0-9].yaml"
"""Files of papers: a word and a year."""

Files = Mapping[str, str | Path]
"""Tables of values by name."""


def names(config: str | Path = "config") -> list[str]:
    """Return the papers with a file of claims, in alphabetical order."""
    return sorted(path.stem for path in Path(config, "claims").glob(PAPERS))


def _module(paper: str, name: str) -> ModuleType | None:
    folder = f"{__name__}.{paper}"
    if find_spec(folder) is None or find_spec(f"{folder}.{name}") is None:
        return None
    return import_module(f"{folder}.{name}")


def figures(name: str) -> Mapping[str, Figure]:
    """Return the figures of a paper by name of file."""
    return getattr(_module(name, "figures"), "FIGURES", {})


def evaluator(
    name: str,
    stated: pd.DataFrame,
    settings: Any,
    tables: cells.Tables,
    missing: Mapping[str, str] = MappingProxyType({}),
    config: str | Path = "config",
) -> Evaluator:
    """Return the evaluator of a paper's claims, on tables of values; ``missing`` are the reasons of tables that were not read."""
    measures, own = _module(name, "measures"), rows.read(config)[name]
    evidence = cells.Evidence(tables, own.metrics, _functions(name), settings, stated, missing)
    by_id = {claim["id"]: claim for claim in stated.to_dict("records")}
    names = measures.names(settings) if measures else {}
    return Evaluator(own, evidence, by_id, names | own.file.names)


def _functions(name: str) -> dict[str, Callable[..., Any]]:
    return cells.FUNCTIONS | {
        word: function
        for word, function in getmembers(_module(name, "measures"), isfunction)
        if not word.startswith("_") and next(iter(signature(function).parameters), "") == "evidence"
    }


def unknown_words(name: str, config: str | Path = "config") -> list[str]:
    """One fault for each metric, data set, method and column of a cell in a paper's rows that is unknown.

    Data sets, methods and columns are those of the committed values; a paper without values has its metrics checked alone.
    """
    own = rows.read(config)[name]
    known = {"metric": {*own.metrics, *_functions(name)}, "dataset": set(), "method": set()}
    columns: set[str] = set()
    for path in Path(config, "..", "results/reference/values").glob(f"{name}_*.csv"):
        table = pd.read_csv(path, dtype=str)
        columns.update(table)
        for column in known.keys() & {*table}:
            known[column].update(table[column])
    faults = []
    for claim, row in own.file.claims.items():
        for term in _mappings(row):
            pairs = [(key, word, words) for key, words in known.items() for word in _literals(term.get(key))]
            if str(term.get("metric")) in own.metrics:
                pairs += [("column", key, {*columns, *OF_TERMS, "metric"}) for key in term if columns]
            faults += [
                f"{own.path}: claims.{claim}: {kind} {word!r} is unknown; {suggestion(word, sorted(words))}"
                for kind, word, words in pairs
                if words and word not in words
            ]
    return faults


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        value = list(value.values())
    for one in value if isinstance(value, list) else ():
        yield from _mappings(one)


def _literals(value: Any) -> list[str]:
    """The words of a column of a cell without names, which begin with "$"."""
    words = value if isinstance(value, list) else [value]
    return [word for word in words if isinstance(word, str) and "$" not in word]


def titles(config: str | Path = "config") -> dict[str, str]:
    """Return the titles of all papers with a file in ``config``, with or without a folder."""
    paths = sorted(Path(config).glob(PAPERS))
    return {path.stem: str(read_mapping(path).get("title", path.stem)) for path in paths}


def in_order(config: str | Path = "config") -> list[str]:
    """Return the papers in the order of ``config/claims.csv``."""
    stated = pd.read_csv(Path(config) / "claims.csv", usecols=["paper"], dtype=str)
    return list(stated["paper"].unique())


def settings(name: str, config: str | Path = "config", changes: Mapping[str, Any] | None = None) -> Any:
    """The settings of a paper, checked.

    ``changes``, the paper's entry under ``papers`` in the configuration, replace values of ``config/<name>.yaml``. `ConfigurationError` if
    the file is missing, not as the paper's model says, or does not fit the experiments.
    """
    path = Path(config) / f"{name}.yaml"
    file = f"{path}, changed by papers.{name}" if changes else path
    stated: Any = merged(read_mapping(path), changes or {})
    # Not all of the paper: every job's process comes here.
    module = _module(name, "settings")
    if module is None:
        return stated
    if not hasattr(module, "Stated"):
        return parsed(module.Settings, stated, [file])
    stated = parsed(module.Stated, stated, [file])

    def experiment(wanted: str) -> dict[str, Any]:
        file = Path(config) / "experiments" / f"{wanted}.yaml"
        if not file.exists():
            raise ConfigurationError(f"{path} names the experiment {wanted!r}, and there is no {file}")
        return read_mapping(file)

    try:
        return module.settings(stated, experiment)
    except KeyError as error:
        raise ConfigurationError(
            f"{file} asks for {error.args[0]!r}, which its experiments do not have"
        ) from error
