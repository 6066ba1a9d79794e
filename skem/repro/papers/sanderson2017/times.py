"""Jobs of times in Sanderson and Curtin (2017): whole fits, Figure 2, k-means and its seeding, and exp(). They run alone."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from skem.estimators.kmeans import KMeans
from skem.repro.papers.measured import Rows
from skem.repro.papers.sanderson2017.data import samples
from skem.repro.papers.sanderson2017.settings import FIGURE2, METHODS, TIMED
from skem.repro.peers import engines
from skem.repro.peers.from_kmeans import ENGINES, Request
from skem.repro.training import splits

Array = NDArray[np.float64]


def table1(
    dataset: str,
    entry: Mapping[str, Any],
    n_rows: int | None,
    em: Mapping[str, Any],
    iterations: int,
    rounds: int,
    seed: int,
) -> dict[str, Rows]:
    """Time fits to a data set on one thread; whole fits are extrapolated from so many iterations of EM."""
    X = samples(dataset, entry, n_rows, seed)
    request = Request(entry["n_components"], seed=splits.seed(seed, "sanderson2017", "times"), **em)
    rows = fit_times(dataset, X, request, TIMED, [1], iterations, rounds)
    return {"fits": rows, "others": exponentials(dataset, len(X), request.n_components, rounds)}


def figure2(
    setup: Mapping[str, Any], n_rows: int, em: Mapping[str, Any], rounds: int, seed: int
) -> dict[str, Rows]:
    """Time fits to the samples of Figure 2 against threads, and k-means and its seeding."""
    seed, K = splits.seed(seed, "sanderson2017", "times"), setup["n_components"]
    X = engines.draw(n_rows, setup["n_features"], K, "float64", seed)[0]
    request = Request(K, seed=seed, **{**em, "em_iter": setup["em_iter"]})
    name, threads = "synthetic-1m", setup["threads"]
    rows = fit_times(name, X, request, FIGURE2, threads, request.em_iter, rounds)
    common = [n for n in threads if n <= min(os.cpu_count() or 1, 2)]
    others = kmeans(name, X, K, request.kmeans_iter, common, rounds, seed)
    others += seeding(X, K, rounds, seed)
    return {"fits": rows, "others": others + exponentials(name, len(X), K, rounds)}


def fit_times(
    dataset: str,
    X: Array,
    request: Request,
    methods: Sequence[str],
    threads: Sequence[int],
    iterations: int,
    rounds: int,
) -> Rows:
    """Time whole fits, the methods in turns; numbers of threads beyond the cores leave a note.

    Rows have dataset, method, n_threads, round, n_rows, iterations_timed, kmeans_seconds, seconds_per_iteration, seconds (of a whole
    fit), note.
    """
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
                kmeans, em, note = _parts(METHODS[method].engine, X, own)
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


def _skem(X: Array, centres: Array, n_iter: int, n_threads: int) -> float:
    model = KMeans(len(centres), init=centres, max_iter=n_iter, tol=0.0, n_jobs=n_threads).fit(X)
    return model.inertia_


def _scikit_learn(X: Array, centres: Array, n_iter: int, n_threads: int) -> float:
    from sklearn.cluster import KMeans as Reference

    model = Reference(len(centres), init=centres, n_init=1, max_iter=n_iter, tol=0.0, algorithm="lloyd")
    with threadpool_limits(n_threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # k-means has not converged
        return float(model.fit(X).inertia_)


def _onedal(X: Array, centres: Array, n_iter: int, n_threads: int) -> float:
    import daal4py

    daal4py.daalinit(nthreads=n_threads)
    algorithm = daal4py.kmeans(len(centres), maxIterations=n_iter, accuracyThreshold=0.0)
    return float(algorithm.compute(X, centres).objectiveFunction[0, 0])


KMEANS: dict[str, Callable[[Array, Array, int, int], float]] = {
    "skem": _skem,
    "skem, from a file": _skem,
    "scikit-learn": _scikit_learn,
    "oneDAL": _onedal,
}
"""From samples, centres, iterations and threads to the inertia."""


def kmeans(
    dataset: str, X: Array, n_clusters: int, n_iter: int, threads: Iterable[int], rounds: int, seed: int
) -> Rows:
    """Time Lloyd's iterations of several engines from the same centres, in turns."""
    centres = X[np.random.default_rng(seed).choice(len(X), n_clusters, replace=False)].copy()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "samples.npy")
        np.save(path, X)
        file = np.load(path, mmap_mode="r")
        for turn in range(rounds):
            for n_threads in threads:
                for name, fit in KMEANS.items():
                    row: dict[str, Any] = {"about": "kmeans", "dataset": dataset, "engine": name}
                    row |= {"n_threads": n_threads, "round": turn, "n_rows": len(X)}
                    row |= {"n_clusters": n_clusters, "n_iter": n_iter}
                    begun = perf_counter()
                    try:
                        row["inertia"] = fit(file if "file" in name else X, centres, n_iter, n_threads)
                        row["seconds"] = perf_counter() - begun
                    except ImportError:
                        row["note"] = "not installed"
                    rows.append(row)
        del file
    return rows


def seeding(X: Array, n_clusters: int, rounds: int, seed: int) -> Rows:
    """Time each kind of seeding with one iteration of k-means after it: about, init, round, seconds."""
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
