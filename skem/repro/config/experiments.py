"""What a run is made of: the experiments of a configuration, every setting that is trained, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from skem import datasets
from skem.repro.config import feasible
from skem.repro.config.documents import ConfigurationError, file_with, gathered, read, refuse
from skem.repro.config.schemas import Files, check, examined
from skem.repro.training.settings import PARTS_OF_NAMES, Setting, blocks_of, setting_name


def load(
    config: dict[str, Any],
    files: Files,
    folder: str | Path,
    schemas: str | Path,
    numbers: Collection[str] | None = None,
) -> tuple[dict[str, dict[str, Any]], dict[tuple[str, str, str], Setting]]:
    """Everything a run is made of, with the faults of all its files told at once.

    Parameters
    ----------
    config : dict
        ``config.yaml`` and its overlays, merged.
    files : sequence of path or dict
        Where it was read from, overlays last; a dict is what ``--config`` gave.
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
    unreadable: list[str] = []
    for file in files:
        with gathered(unreadable):
            if not isinstance(file, Mapping):
                read(file)
    refuse(unreadable)
    sound, faults = examined(config, schemas / "config.yaml", files)
    with gathered(faults):
        content = read(described)
        check(content, schemas / "datasets.yaml", [described])
        refuse([f"{described}: {fault}" for fault in feasible.faults_of_data_sets(content)])
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
    sound, faults = examined(experiment, schema, [path])
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
        n_blocks = own.get("n_blocks", params.get("n_blocks", 1))
        return Setting(
            dataset,
            method,
            name,
            unit,
            model,
            params,
            own["n_features"],
            n_blocks,
            own["rows"],
            runs,
            features,
        )

    found = [setting(name, name, own) for name, own in how.get("settings", {}).items()]
    grid = dict(how.get("grid", {}))
    if not grid:
        return found
    passes, runs, rows = grid.pop("max_iter", {}), grid.pop("runs", {}), grid.pop("rows")
    lists = {key: grid[key] for key in PARTS_OF_NAMES if key in grid}
    if config["grids"] == "ends":
        lists = {key: [values[0], values[-1]] if len(values) > 1 else values for key, values in lists.items()}
    for values in product(*lists.values()):
        point = dict(zip(lists, values, strict=True))
        n_blocks, size = blocks_of(point["partition"])
        own: dict[str, Any] = {"n_features": n_blocks * size, "n_blocks": n_blocks, "rows": rows}
        own |= {"params": {}, "features": {}}
        if point["partition"] in passes:
            own["max_iter"] = passes[point["partition"]]
        if model in feasible.NOT_FOR and "n_blocks" not in feasible.NOT_FOR[model]:
            own["params"]["n_blocks"] = n_blocks
        own["params"] |= {key: point[key] for key in ("n_components", "reg_covar") if key in point}
        own["features"] |= {key: point[key] for key in ("folds", "scale") if key in point}
        large = len(lists["partition"]) > 1 and config["grids"] == "all"
        unit = point["partition"] if large else "grid"
        if large and point["partition"] in runs:  # the settings of a unit have the same runs
            own["runs"] = runs[point["partition"]]
        found.append(setting(setting_name(**point), unit, own))
    return found


def check_known(config: dict[str, Any], files: Files) -> None:
    """Refuse what no file describes: data sets and methods by name, and more rows or features than there are.

    Raises
    ------
    ConfigurationError
    """
    faults = []

    def refused(path: list[str], what: str) -> None:
        faults.append(f"{file_with(path, files)}: {'.'.join(path)}{what}")

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
            available := feasible.n_features_of(spec, datasets.describe(spec["source"]))
        ):
            refused(["baselines", "n_features", dataset], f" is {wanted}, {dataset} has {available}")
    refuse(faults)


def _baseline_names() -> tuple[str, ...]:
    from skem.repro.training import baselines

    return baselines.names()
