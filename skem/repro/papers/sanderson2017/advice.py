"""Jobs of the advice of Sanderson and Curtin (2017): held-out likelihoods, convergence, variance floors, and distances of k-means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from skem.estimators.gaussian_mixture import GaussianMixture
from skem.estimators.kmeans import KMeans
from skem.repro.papers.measured import Rows
from skem.repro.papers.sanderson2017.fits import Samples, scores
from skem.repro.training import splits

Array = NDArray[np.float64]


def advice(setup: Mapping[str, Any], **samples: Any) -> Rows:
    """Measure mean log p of test samples against iterations of k-means and of EM, and training samples per component.

    A fifth of the samples is for testing, the same in every run, so that runs differ by their initialisations alone. Ten
    iterations of EM, the paper's upper bound, follow those of k-means; fits to few samples run until they converge. Rows have
    dataset, about, value, covariance, run, test (nats per sample), and for samples per component n_iter and converged.
    """
    data, rows = Samples(**samples), []
    test, train = _split(data, setup)
    for run in range(setup["runs"]):
        params = {
            "init_params": "random_subset",
            "standardize": True,
            "reg_covar": setup["reg_covar"],
            "tol": 0.0,
            "random_state": data.seed(run, "start"),
        }
        order = np.random.default_rng(data.seed(run, "few")).permutation(len(train))
        for about, value, covariance, model in _fitted(train, order, data.n_components, setup, params):
            row = {"dataset": data.dataset, "about": about, "value": value}
            row |= {"covariance": covariance, "run": run, "test": model.score(test)}
            if about == "rows_per_component":
                row |= {"n_iter": model.n_iter_, "converged": int(model.converged_)}
            rows.append(row)
    return rows


def _split(data: Samples, setup: Mapping[str, Any]) -> tuple[Array, Array]:
    chosen = data.some("advice", setup["most_rows"])
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


def floors(em: Mapping[str, Any], setup: Mapping[str, Any], **samples: Any) -> Rows:
    """Fit the paper's program with variance floors to unscaled features; test samples are the same in every run, scores the mean log p per sample."""
    data = Samples(**samples)
    test, train = _split(data, setup)
    em = {**em, "em_iter": setup["em_iter"]}
    return [
        {"dataset": data.dataset, "floor": floor, "run": run}
        | scores("armadillo_diag", data.request(run, em | {"floor": floor}), train=train, test=test)
        for run in range(setup["runs"])
        for floor in setup["floors"]
    ]


def seeds(setup: Mapping[str, Any], **samples: Any) -> Rows:
    """Measure the sum of squares of k-means, per sample and feature, from maximally spread seeds and from random subsets."""
    data, rows = Samples(**samples), []
    X = StandardScaler().fit_transform(data.some("seeds", setup["most_rows"]))
    for run in range(setup["runs"]):
        params = {"max_iter": setup["kmeans_iter"], "tol": 0.0, "random_state": data.seed(run, "start")}
        for init in ("random_spread", "random_subset"):
            model = KMeans(data.n_components, init=init, **params).fit(X)
            row = {"dataset": data.dataset, "init": init, "run": run}
            rows.append(row | {"inertia": model.inertia_ / X.size})
    return rows


def starts(setup: Mapping[str, Any], reg_covar: float, **samples: Any) -> Rows:
    """Fit diagonal mixtures from clusters by either distance, on unscaled features; seeds are the same for both. ``train`` is the total log p."""
    data, rows = Samples(**samples), []
    for run in range(setup["runs"]):
        for distance in ("mahalanobis", "euclidean"):
            model = GaussianMixture(
                data.n_components,
                covariance_type="diag",
                init_params="random_subset",
                metric=distance,
                reg_covar=reg_covar,
                tol=0.0,
                random_state=splits.seed(data.root, "starts", run),
            )
            for n, fitted in continued(model, setup["em_iter"], data.X):
                row = {"run": run, "distance": distance, "em_iter": n}
                rows.append(row | {"train": len(data.X) * fitted.score(data.X)})
    return rows
