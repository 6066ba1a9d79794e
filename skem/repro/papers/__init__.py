"""The papers, each in a folder of its own with the same modules, found by name. Adding one edits only ``config/claims.csv``.

A folder that is built has a module ``paper`` with what the rest of the reproduction asks of it:

``evidence(files, stated, settings)``
    What a run left, from the files that the paper's rules name and the claims as stated.
``judge(evidence, claim)``
    The `Judgement` of a claim; `NotRun` where what it needs was not part of the run. The evidence has ``under(reading)``
    where the paper's YAML has ``readings``.
``knows(claim)``
    Whether there is a judge for a claim, so that its expression need not be formal.
``JUDGED``
    Where it has judges that ask for an option of a reading by name: by question, those options.
``FIGURES``
    A `drawing.Figure` by name of file; they stand in a module ``figures``.

Its module ``settings`` has ``settings(stated, experiment)``: the settings of all of it, from ``config/<name>.yaml`` and a
function that reads an experiment by name. Contradictions are a `ValueError` or a `KeyError`. With a pydantic model ``Stated``
the file is checked against it, and ``stated`` is an instance; without, ``stated`` is a dictionary. Its rules are
``workflow/rules/<name>.smk``, its words for quantities, methods, data sets and protocols, and its sentences,
``config/words/<name>.yaml``.
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
from skem.repro.ledger.estimates import Claim
from skem.repro.ledger.links import Links
from skem.repro.ledger.links import read as read_links
from skem.repro.ledger.paper_file import PaperFile
from skem.repro.ledger.readings import Question
from skem.repro.ledger.readings import read as read_questions
from skem.repro.ledger.verdicts import Judgement

Named = Mapping[str, str | Path]
Files = Mapping[str, Named]
"""What a paper's evidence is read from: kinds of files, and each by the name of what it is about."""


class Paper(Protocol):
    """The module ``paper`` of a folder."""

    FIGURES: Mapping[str, Figure]
    evidence: Callable[[Files, pd.DataFrame, Any], Any]
    judge: Callable[[Any, Claim], Judgement]
    knows: Callable[[Claim], bool]


def names() -> list[str]:
    """The papers that are built, in the order of their folders' names."""
    return [folder.name for folder in iter_modules(__path__) if folder.ispkg]


def load(name: str) -> Paper:
    """A paper that is built, by the name of its folder."""
    return import_module(f"{__name__}.{name}.paper")  # type: ignore[return-value]


def judges() -> dict[str, Callable[[Claim], bool]]:
    """By paper that is built: whether it has a judge for a claim."""
    return {name: load(name).knows for name in names()}


def titles(config: str | Path = "config") -> dict[str, str]:
    """Every paper that claims may be stated of, built or not: from the name of its file in ``config`` to its title."""
    paths = sorted(Path(config).glob("[a-z]*[0-9][0-9][0-9][0-9].yaml"))
    return {path.stem: str(read_mapping(path).get("title", path.stem)) for path in paths}


def _of_the_ledger(name: str, config: str | Path) -> dict[str, Any]:
    """The checked entries of a paper's file about its claims."""
    path = Path(config) / f"{name}.yaml"
    document = read_mapping(path)
    own = {key: document[key] for key in PaperFile.model_fields if key in document}
    parsed(PaperFile, own, [path])
    return own


def links(stated: pd.DataFrame, config: str | Path = "config") -> Links:
    """The relations between claims in the papers' files in ``config``.

    Raises
    ------
    ConfigurationError
    """
    return read_links(stated, {name: _of_the_ledger(name, config) for name in names()})


def questions(name: str, stated: pd.DataFrame, own: Any, config: str | Path = "config") -> list[Question]:
    """What a paper leaves open, as its file in ``config`` has it.

    Parameters
    ----------
    name : str
    stated : DataFrame
        ``config/claims.csv``.
    own : object
        What `settings` returns for the paper.

    Raises
    ------
    ConfigurationError
    """
    document = _of_the_ledger(name, config)
    if "readings" not in document:
        return []
    trained = {
        f"{dataset}/{method}"
        for path in sorted((Path(config) / "experiments").glob("*.yaml"))
        for dataset, entry in read_mapping(path)["data_sets"].items()
        for method in entry["methods"]
    }
    trained |= set(getattr(own, "trained", ()))
    ids = stated.loc[stated["paper"] == name, "id"]
    return read_questions(name, document, set(ids), trained, getattr(load(name), "JUDGED", {}))


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
    stated = merged(stated, changes or {})
    module = import_module(
        f"{__name__}.{name}.settings"
    )  # not all of the paper: every job's process comes here
    if hasattr(module, "Stated"):
        stated = parsed(module.Stated, stated, [file])

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
