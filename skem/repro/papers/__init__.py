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

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from inspect import getmembers, isfunction, signature
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pandas as pd

from skem.repro.config.documents import ConfigurationError, merged, read_mapping
from skem.repro.config.validation import parsed
from skem.repro.drawing import Figure
from skem.repro.ledger import cells, rows
from skem.repro.ledger.evaluator import Evaluator

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
    functions = cells.FUNCTIONS | {
        word: function
        for word, function in getmembers(measures, isfunction)
        if not word.startswith("_") and next(iter(signature(function).parameters), "") == "evidence"
    }
    evidence = cells.Evidence(tables, own.metrics, functions, settings, stated, missing)
    by_id = {claim["id"]: claim for claim in stated.to_dict("records")}
    names = measures.names(settings) if measures else {}
    return Evaluator(own, evidence, by_id, names | own.file.names)


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
