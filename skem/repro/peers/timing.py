"""Seconds per iteration of EM: engines on identical work, and the classifiers of Table 1.

An iteration takes the difference of a long and a short fit, so that neither reading data nor setting up counts. Fits take turns;
two are compared by the median of the ratios within rounds, which a change of the machine's pace leaves alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from skem.repro.peers import engines
from skem.repro.peers.engines import ENGINES, Request
from skem.repro.training import feature_store, splits
from skem.repro.training.classifiers.shared_kernel import ENTRIES as MODELS

Rows = list[dict[str, Any]]
Array = NDArray[Any]
Fit = Callable[[int], float]
"""Seconds by number of iterations."""

CHECKED_SAMPLES = 100_000
AGREEMENT = 1e-3
"""Largest difference of mean log-likelihoods, in nats. Engines that agree differ by at most 4e-5."""

ENOUGH_SECONDS, MOST_FITS = 0.3, 50
"""Repeat fits of milliseconds within a round."""


def interleaved(fits: Mapping[str, Fit], iterations: Sequence[int], rounds: int) -> dict[str, Array]:
    """Seconds per iteration by round; fits take turns, in an order that rotates."""
    names, seconds = list(fits), {name: np.empty(rounds) for name in fits}
    for turn in range(rounds):
        for place in range(len(names)):
            name = names[(turn + place) % len(names)]
            seconds[name][turn] = seconds_per_iteration(fits[name], *iterations)
    return seconds


def seconds_per_iteration(fit: Fit, short: int, long: int) -> float:
    """Median over fits of two lengths."""
    found: list[float] = []
    spent = 0.0
    while not found or (spent < ENOUGH_SECONDS and len(found) < MOST_FITS):
        before, after = fit(short), fit(long)
        found.append((after - before) / (long - short))
        spent += before + after
    return float(np.median(found))


def median(name: str, values: Array) -> dict[str, float]:
    """Median, and the order statistics that contain it with 95% (the range of fewer than six values)."""
    ordered = np.sort(values)
    rank = max(int(binom.ppf(0.025, len(values), 0.5)) - 1, 0)
    low, high = float(ordered[rank]), float(ordered[-1 - rank])
    return {name: float(np.median(values)), f"{name}_low": low, f"{name}_high": high}


def fit_of_engine(name: str, X: Array, request: Request) -> Fit:
    """Seconds of an engine's fit by number of iterations."""
    return lambda em_iter: ENGINES[name].fit(X, replace(request, em_iter=em_iter)).seconds


def fit_of_classifier(estimator: Any, X: Array, y: Array) -> Fit:
    """Seconds of a classifier's fit by number of iterations."""

    def fit(max_iter: int) -> float:
        begin = perf_counter()
        estimator.set_params(max_iter=max_iter).fit(X, y)
        return perf_counter() - begin

    return fit


def unsupervised(work: Mapping[str, Any]) -> Rows:
    """Time every group of engines at every size, in every dtype and with every number of threads."""
    rows: Rows = []
    for size, dtype, n_threads in product(work["sizes"], work["dtypes"], work["threads"]):
        N, m, K, clusters = (size.get(key, 0) for key in ("N", "m", "K", "clusters"))
        X, init = engines.draw(N, m, K, dtype, clusters=clusters)
        request = Request(K, 1, 0, 1e-6, 0, n_threads, init)
        labels = {"part": work["part"], **size, "clusters": clusters, "dtype": dtype, "threads": n_threads}
        for group in work["groups"]:
            names = [name for name in group["engines"] if dtype in ENGINES[name].dtypes]
            if len(names) > 1:
                rows += [
                    labels | row for row in compare(names, X, request, group["iterations"], group["rounds"])
                ]
    return rows


