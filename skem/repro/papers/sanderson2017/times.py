"""What is timed: whole fits of Table 1, Figure 2, k-means and its seeds, and what exp() takes. Jobs of these run alone."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from skem.estimators.kmeans import KMeans
from skem.repro.papers.sanderson2017.fits import tried
from skem.repro.papers.sanderson2017.settings import METHODS, TIMED

Rows = list[dict[str, Any]]
Array = NDArray[np.float64]


def _parts(engine: Any, X: Array, request: Any) -> tuple[float, float, str]:
    """Seconds of k-means and of a pass of EM, and why there are none.

    An engine that does not tell them apart is timed twice: what a fit of one pass has above a pass is its start.
    """
    fitted, note = tried(engine, X, request)
    if fitted is None:
        return float("nan"), float("nan"), note
    if fitted.kmeans_seconds == fitted.kmeans_seconds:
        em = (fitted.seconds - fitted.kmeans_seconds) / request.em_iter
        return fitted.kmeans_seconds, em, ""
    short = engine.fit(X, replace(request, em_iter=1)).seconds
    em = (fitted.seconds - short) / (request.em_iter - 1)
    return max(short - em, 0.0), em, ""


def fit_times(
    dataset: str, X: Array, request: Any, passes: int, engines: Mapping[str, Any], rounds: int
) -> Rows:
    """Seconds of whole fits, the engines in turns.

    Parameters
    ----------
    dataset : str
    X : ndarray of shape (n, m)
    request : object
        `from_kmeans.Request`; a whole fit has its passes.
    passes : int
        So many are timed.
    engines : mapping
    rounds : int

    Returns
    -------
    list of dict
        dataset, method, n_threads, round, n_rows, passes_timed, kmeans_seconds, seconds_per_pass, seconds (of a whole fit), note.
    """
    rows = []
    for turn in range(rounds):
        for method in TIMED:
            asked = replace(request, em_iter=passes, seed=request.seed + turn)
            kmeans, em, note = _parts(engines[METHODS[method].engine], X, asked)
            rows.append(
                {"dataset": dataset, "method": method, "n_threads": request.n_threads, "round": turn}
                | {"n_rows": len(X), "passes_timed": passes, "kmeans_seconds": kmeans}
                | {"seconds_per_pass": em, "seconds": kmeans + request.em_iter * em, "note": note}
            )
    return rows


def figure2(
    X: Array, request: Any, threads: Iterable[int], n_cores: int, engines: Mapping[str, Any], rounds: int
) -> Rows:
    """Seconds against threads; a row with a note where there are fewer cores. Rows as of `fit_times`."""
    rows = []
    for turn in range(rounds):
        for n_threads in threads:
            for method in ("armadillo_diag", "skem_diag"):
                row: dict[str, Any] = {
                    "dataset": "synthetic-1m",
                    "method": method,
                    "n_threads": n_threads,
                    "round": turn,
                }
                row |= {"n_rows": len(X), "passes_timed": request.em_iter}
                if n_threads > n_cores:
                    cores = "one core" if n_cores == 1 else f"{n_cores} cores"
                    rows.append(row | {"note": f"{n_threads} threads were not run on {cores}"})
                    continue
                asked = replace(request, n_threads=n_threads, seed=request.seed + turn)
                kmeans, em, note = _parts(engines[METHODS[method].engine], X, asked)
                row |= {"kmeans_seconds": kmeans, "seconds_per_pass": em, "note": note}
                rows.append(row | {"seconds": kmeans + request.em_iter * em})
    return rows


def _skem(X: Array, centres: Array, n_iter: int, n_threads: int) -> float:
    model = KMeans(len(centres), init=centres, max_iter=n_iter, tol=0.0, n_jobs=n_threads).fit(X)
    return model.inertia_


def _scikit_learn(X: Array, centres: Array, n_iter: int, n_threads: int) -> float:
    from sklearn.cluster import KMeans as Peer

    with threadpool_limits(n_threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge
        model = Peer(len(centres), init=centres, n_init=1, max_iter=n_iter, tol=0.0, algorithm="lloyd").fit(X)
    return float(model.inertia_)


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
"""From rows, centres, iterations and threads to the inertia, by name."""


def kmeans(
    dataset: str, X: Array, n_clusters: int, n_iter: int, threads: Iterable[int], rounds: int, seed: int
) -> Rows:
    """Lloyd's iterations by several engines from the same rows, in turns.

    Returns
    -------
    list of dict
        dataset, engine, n_threads, round, n_rows, n_clusters, n_iter, inertia, seconds; note where it is not installed.
    """
    centres = X[np.random.default_rng(seed).choice(len(X), n_clusters, replace=False)].copy()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.npy")
        np.save(path, X)
        file = np.load(path, mmap_mode="r")
        for turn in range(rounds):
            for n_threads in threads:
                for name, fit in KMEANS.items():
                    row: dict[str, Any] = {"dataset": dataset, "engine": name, "n_threads": n_threads}
                    row |= {"round": turn, "n_rows": len(X), "n_clusters": n_clusters, "n_iter": n_iter}
                    begin = perf_counter()
                    try:
                        row["inertia"] = fit(file if "file" in name else X, centres, n_iter, n_threads)
                        row["seconds"] = perf_counter() - begin
                    except ImportError:
                        row["note"] = "not installed"
                    rows.append(row)
        del file
    return rows


def seeds(X: Array, n_clusters: int, rounds: int, seed: int) -> Rows:
    """Seconds of each kind of seeds with one iteration of k-means after them: init, round, seconds."""
    rows = []
    for turn in range(rounds):
        for init in ("static_subset", "random_subset", "static_spread", "random_spread"):
            begin = perf_counter()
            KMeans(n_clusters, init=init, max_iter=1, tol=0.0, random_state=seed + turn).fit(X)
            rows.append({"init": init, "round": turn, "seconds": perf_counter() - begin})
    return rows


def exponentials(n_rows: int, n_components: int, rounds: int) -> list[float]:
    """Seconds of exp() of as many numbers as a pass has responsibilities, on one thread and in cache."""
    block = -np.random.default_rng(0).exponential(10.0, size=100_000)
    out, found = np.empty_like(block), []
    for _ in range(rounds):
        begin = perf_counter()
        for _ in range(-(-n_rows * n_components // len(block))):
            np.exp(block, out=out)
        found.append(perf_counter() - begin)
    return found
