"""A run as one typed object: configuration, experiments, papers and claims, with all faults reported at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from skem.repro import papers
from skem.repro.config import experiments
from skem.repro.config.documents import (
    ConfigurationError,
    Files,
    file_with,
    gathered,
    read_mapping,
    refuse,
)
from skem.repro.config.models import Config, DataSet, DescribedDataSets
from skem.repro.config.validation import parsed, suggestion, unknown
from skem.repro.frontier import settings as frontier_settings
from skem.repro.gate import settings as gate_settings
from skem.repro.ledger import sentences, stated_claims
from skem.repro.peers import settings as peers_settings
from skem.repro.training.settings import Setting


@dataclass(frozen=True)
class Study:
    """Everything that a run is made of.

    Attributes
    ----------
    config : Config
        The configuration, overlays merged.
    experiments : dict of str to dict
        By name, the content of the file.
    settings : dict of (str, str, str) to Setting
        By data set, method and name.
    described : dict
        ``config/datasets.yaml``.
    claims : DataFrame
        ``config/claims.csv``.
    titles : dict of str to str
        Titles of papers by name.
    papers : dict of str to object
        Settings of the papers that are built.
    frontier, peers, regress : dict
        Settings of the classifier comparison, the other implementations and the regression test.
    regress_features : dict of str to dict
        Recipes of features for the regression test: those of ``config/config.yaml`` whatever the overlays.
    regress_settings : list of Setting
    """

    config: Config
    experiments: dict[str, dict[str, Any]]
    settings: dict[tuple[str, str, str], Setting]
    described: dict[str, Any]
    claims: pd.DataFrame
    titles: dict[str, str]
    papers: dict[str, Any]
    frontier: dict[str, Any]
    peers: dict[str, Any]
    regress: dict[str, Any]
    regress_features: dict[str, Any]
    regress_settings: list[Setting]

    @cached_property
    def units(self) -> dict[tuple[str, str, str], list[Setting]]:
        """Settings of one job by data set, method and unit."""
        units: dict[tuple[str, str, str], list[Setting]] = {}
        for setting in self.settings.values():
            units.setdefault((setting.dataset, setting.method, setting.unit), []).append(setting)
        return units

    @cached_property
    def datasets(self) -> dict[str, DataSet]:
        """Data sets that this run trains on."""
        names = dict.fromkeys(setting.dataset for setting in self.settings.values())
        return {name: self.config.datasets[name] for name in names}

    @property
    def sources(self) -> list[str]:
        """Entries of ``config/datasets.yaml`` that this run trains on."""
        return list(dict.fromkeys(entry.features["source"] for entry in self.datasets.values()))

    @property
    def reproduced(self) -> list[str]:
        """Experiments that a paper has numbers for: they get tables, figures and baselines."""
        return [
            name
            for name, experiment in self.experiments.items()
            if all("paper" in entry for entry in experiment["data_sets"].values())
        ]


def load_study(
    config: Mapping[str, Any], files: Files, folder: str | Path = "config", evaluators: bool = True
) -> Study:
    """Read and check everything that a run is made of.

    Parameters
    ----------
    config : mapping
        The configuration, overlays merged.
    files : sequence of path or dict
        Sources of the configuration, overlays last; a dict holds the values of ``--config``.
    folder : path
        Folder of ``config.yaml``, ``datasets.yaml``, ``experiments`` and the papers' files.
    evaluators : bool
        Check that every claim has an evaluator, which imports those of all papers.

    Raises
    ------
    ConfigurationError
        With the faults of all files.
    """
    folder = Path(folder)
    faults: list[str] = []
    for file in files:
        with gathered(faults):
            if not isinstance(file, Mapping):
                read_mapping(file)
    with gathered(faults):
        described = read_mapping(folder / "datasets.yaml")
        parsed(DescribedDataSets, described, [folder / "datasets.yaml"])
    refuse(faults)  # Nothing else can be checked without these.
    checked, basic, titles, claims = None, None, {}, None
    with gathered(faults):
        checked = _config(config, files)
    with gathered(faults):
        # An overlay for a quick run does not change what the regression test compares.
        basic = _config(read_mapping(folder / "config.yaml"), [folder / "config.yaml"])
    with gathered(faults):
        titles = papers.titles(folder)
        claims = stated_claims.read(
            folder / "claims.csv",
            sentences.read(folder).protocols,
            titles,
            papers.judges() if evaluators else None,
        )
    numbers = None if claims is None else set(claims.loc[claims["kind"] == "number", "id"])
    changes = checked.papers if checked else {}
    faults += unknown(changes, papers.names(), f"{file_with(['papers'], files)}: papers")
    paper_settings = {}
    for name in papers.names():
        with gathered(faults):
            paper_settings[name] = papers.settings(name, folder, changes.get(name))
            if evaluators and claims is not None:
                papers.questions(name, claims, paper_settings[name], folder)
    if evaluators and claims is not None:
        with gathered(faults):
            papers.links(claims, folder)

    contents: dict[str, dict[str, Any]] = {}
    settings: dict[tuple[str, str, str], Setting] = {}
    named = config.get("experiments")
    for name in named if isinstance(named, list) else []:
        with gathered(faults):
            contents[name] = experiments.read(str(name), folder / "experiments")
            if checked:
                _add(settings, contents[name], f"{folder}/experiments/{name}.yaml", checked, numbers)
    frontier, peers, regress, regress_features, regress_settings = {}, {}, {}, {}, []
    with gathered(faults):
        frontier = frontier_settings.read(folder / "frontier.yaml", described)
    if usable := checked or basic:
        with gathered(faults):
            peers = peers_settings.read(folder / "peers.yaml", usable.datasets)
    if basic:
        with gathered(faults):
            regress_features = {name: entry.features for name, entry in basic.datasets.items()}
            regress = gate_settings.read(folder / "regress.yaml", basic.datasets)
            regress_settings = experiments.settings(
                f"{folder}/experiments/regress.yaml",
                experiments.read("regress", folder / "experiments"),
                regress_features,
                dict.fromkeys(basic.datasets, 0) | regress["accuracy"]["runs"],
            )
    if checked is None or claims is None:
        refuse(faults)
        raise ConfigurationError("the configuration cannot be checked")
    refuse(faults)
    return Study(
        config=checked,
        experiments=contents,
        settings=settings,
        described=described,
        claims=claims,
        titles=titles,
        papers=paper_settings,
        frontier=frontier,
        peers=peers,
        regress=regress,
        regress_features=regress_features,
        regress_settings=regress_settings,
    )


def _config(config: Mapping[str, Any], files: Files) -> Config:
    """The checked configuration. A data set without features is a typo of an overlay."""
    entries = config.get("datasets")
    if not isinstance(entries, Mapping):
        return parsed(Config, config, files)
    known = [name for name, entry in entries.items() if isinstance(entry, Mapping) and "features" in entry]
    strange = [name for name, entry in entries.items() if isinstance(entry, Mapping) and name not in known]
    faults = [
        f"{file_with(['datasets', name], files)}: unknown data set datasets.{name}, which has no features; "
        f"{suggestion(name, known)}"
        for name in strange
    ]
    with gathered(faults):
        rest = {name: entry for name, entry in entries.items() if name not in strange}
        checked = parsed(Config, {**config, "datasets": rest}, files)
    refuse(faults)
    return checked


def _add(
    settings: dict[tuple[str, str, str], Setting],
    experiment: Mapping[str, Any],
    where: str,
    config: Config,
    numbers: set[str] | None,
) -> None:
    """Add the settings of an experiment; another setting of the same name is a fault."""
    found = experiments.settings(
        where,
        experiment,
        {name: entry.features for name, entry in config.datasets.items()},
        {name: entry.runs for name, entry in config.datasets.items()},
        ends=config.grids == "ends",
        numbers=numbers,
    )
    refuse(
        [
            f"{where}: {setting.dataset}/{setting.method}/{setting.name} is another setting in another experiment"
            for setting in found
            if settings.setdefault((setting.dataset, setting.method, setting.name), setting) != setting
        ]
    )