def compare(names: Sequence[str], X: Array, request: Request, iterations: Sequence[int], rounds: int) -> Rows:
    """Time engines in turns, beside the first one; an engine that fails, or whose result differs, has only a note."""
    first = names[0]
    notes, likelihoods = {}, {}
    for name in names:  # also warms up
        fitted, notes[name] = engines.attempt(ENGINES[name], X, replace(request, em_iter=max(iterations)))
        if fitted is None:
            continue
        likelihoods[name] = engines.mean_log_likelihood(X[:CHECKED_SAMPLES], fitted.parameters)
        found, ours = likelihoods[name], likelihoods.get(first, np.nan)
        if ENGINES[name].takes_init and not abs(found - ours) <= AGREEMENT:
            notes[name] = f"other result: log-likelihood {found:.6f}, not {ours:.6f}"
    if notes[first]:
        raise RuntimeError(
            f"{first} on {X.shape[0]} x {X.shape[1]}, K = {request.n_components}: {notes[first]}"
        )
    fits = {name: fit_of_engine(name, X, request) for name in names if not notes[name]}
    seconds = interleaved(fits, iterations, rounds)
    rows: Rows = []
    for name in names:
        row = {"engine": name, "version": ENGINES[name].version(), "covariance": ENGINES[name].covariance}
        rows.append(row | {"rounds": rounds, "note": notes[name] or None})
        if name in seconds:
            rows[-1] |= median("seconds_per_iteration", seconds[name])
            rows[-1] |= median("ratio", seconds[name] / seconds[first])
            rows[-1]["log_likelihood"] = likelihoods[name]
    return rows


def supervised(work: Mapping[str, Any]) -> Rows:
    """Time the classifiers of Table 1, and the first feature block of each beside an engine without classes."""
    rows: Rows = []
    for dataset, model in work["models"].items():
        features = feature_store.read([model["features"]], model["spec"], ["all"], [0])
        if features:
            trial = next(splits.trials(dataset, model["spec"], features, ["all"], [0], work["seed"]))
            X, y = trial.X_train[:, : model["n_features"]], trial.y_train
            for n_threads in work["threads"]:
                labels = {"dataset": dataset, "N": len(y), "threads": n_threads, "rounds": work["rounds"]}
                rows += [labels | row for row in compare_classifiers(X, y, n_threads, model, work)]
    return rows


def compare_classifiers(
    X: Array, y: Array, n_threads: int, model: Mapping[str, Any], work: Mapping[str, Any]
) -> Rows:
    """Time a model beside the paper, and its first feature block, by initialisation, beside an engine."""
    iterations, rounds, engine = work["iterations"], work["rounds"], work["engine"]
    params = model["params"] | {"random_state": work["seed"], "n_jobs": n_threads}
    whole, OneBlock = MODELS[model["model"]].load()(**params), MODELS["pskem"].load()
    blocks = {init: OneBlock(**params | {"n_blocks": 1, "init": init}) for init in work["init"]}
    block = np.ascontiguousarray(X[:, : X.shape[1] // params.get("n_blocks", 1)])
    fits = {"whole": fit_of_classifier(whole, X, y)}
    fits |= {init: fit_of_classifier(one, block, y) for init, one in blocks.items()}
    for fit in fits.values():  # warms up
        fit(max(iterations))
    K = params["n_components"]
    init = engines.initial_parameters(block, K, np.random.default_rng(0))
    request = Request(K, 1, max(iterations), 1e-6, 0, n_threads, init)
    fitted, note = engines.attempt(ENGINES[engine], block, request)
    if fitted:
        fits["engine"] = fit_of_engine(engine, block, request)
    seconds = interleaved(fits, iterations, rounds)
    theirs = seconds.get("engine", np.full(rounds, np.nan))
    rows: Rows = [
        {"part": "supervised", "dtype": whole.dtype_used_, "paper_seconds": model["paper_seconds"]}
        | median("seconds_per_iteration", seconds["whole"])
        | median("ratio", model["paper_seconds"] / seconds["whole"])
    ]
    for name, one in blocks.items():
        row = {"part": "beside", "m": block.shape[1], "K": K, "init": name, "dtype": str(X.dtype)}
        row |= {"dtype_used": one.dtype_used_, "engine": engine, "note": note or None}
        row |= median("seconds_per_iteration", seconds[name]) | median("engine_seconds", theirs)
        rows.append(row | median("ratio", theirs / seconds[name]))
    return rows
