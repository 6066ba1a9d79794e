"""Jobs of times in Sanderson and Curtin (2017): whole fits, Figure 2, the seeding of k-means, and exp(). They run alone."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skem.estimators.kmeans import KMeans
from skem.repro.papers.measured import Rows
from skem.repro.papers.sanderson2017 import engines
from skem.repro.papers.sanderson2017.engines import ENGINES, Request
from skem.repro.papers.sanderson2017.fits import Samples
from skem.repro.papers.sanderson2017.settings import FIGURE2, TIMED
from skem.repro.training import splits

Array = NDArray[np.float64]


def table1(em: Mapping[str, Any], iterations: int, rounds: int, **samples: Any) -> dict[str, Rows]:
    """Time fits to a data set on one thread; whole fits are extrapolated from so many iterations of EM."""
    data = Samples(**samples)
    request = Request(data.n_components, seed=splits.seed(samples["seed"], "sanderson2017", "times"), **em)
    rows = fit_times(data.dataset, data.X, request, TIMED, [1], iterations, rounds)
    others = exponentials(data.dataset, len(data.X), request.n_components, rounds)
    return {"fits": rows, "others": others}


def figure2(
    setup: Mapping[str, Any], n_rows: int, em: Mapping[str, Any], rounds: int, seed: int
) -> dict[str, Rows]:
    """Time fits to the samples of Figure 2 against threads, and the seeding of k-means."""
    seed, K = splits.seed(seed, "sanderson2017", "times"), setup["n_components"]
    X = engines.draw(n_rows, setup["n_features"], K, "float64", seed)[0]
    request = Request(K, seed=seed, **{**em, "em_iter": setup["em_iter"]})
    name = "synthetic-1m"
    rows = fit_times(name, X, request, FIGURE2, setup["threads"], request.em_iter, rounds)
    return {"fits": rows, "others": seeding(X, K, rounds, seed) + exponentials(name, len(X), K, rounds)}


def fit_times(
    dataset: str,
    X: Array,
    request: Request,
    methods: Sequence[str],
    threads: Sequence[int],
    iterations: int,
    rounds: int,
) -> Rows:
    """Time fits, the methods in turns; ``seconds`` are those of a whole fit. Numbers of threads beyond the cores leave a note."""
    rows, n_cores = [], os.cpu_count() or 1
    few = engines.draw(2000, X.shape[1], 2, "float64", request.seed)[0]  # without constant features
    for method in TIMED[2:]:  # compiled before they are timed
        ENGINES[method].fit(few, Request(2, 1, 2, 1e-3, 0))
    for turn in range(rounds):
        for n_threads in threads:
            for method in methods:
                row = {"dataset": dataset, "method": method, "n_threads": n_threads, "round": turn}
                row |= {"n_rows": len(X), "iterations_timed": iterations}
                if n_threads > n_cores:
                    cores = "one core" if n_cores == 1 else f"{n_cores} cores"
                    rows.append(row | {"note": f"{n_threads} threads were not run on {cores}"})
                    continue
                own = replace(request, em_iter=iterations, n_threads=n_threads, seed=request.seed + turn)
                kmeans, em, note = _parts(method, X, own)
                row |= {"kmeans_seconds": kmeans, "seconds_per_iteration": em}
                rows.append(row | {"seconds": kmeans + request.em_iter * em, "note": note})
    return rows


def _parts(name: str, X: Array, request: Request) -> tuple[float, float, str]:
    """Seconds of k-means and of an iteration of EM, and the reason if there are none.

    An engine that does not separate them is timed twice: a fit of one iteration takes an iteration and k-means.
    """
    fitted, note = engines.attempt(ENGINES[name], X, request)
    if fitted is None:
        return float("nan"), float("nan"), note
    if not np.isnan(fitted.kmeans_seconds):
        return fitted.kmeans_seconds, (fitted.seconds - fitted.kmeans_seconds) / request.em_iter, ""
    short = ENGINES[name].fit(X, replace(request, em_iter=1)).seconds
    em = (fitted.seconds - short) / (request.em_iter - 1)
    return max(short - em, 0.0), em, ""


def seeding(X: Array, n_clusters: int, rounds: int, seed: int) -> Rows:
    """Time each kind of seeding with one iteration of k-means after it."""
    rows = []
    for turn in range(rounds):
        for init in ("static_subset", "random_subset", "static_spread", "random_spread"):
            model = KMeans(n_clusters, init=init, max_iter=1, tol=0.0, random_state=seed + turn)
            begun = perf_counter()
            model.fit(X)
            rows.append({"about": "seeds", "init": init, "round": turn, "seconds": perf_counter() - begun})
    return rows


def exponentials(dataset: str, n_rows: int, n_components: int, rounds: int) -> Rows:
    """Time exp() of as many numbers as an iteration has responsibilities, on one thread and in cache."""
    block = -np.random.default_rng(0).exponential(10.0, size=100_000)
    out, rows = np.empty_like(block), []
    for turn in range(rounds):
        begun = perf_counter()
        for _ in range(-(-n_rows * n_components // len(block))):
            np.exp(block, out=out)
        row = {"about": "exp", "dataset": dataset, "round": turn}
        rows.append(row | {"seconds": perf_counter() - begun})
    return rows
