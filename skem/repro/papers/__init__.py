"""The papers, each a folder with the same modules, found by name.

The module ``paper`` of a folder has

``evidence(files, stated, settings)``
    Results of a run, read from the files that the paper's rules name, with the claims table and the paper's settings. Evidence
    has ``under(interpretation)`` if ``config/<name>.yaml`` has ``interpretations``.
``EVALUATORS``
    The `Evaluators` of its claims.
``FIGURES``
    A `drawing.Figure` by file name.

The module ``settings`` has ``Stated``, a pydantic model of ``config/<name>.yaml``, and ``settings(stated, experiment)``: the
paper's settings from an instance of it and a function that reads an experiment by name. Contradictions are a `ValueError` or
a `KeyError`.

The rules of a paper are ``workflow/rules/<name>.smk``, its words ``config/words/<name>.yaml``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Protocol

import pandas as pd

from skem.repro.config.documents import ConfigurationError, merged, read_mapping
from skem.repro.config.validation import parsed
from skem.repro.drawing import Figure
from skem.repro.ledger import interpretations
from skem.repro.ledger.evaluators import Evaluators
from skem.repro.ledger.links import Links, PaperFile
from skem.repro.ledger.links import read as read_links

Named = Mapping[str, str | Path]
Files = Mapping[str, Named]
"""Files of the evidence: by kind, then by name."""


class Paper(Protocol):
    """The module ``paper`` of a folder."""

    FIGURES: Mapping[str, Figure]
    EVALUATORS: Evaluators
    evidence: Callable[[Files, pd.DataFrame, Any], Any]


def names() -> list[str]:
    """Return the papers with a folder, in alphabetical order."""
    return [folder.name for folder in iter_modules(__path__) if folder.ispkg]


def load(name: str) -> Paper:
    """Import the module ``paper`` of a folder."""
    return import_module(f"{__name__}.{name}.paper")  # type: ignore[return-value]


def titles(config: str | Path = "config") -> dict[str, str]:
    """Return the titles of all papers with a file in ``config``, with or without a folder."""
    paths = sorted(Path(config).glob("[a-z]*[0-9][0-9][0-9][0-9].yaml"))
    return {path.stem: str(read_mapping(path).get("title", path.stem)) for path in paths}


def in_order(config: str | Path = "config") -> list[str]:
    """Return the papers in the order of ``config/claims.csv``."""
    stated = pd.read_csv(Path(config) / "claims.csv", usecols=["paper"], dtype=str)
    return list(stated["paper"].unique())


def _of_the_claims(name: str, config: str | Path) -> PaperFile:
    path = Path(config) / f"{name}.yaml"
    document = read_mapping(path)
    return parsed(
        PaperFile, {key: document[key] for key in PaperFile.model_fields if key in document}, [path]
    )


def links(stated: pd.DataFrame, config: str | Path = "config") -> Links:
    """Return the relations between claims in the papers' files.

    Raises
    ------
    ConfigurationError
    """
    return read_links(stated, {name: _of_the_claims(name, config).claims for name in names()}, config)


def ambiguities(
    name: str, stated: pd.DataFrame, own: Any, config: str | Path = "config"
) -> interpretations.Ambiguities:
    """Return the ambiguities in a paper's file, checked.

    Parameters
    ----------
    name : str
    stated : DataFrame
        ``config/claims.csv``.
    own : object
        Settings of the paper; ``trained`` has data set and method of models that no experiment trains.

    Raises
    ------
    ConfigurationError
    """
    found = _of_the_claims(name, config).interpretations
    if found:
        trained = {
            (dataset, method)
            for path in sorted((Path(config) / "experiments").glob("*.yaml"))
            for dataset, entry in read_mapping(path)["data_sets"].items()
            for method in entry["methods"]
        }
        trained |= set(getattr(own, "trained", ()))
        ids = set(stated.loc[stated["paper"] == name, "id"])
        interpretations.check(f"{config}/{name}.yaml", found, ids, trained)
    return found


def settings(name: str, config: str | Path = "config", changes: Mapping[str, Any] | None = None) -> Any:
    """The settings of a paper, checked.

    Parameters
    ----------
    name : str
    config : path
    changes : mapping, optional
        Values that replace those of ``config/<name>.yaml``: the paper's entry under ``papers`` in the configuration.

    Raises
    ------
    ConfigurationError
        If the file is missing, not as the paper's model says, or does not fit the experiments.
    """
    path = Path(config) / f"{name}.yaml"
    stated: Any = {
        key: value for key, value in read_mapping(path).items() if key not in PaperFile.model_fields
    }
    file = f"{path}, changed by papers.{name}" if changes else path
    module = import_module(
        f"{__name__}.{name}.settings"
    )  # not all of the paper: every job's process comes here
    stated = parsed(module.Stated, merged(stated, changes or {}), [file])

    def experiment(wanted: str) -> dict[str, Any]:
        file = Path(config) / "experiments" / f"{wanted}.yaml"
        if not file.exists():
            raise ConfigurationError(f"{path} names the experiment {wanted!r}, and there is no {file}")
        return read_mapping(file)

    try:
        return module.settings(stated, experiment)
    except ConfigurationError:
        raise
    except KeyError as error:
        raise ConfigurationError(
            f"{file} asks for {error.args[0]!r}, which its experiments do not have"
        ) from error
    except ValueError as error:
        raise ConfigurationError(f"{file}: {error}") from error
