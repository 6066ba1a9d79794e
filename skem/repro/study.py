"""A run as one typed object: configuration, experiments, papers and claims, with all faults reported at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from skem import datasets
from skem.repro import papers
from skem.repro.comparison import configuration as comparison_configuration
from skem.repro.config import expansion, experiments
from skem.repro.config.described import DescribedDataSets
from skem.repro.config.documents import ConfigurationError, Files, file_with, gathered, read_mapping, refuse
from skem.repro.config.models import Config, DataSet, with_default_features
from skem.repro.config.validation import parsed, suggestion, unknown
from skem.repro.training.settings import Setting

REGRESS_RUNS = 10
"""Runs of every fit of the regression test."""


@dataclass(frozen=True, eq=False)
class Study:
    """Everything that a run is made of."""

    config: Config  # overlays merged
    experiments: dict[str, dict[str, Any]]  # content of the files
    settings: dict[tuple[str, str, str], Setting]  # by data set, method and name
    titles: dict[str, str]  # of papers
    papers: dict[str, Any]  # settings of the papers that are built
    comparison: comparison_configuration.Comparison
    regress_features: dict[str, Any]  # recipes of config/config.yaml, whatever the overlays
    regress_settings: list[Setting]  # of the regression test

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
        """Experiments with a data set that a paper has numbers for: they get tables, figures and baselines."""
        return [
            name
            for name, experiment in self.experiments.items()
            if all("paper" in entry for entry in experiment["data_sets"].values())
            and not self.datasets.keys().isdisjoint(experiment["data_sets"])
        ]

    def regress_work(self, dataset: str) -> dict[str, Any]:
        """Fits of the regression test on a data set, as `skem.repro.gate.cases.measure` takes them."""
        settings = [asdict(setting) for setting in self.regress_settings if setting.dataset == dataset]
        return {"spec": self.regress_features[dataset], "runs": REGRESS_RUNS, "settings": settings}


def load_study(
    config: Mapping[str, Any],
    files: Files,
    folder: str | Path = "config",
) -> Study:
    """Read and check everything that a run is made of; `ConfigurationError` with the faults of all files.

    ``files`` are the sources of the merged ``config``, overlays last, a dict for ``--config``.
    """
    folder = Path(folder)
    faults: list[str] = []
    registries = [folder / "datasets.yaml", *datasets.registries()[1:]]
    for file in [*files, *registries]:
        with gathered(faults):
            if not isinstance(file, Mapping):
                read_mapping(file)
    refuse(faults)  # nothing else can be checked without these
    for path in registries:
        parsed(DescribedDataSets, read_mapping(path), [path])

    contents: dict[str, dict[str, Any]] = {}
    named = config.get("experiments")
    for name in named if isinstance(named, list) else []:
        with gathered(faults):
            contents[name] = experiments.read(str(name), folder / "experiments")
    trained = {dataset for experiment in contents.values() for dataset in experiment["data_sets"]}
    # An overlay for a quick run does not change what the regression test compares.
    basic = None
    with gathered(faults):
        basic = _config(read_mapping(folder / "config.yaml"), [folder / "config.yaml"])
    checked = basic
    with gathered(faults):
        checked = _config(with_default_features(config, trained), files)
    if basic is None or checked is None:
        raise ConfigurationError(*faults)
    # With faults in the configuration, experiments would only repeat the faults of their data sets.
    is_sound = checked is not basic
    titles = papers.titles(folder)
    changes = given if isinstance(given := config.get("papers"), Mapping) else {}
    faults += unknown(changes, papers.names(folder), f"{file_with(['papers'], files)}: papers")
    paper_settings = {}
    for name in papers.names(folder):
        with gathered(faults):
            paper_settings[name] = papers.settings(name, folder, changes.get(name))
            faults += papers.unknown_words(name, folder)

    settings: dict[tuple[str, str, str], Setting] = {}
    features = {name: entry.features for name, entry in checked.datasets.items()}
    only = checked.datasets if checked.only is None else checked.only
    faults += unknown(only, checked.datasets, f"{file_with(['only'], files)}: only")
    runs = {name: entry.runs if name in only else 0 for name, entry in checked.datasets.items()}
    fewer = {
        name: entry.candidate_runs
        for name, entry in checked.datasets.items()
        if entry.candidate_runs is not None
    }
    ends = checked.grids == "ends"
    for name, experiment in contents.items() if is_sound else ():
        where = f"{folder}/experiments/{name}.yaml"
        with gathered(faults):
            for setting in expansion.settings(
                where, experiment, features, runs, ends=ends, candidate_runs=fewer
            ):
                key = (setting.dataset, setting.method, setting.name)
                if settings.setdefault(key, setting) != setting:
                    faults.append(f"{where}: {'/'.join(key)} is another setting in another experiment")
    comparison, regress_settings = None, []
    with gathered(faults):
        comparison = comparison_configuration.read(folder / "comparison.yaml")
    basic_features = {name: entry.features for name, entry in basic.datasets.items()}
    with gathered(faults):
        regress_settings = expansion.settings(
            f"{folder}/experiments/regress.yaml",
            experiments.read("regress", folder / "experiments"),
            basic_features,
            dict.fromkeys(basic.datasets, REGRESS_RUNS),
        )
    if faults or comparison is None:
        raise ConfigurationError(*faults)
    return Study(
        *(checked, contents, settings, titles, paper_settings),
        *(comparison, basic_features, regress_settings),
    )


def _config(config: Mapping[str, Any], files: Files) -> Config:
    """The checked configuration. A data set without features is a typo of an overlay."""
    entries = config.get("datasets")
    if not isinstance(entries, Mapping):
        return parsed(Config, config, files)
    known = {
        name: entry
        for name, entry in entries.items()
        if not isinstance(entry, Mapping) or "features" in entry
    }
    faults = [
        f"{file_with(['datasets', name], files)}: unknown data set datasets.{name}, which has no features; "
        f"{suggestion(name, known)}"
        for name in entries
        if name not in known
    ]
    checked = None
    with gathered(faults):
        checked = parsed(Config, {**config, "datasets": known}, files)
    if faults or checked is None:
        raise ConfigurationError(*faults)
    return checked
