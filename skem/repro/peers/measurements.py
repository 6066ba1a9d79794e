"""What is timed beside others: engines at sizes and along them, and supervised EM at the papers' settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skem.engine.problem import ACTIVE_ROWS
from skem.repro.peers import timing
from skem.repro.peers.engines import ENGINES, Start, Work, draw, start_from
from skem.repro.training import feature_store, splits
from skem.repro.training.classifiers.shared_kernel import ENTRIES as MODELS
from skem.repro.training.splits import Trial

Rows = list[dict[str, Any]]


def sizes(work: Mapping[str, Any]) -> Rows:
    """Every engine at every size."""
    rows: Rows = []
    for name, size in work["sizes"].items():
        for dtype in ("float64", "float32"):
            X, start = draw(**size, dtype=dtype)
            for n_threads in work["threads"]:
                labels = {"size": name, "clusters": 0, **size, "dtype": dtype, "threads": n_threads}
                rates: dict[Any, float] = {}
                for group in work["groups"]:
                    rows += _measured(X, start, labels, group, rates)
    return rows


def _measured(
    X: NDArray[Any], start: Start, labels: dict[str, Any], group: Mapping[str, Any], rates: dict[Any, float]
) -> Rows:
    """The engines of a group on the same data, and those of them that are not installed."""
    engines = {name: ENGINES[name] for name in group["engines"]}
    engines = {name: engine for name, engine in engines.items() if labels["dtype"] in engine.dtypes}
    if len(engines) < 2:
        return []
    versions = {name: engine.version() for name, engine in engines.items()}
    installed = [name for name, version in versions.items() if version is not None]
    rows = timing.compare(
        X, start, labels["threads"], installed, rounds=group["rounds"], passes=tuple(group["passes"])
    )
    rows += [
        {"engine": name, "note": f"not installed: {engines[name].install}"}
        for name in engines
        if name not in installed
    ]
    for row in rows:
        name = row["engine"]
        row |= labels | {"version": versions[name], "covariance": engines[name].covariance}
        row |= {"rounds": group["rounds"]}
        if name == "skem" and "seconds_per_pass" in row:
            H = 1 + labels["m"] + labels["m"] * (labels["m"] + 1) // 2
            key = (labels["K"], H, labels["N"], labels["dtype"], labels["threads"])
            if key not in rates:
                rates[key] = timing.product_rate(*key)
            row["product_rate"] = rates[key]
            operations = timing.operations(labels["N"], labels["m"], labels["K"])
            row["share"] = operations / row["seconds_per_pass"] / rates[key]
    return rows


def scaling(work: Mapping[str, Any]) -> Rows:
    """Seconds per pass against N, m and K, one at a time."""
    rows: Rows = []
    for axis in ("N", "m", "K"):
        for value in work[axis]:
            size = work["base"] | {axis: value}
            X, start = draw(**size, dtype="float32")
            labels = {"size": axis, **size, "dtype": "float32", "threads": work["threads"]}
            rows += _measured(X, start, labels, work, {})
    return rows


def _first_trial(dataset: str, setting: Mapping[str, Any], seed: int) -> Trial | None:
    """The rows of the first run of the paper's setting, None without data or where this run does not have it."""
    if not setting["features"]:
        return None
    features = feature_store.read([setting["features"]], setting["spec"], ["all"], [0])
    return next(splits.trials(dataset, setting["spec"], features, ["all"], [0], seed)) if features else None


def supervised(work: Mapping[str, Any]) -> Rows:
    """SKEM and PSKEM at the paper's settings, with active sets and without, in turns."""
    rows: Rows = []
    for dataset, setting in work["settings"].items():
        trial = _first_trial(dataset, setting, work["seed"])
        if trial is None:
            continue
        X, y = trial.X_train[:, : setting["n_features"]], trial.y_train
        Model = MODELS[setting["model"]].load()
        params = setting["params"] | {"max_iter": work["passes"] + 2}
        random_state = splits.seed(work["seed"], dataset, 0, 0, "start")
        for n_threads in work["threads"]:
            seconds: dict[float, list[float]] = {ACTIVE_ROWS: [], 0.0: []}
            for _ in range(work["rounds"]):
                for active_rows, spent in seconds.items():
                    estimator = Model(random_state=random_state, n_jobs=n_threads, **params)
                    estimator._active_rows = active_rows
                    spent.append(timing.seconds_per_pass(estimator, X, y))
            ours, without = map(np.array, seconds.values())
            rows.append(
                {"dataset": dataset, "threads": n_threads, "N": len(y), "dtype": estimator.dtype_used_}
                | {"paper_seconds": setting["paper_seconds"], "rounds": work["rounds"]}
                | timing.median("seconds_per_pass", ours)
                | timing.median("seconds_without_active_sets", without)
                | timing.median("gain", without / ours)
            )
    return rows


def beside(work: Mapping[str, Any]) -> Rows:
    """The first block of the paper's settings, from several starts, beside an engine without classes, in turns."""
    rows: Rows = []
    if ENGINES[work["engine"]].version() is None:
        return rows
    for dataset, setting in work["settings"].items():
        trial = _first_trial(dataset, setting, work["seed"])
        if trial is not None:
            rows += _beside(work, dataset, setting, trial)
    return rows


def _beside(work: Mapping[str, Any], dataset: str, setting: Mapping[str, Any], trial: Trial) -> Rows:
    """On one data set."""
    params = setting["params"]
    n_features = setting["n_features"] // params["n_blocks"]
    X, y = np.ascontiguousarray(trial.X_train[:, :n_features]), trial.y_train
    start = start_from(X, params["n_components"], np.random.default_rng(0))
    rows: Rows = []
    for n_threads in work["threads"]:
        seconds: dict[str, list[float]] = {}
        dtypes: dict[str, str] = {}
        for _ in range(work["rounds"]):
            for init in work["starts"]:
                estimator = MODELS[setting["model"]].load()(
                    random_state=work["seed"], n_jobs=n_threads, **params | {"n_blocks": 1, "init": init}
                )
                estimator.set_params(max_iter=work["supervised_passes"] + 2)
                seconds.setdefault(init, []).append(timing.seconds_per_pass(estimator, X, y))
                dtypes[init] = estimator.dtype_used_
            spent, note = np.nan, None
            try:
                spent, _ = timing.time_a_pass(work["engine"], Work(X, start, n_threads), *work["passes"])
            except Exception as error:
                note = timing.failure(error)
            seconds.setdefault(work["engine"], []).append(spent)
        theirs = np.array(seconds.pop(work["engine"]))
        for init, ours in seconds.items():
            rows.append(
                {"dataset": dataset, "N": len(y), "m": n_features, "K": params["n_components"]}
                | {"start": init, "threads": n_threads, "dtype": str(X.dtype), "dtype_used": dtypes[init]}
                | {"engine": work["engine"], "rounds": work["rounds"], "note": note}
                | timing.median("seconds_per_pass", np.array(ours))
                | timing.median("engine_seconds", theirs)
                | timing.median("ratio", theirs / np.array(ours))
            )
    return rows


MEASUREMENTS: dict[str, Callable[[Mapping[str, Any]], Rows]] = {
    "sizes": sizes,
    "scaling": scaling,
    "supervised": supervised,
    "beside": beside,
}
"""By name; each takes its entry of ``config/peers.yaml`` with what the rule adds, and returns the rows of its table."""
