"""The settings that an experiment trains, and contradictions between them, the data sets and the claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from skem import datasets
from skem.repro.config.documents import refuse
from skem.repro.config.experiments import MODELS
from skem.repro.config.models import n_features
from skem.repro.config.validation import suggestion, unknown
from skem.repro.training.settings import PARTS_OF_NAMES, Setting, blocks_of, candidate_name, setting_name

DECIDED = {"n_init", "n_jobs", "random_state", "warm_start"}
"""Parameters that the pipeline decides."""

CANDIDATES = "candidates"
"""Unit of the settings that only nested compares: one job trains those of a method."""


def settings(
    where: str,
    experiment: Mapping[str, Any],
    features: Mapping[str, Any],
    runs: Mapping[str, int],
    *,
    ends: bool = False,
    candidate_runs: Mapping[str, int] | None = None,
) -> list[Setting]:
    """List the settings that an experiment trains; data sets without runs are left out.

    ``where`` names the experiment's file in messages; ``features`` and ``runs`` are by data set. ``ends`` keeps the first and
    the last value of each list of a grid. ``candidate_runs`` are runs of
    `CANDIDATES`, by data set, if they have fewer.
    """
    entries = experiment["data_sets"]
    faults = unknown(entries, runs, f"{where}: data_sets")
    without = [dataset for dataset, entry in entries.items() if "paper" not in entry]
    if 0 < len(without) < len(entries):
        faults.append(
            f"{where}: data_sets.{without[0]} has no entry 'paper' as the others do; "
            "put a data set of your own into an experiment of its own"
        )
    found = []
    for dataset, entry in entries.items():
        place = f"{where}: data_sets.{dataset}"
        faults += _faults_of_paper(f"{place}.paper", entry)
        # A grid that shares keys with another keeps the max_iter of partitions that it leaves out.
        grids = [how.get("grid", {}) for how in entry["methods"].values()]
        partitions = list(dict.fromkeys(p for grid in grids for p in grid.get("partition", ())))
        for method, how in entry["methods"].items():
            at = f"{place}.methods.{method}"
            if not how.keys() & {"grid", "settings"}:
                faults.append(f"{at} needs settings or a grid")
            for key in ("max_iter", "runs"):
                faults += unknown(how.get("grid", {}).get(key, ()), partitions, f"{at}.grid.{key}")
            for name, unit, own in written_out(how, ends):
                most = runs.get(dataset, 0)
                if unit == CANDIDATES:
                    most = min(most, (candidate_runs or {}).get(dataset, most))
                defaults = {"max_iter": entry.get("max_iter"), "runs": most} | how
                params = how["params"] | own["params"]
                if how["model"] in MODELS:
                    params["max_iter"] = own.get("max_iter", defaults["max_iter"])
                setting = Setting(
                    *(dataset, method, name, unit, how["model"], params),
                    n_features=own["n_features"],
                    n_blocks=own.get("n_blocks", params.get("n_blocks", 1)),
                    rows=own["rows"],
                    spec=features.get(dataset, {}) | how.get("features", {}) | own.get("features", {}),
                    runs=list(range(min(most, own.get("runs", defaults["runs"])))),
                )
                faults += [f"{at}.settings.{name}: {fault}" for fault in _faults_of(setting)]
                found.append(setting)
    refuse(faults)
    return [setting for setting in found if setting.runs]


def written_out(how: Any, ends: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name, unit and entry of each setting of a method; those of its grid are named after their values."""
    candidates = how.get("candidates", {"reg_covar": ()})
    for name, entry in how.get("settings", {}).items():
        yield name, CANDIDATES if "candidates" in how and entry["rows"] == ["part"] else name, entry
        rows = ["part"] if "part" in entry["rows"] else entry["rows"]  # nested needs validation samples alone
        for value in _ends(candidates["reg_covar"]) if ends else candidates["reg_covar"]:
            params = entry["params"] | {"reg_covar": value}
            yield candidate_name(name, value), CANDIDATES, entry | {"params": params, "rows": rows}
    if "grid" not in how:
        return
    grid = how["grid"]
    lists = {key: grid[key] for key in PARTS_OF_NAMES if key in grid}
    if ends:
        lists = {key: _ends(values) for key, values in lists.items()}
    large = len(lists["partition"]) > 1 and not ends
    has_blocks = how["model"] in ("pskem", "mda")
    for values in product(*lists.values()):
        point = dict(zip(lists, values, strict=True))
        n_blocks, size = blocks_of(partition := point["partition"])
        entry = {
            "n_features": n_blocks * size,
            "n_blocks": n_blocks,
            "rows": grid["rows"],
            "params": {"n_blocks": n_blocks} if has_blocks else {},
            "features": {key: point[key] for key in ("folds", "scale") if key in point},
        }
        entry["params"] |= {key: point[key] for key in ("n_components", "reg_covar") if key in point}
        if partition in grid.get("max_iter", {}):
            entry["max_iter"] = grid["max_iter"][partition]
        if large and partition in grid.get("runs", {}):  # the settings of a unit have the same runs
            entry["runs"] = grid["runs"][partition]
        yield setting_name(**point), partition if large else "grid", entry


def _ends(values: Sequence[Any]) -> list[Any]:
    return list(dict.fromkeys([*values[:1], *values[-1:]]))


def _faults_of(setting: Setting) -> Iterator[str]:
    """Faults of a setting that would otherwise end its jobs."""
    params, model, spec = setting.params, setting.model, setting.spec
    is_ours = model in MODELS
    if setting.n_blocks > setting.n_features:
        yield f"{setting.n_blocks} blocks of {setting.n_features} features; at most one block per feature"
    if model == "skem" and setting.n_blocks > 1:
        yield f"{setting.n_blocks} blocks; skem has one block, as in partition 1x{setting.n_features}"
    yield from setting.misnamed()
    if is_ours and params["max_iter"] is None:
        yield "max_iter is missing, here and for the data set"
    known = [name for name in MODELS[model].parameters() if name not in DECIDED] if is_ours else []
    for key in params:
        if key not in known:
            yield f"{model} has no parameter {key!r}; {suggestion(key, known)}"
    if "recipe" not in spec:  # of an unknown data set
        return
    if setting.n_features > n_features(spec):
        yield f"n_features is {setting.n_features}; {setting.dataset} has {n_features(spec)}"
    init, n_classes = params.get("init_params", "class"), datasets.describe(spec["source"])["n_classes"]
    if is_ours and init.startswith("class") and 1 < params.get("n_components", n_classes) < n_classes:
        yield f"n_components is {params['n_components']}; init_params {init!r} needs one for each of {n_classes} classes"
    if spec["recipe"] != "table" and (keys := spec.keys() & {"folds", "scale"}):
        yield f"{setting.dataset} is no table; leave out {', '.join(sorted(keys))}"


def _faults_of_paper(where: str, entry: Any) -> Iterator[str]:
    if "paper" not in entry:
        return
    paper = entry["paper"]
    # Iterations are timed of a setting that is written out: the points of a grid share their jobs.
    labels = list(
        dict.fromkeys(label for how in entry["methods"].values() for label in how.get("settings", {}))
    )
    if paper["setting"] not in labels:
        yield f"{where}.setting is {paper['setting']!r}; {suggestion(paper['setting'], labels)}"
    yield from unknown(paper["chosen_on_test"], labels, f"{where}.chosen_on_test")
