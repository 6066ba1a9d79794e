"""Jobs of the advice of Sanderson and Curtin (2017): held-out likelihoods, and the two metrics of k-means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from skem.estimators.gaussian_mixture import GaussianMixture
from skem.repro.papers.measured import Rows
from skem.repro.papers.sanderson2017.data import samples
from skem.repro.training import splits


def advice(
    dataset: str, entry: Mapping[str, Any], n_rows: int | None, setup: Mapping[str, Any], seed: int
) -> Rows:
    """Measure mean log p of test samples against iterations of k-means and of EM, and training samples per component.

    A fifth of the samples is for testing. Ten iterations of EM, the paper's upper bound, follow those of k-means; fifty follow
    a number of samples. Rows have dataset, about, value, covariance, run, test (nats per sample).
    """
    X, K, rows = samples(dataset, entry, n_rows, seed), entry["n_components"], []
    seed = splits.seed(seed, "sanderson2017")
    for run in range(setup["runs"]):
        rng = np.random.default_rng(splits.seed(seed, dataset, run, "advice"))
        chosen = X[rng.permutation(len(X))[: setup["most_rows"]]]
        test, train = np.split(chosen, [len(chosen) // 5])
        params = {
            "init": "random_subset",
            "standardize": True,
            "reg_covar": setup["reg_covar"],
            "tol": 0.0,
            "random_state": splits.seed(seed, dataset, run, "start"),
        }
        for about, value, covariance, model in _fitted(train, K, setup, params):
            row = {"dataset": dataset, "about": about, "value": value, "covariance": covariance, "run": run}
            rows.append(row | {"test": model.score(test)})
    return rows


def _fitted(
    X: np.ndarray, K: int, setup: Mapping[str, Any], params: Mapping[str, Any]
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
    for covariance in ("diag", "full"):
        for value in setup["rows_per_component"]:
            if value * K <= len(X):
                model = GaussianMixture(K, max_iter=50, covariance_type=covariance, **params)
                yield "rows_per_component", value, covariance, model.fit(X[: value * K])


def continued(
    model: GaussianMixture, iterations: list[int], X: np.ndarray
) -> Iterator[tuple[int, GaussianMixture]]:
    """Yield a model after increasing numbers of iterations."""
    model.set_params(warm_start=True)
    done = 0
    for n in iterations:
        yield n, model.set_params(max_iter=n - done).fit(X)
        done = n


def starts(
    dataset: str,
    entry: Mapping[str, Any],
    n_rows: int | None,
    setup: Mapping[str, Any],
    reg_covar: float,
    seed: int,
) -> Rows:
    """Fit diagonal mixtures from clusters by either metric, on unscaled features; the seeds are the same for both.

    Rows have run, metric, em_iter, train (total log p of all samples).
    """
    X, rows = samples(dataset, entry, n_rows, seed), []
    seed = splits.seed(seed, "sanderson2017")
    for run in range(setup["runs"]):
        for metric in ("mahalanobis", "euclidean"):
            model = GaussianMixture(
                entry["n_components"],
                covariance_type="diag",
                init="random_subset",
                metric=metric,
                reg_covar=reg_covar,
                tol=0.0,
                random_state=splits.seed(seed, "starts", run),
            )
            for n, fitted in continued(model, setup["em_iter"], X):
                row = {"run": run, "metric": metric, "em_iter": n}
                rows.append(row | {"train": len(X) * fitted.score(X)})
    return rows
