"""Jobs of the advice of Sanderson and Curtin (2017): held-out likelihoods, convergence, variance floors, and metrics of k-means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from skem.estimators.gaussian_mixture import GaussianMixture
from skem.estimators.kmeans import KMeans
from skem.repro.papers.measured import Rows
from skem.repro.papers.sanderson2017.engines import Request
from skem.repro.papers.sanderson2017.fits import fit, mean_log_likelihood, samples
from skem.repro.training import splits

Array = NDArray[np.float64]


def advice(
    dataset: str, entry: Mapping[str, Any], n_rows: int | None, setup: Mapping[str, Any], seed: int
) -> Rows:
    """Measure mean log p of test samples against iterations of k-means and of EM, and training samples per component.

    A fifth of the samples is for testing, the same in every run, so that runs differ by their initialisations alone. Ten
    iterations of EM, the paper's upper bound, follow those of k-means; fits to few samples run until they converge. Rows have
    dataset, about, value, covariance, run, test (nats per sample), and for samples per component n_iter and converged.
    """
    K, rows = entry["n_components"], []
    seed = splits.seed(seed, "sanderson2017")
    test, train = _split(samples(dataset, entry, n_rows, seed), setup["most_rows"], dataset, seed)
    for run in range(setup["runs"]):
        params = {
            "init_params": "random_subset",
            "standardize": True,
            "reg_covar": setup["reg_covar"],
            "tol": 0.0,
            "random_state": splits.seed(seed, dataset, run, "start"),
        }
        order = np.random.default_rng(splits.seed(seed, dataset, run, "few")).permutation(len(train))
        for about, value, covariance, model in _fitted(train, order, K, setup, params):
            row = {"dataset": dataset, "about": about, "value": value, "covariance": covariance, "run": run}
            row["test"] = model.score(test)
            if about == "rows_per_component":
                row |= {"n_iter": model.n_iter_, "converged": int(model.converged_)}
            rows.append(row)
    return rows


def _split(X: Array, most_rows: int, dataset: str, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(splits.seed(seed, dataset, "advice"))
    chosen = X[rng.permutation(len(X))[:most_rows]]
    test, train = np.split(chosen, [len(chosen) // 5])
    return test, train


def _fitted(
    X: Array, order: NDArray[np.intp], K: int, setup: Mapping[str, Any], params: Mapping[str, Any]
) -> Iterator[tuple[str, int, str, GaussianMixture]]:
    diagonal = {**params, "covariance_type": "diag"}
    for value in setup["kmeans_iter"]:
        yield (
            "kmeans_iter",
            value,
            "diag",
            GaussianMixture(K, kmeans_iter=value, max_iter=10, **diagonal).fit(X),
        )
    for value, model in continued(GaussianMixture(K, **diagonal), setup["em_iter"], X):
        yield "em_iter", value, "diag", model
    until = {**params, "tol": setup["tol"], "max_iter": max(setup["em_iter"])}
    for covariance in ("diag", "full"):
        for value in setup["rows_per_component"]:
            if value * K <= len(X):
                model = GaussianMixture(K, covariance_type=covariance, **until)
                yield "rows_per_component", value, covariance, model.fit(X[order[: value * K]])


def continued(
    model: GaussianMixture, iterations: list[int], X: np.ndarray
) -> Iterator[tuple[int, GaussianMixture]]:
    """Yield a model after increasing numbers of iterations."""
    model.set_params(warm_start=True)
    done = 0
    for n in iterations:
        yield n, model.set_params(max_iter=n - done).fit(X)
        done = n


def floors(
    dataset: str,
    entry: Mapping[str, Any],
    n_rows: int | None,
    em: Mapping[str, Any],
    setup: Mapping[str, Any],
    seed: int,
) -> Rows:
    """Fit the paper's program with variance floors to unscaled features; test samples are the same in every run, scores the mean log p per sample."""
    rows: Rows = []
    seed = splits.seed(seed, "sanderson2017")
    test, train = _split(samples(dataset, entry, n_rows, seed), setup["most_rows"], dataset, seed)
    for run in range(setup["runs"]):
        start = splits.seed(seed, dataset, run, "start")
        for floor in setup["floors"]:
            request = Request(entry["n_components"], em["kmeans_iter"], setup["em_iter"], floor, start)
            parameters, note = fit("armadillo_diag", train, request)
            row = {"dataset": dataset, "floor": floor, "run": run, "note": note}
            if parameters is not None:
                row["train"], row["note"] = mean_log_likelihood(train, parameters)
                row["test"], _ = mean_log_likelihood(test, parameters)
            rows.append(row)
    return rows


def seeds(
    dataset: str, entry: Mapping[str, Any], n_rows: int | None, setup: Mapping[str, Any], seed: int
) -> Rows:
    """Measure the sum of squares of k-means, per sample and feature, from maximally spread seeds and from random subsets."""
    seed = splits.seed(seed, "sanderson2017")
    X = samples(dataset, entry, n_rows, seed)
    X = X[
        np.random.default_rng(splits.seed(seed, dataset, "seeds")).permutation(len(X))[: setup["most_rows"]]
    ]
    X, rows = StandardScaler().fit_transform(X), []
    for run in range(setup["runs"]):
        for init in ("random_spread", "random_subset"):
            model = KMeans(
                entry["n_components"],
                init=init,
                max_iter=setup["kmeans_iter"],
                tol=0.0,
                random_state=splits.seed(seed, dataset, run, "start"),
            )
            row = {"dataset": dataset, "init": init, "run": run}
            rows.append(row | {"inertia": model.fit(X).inertia_ / X.size})
    return rows


def starts(
    dataset: str,
    entry: Mapping[str, Any],
    n_rows: int | None,
    setup: Mapping[str, Any],
    reg_covar: float,
    seed: int,
) -> Rows:
    """Fit diagonal mixtures from clusters by either metric, on unscaled features; seeds are the same for both. ``train`` is the total log p."""
    X, rows = samples(dataset, entry, n_rows, seed), []
    seed = splits.seed(seed, "sanderson2017")
    for run in range(setup["runs"]):
        for metric in ("mahalanobis", "euclidean"):
            model = GaussianMixture(
                entry["n_components"],
                covariance_type="diag",
                init_params="random_subset",
                metric=metric,
                reg_covar=reg_covar,
                tol=0.0,
                random_state=splits.seed(seed, "starts", run),
            )
            for n, fitted in continued(model, setup["em_iter"], X):
                row = {"run": run, "metric": metric, "em_iter": n}
                rows.append(row | {"train": len(X) * fitted.score(X)})
    return rows
