"""What the paper advises in numbers, against the likelihood of held-out rows, and its two metrics of k-means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skem.estimators.gaussian_mixture import GaussianMixture
from skem.repro.training import splits

Rows = list[dict[str, Any]]


def advice(
    dataset: str, X: NDArray[np.float64], n_components: int, setup: Mapping[str, Any], seed: int
) -> Rows:
    """Mean log p of test rows against iterations of k-means and of EM, and against training rows per Gaussian.

    A fifth of the rows is for testing. The numbers of k-means iterations are followed by as many passes of EM as the paper
    advises at most; rows per Gaussian by five times as many.

    Parameters
    ----------
    dataset : str
    X : ndarray of shape (n, m)
    n_components : int
    setup : mapping
        ``advice`` of ``config/sanderson2017.yaml``.
    seed : int

    Returns
    -------
    list of dict
        dataset, about ("kmeans_iter", "em_iter" or "rows_per_component"), value, covariance, run, test (nats per row).
    """
    rows: Rows = []
    for run in range(setup["runs"]):
        rng = np.random.default_rng(splits.seed(seed, dataset, run, "advice"))
        chosen = X[rng.permutation(len(X))[: setup["most_rows"]]]
        test, train = np.split(chosen, [len(chosen) // 5])
        start = splits.seed(seed, dataset, run, "start")

        def mixture(covariance: str, start: int = start, **params: Any) -> GaussianMixture:
            return GaussianMixture(
                n_components,
                covariance_type=covariance,
                init="random_subset",
                standardize=True,
                reg_covar=setup["ridge"],
                tol=0.0,
                random_state=start,
                **params,
            )

        def add(
            about: str, value: int, covariance: str, model: GaussianMixture, run: int = run, test: Any = test
        ) -> None:
            rows.append(
                {"dataset": dataset, "about": about, "value": value, "covariance": covariance, "run": run}
                | {"test": model.score(test)}
            )

        for value in setup["kmeans_iter"]:
            add("kmeans_iter", value, "diag", mixture("diag", kmeans_iter=value, max_iter=10).fit(train))
        model, done = mixture("diag", warm_start=True), 0
        for value in setup["em_iter"]:
            add("em_iter", value, "diag", model.set_params(max_iter=value - done).fit(train))
            done = value
        for covariance in ("diag", "full"):
            for value in setup["rows_per_component"]:
                if value * n_components <= len(train):
                    few = train[: value * n_components]
                    add("rows_per_component", value, covariance, mixture(covariance, max_iter=50).fit(few))
    return rows


def starts(
    X: NDArray[np.float64], n_components: int, setup: Mapping[str, Any], ridge: float, seed: int
) -> Rows:
    """A diagonal mixture from clusters by either metric, of features as they are; the same seeds for both.

    Returns
    -------
    list of dict
        run, metric, passes (of EM), train (total log p of all rows).
    """
    rows: Rows = []
    for run in range(setup["runs"]):
        for metric in ("mahalanobis", "euclidean"):
            model = GaussianMixture(
                n_components,
                covariance_type="diag",
                init="random_subset",
                metric=metric,
                reg_covar=ridge,
                tol=0.0,
                warm_start=True,
                random_state=splits.seed(seed, "starts", run),
            )
            done = 0
            for passes in setup["passes"]:
                model.set_params(max_iter=passes - done).fit(X)
                done = passes
                rows.append(
                    {"run": run, "metric": metric, "passes": passes, "train": len(X) * model.score(X)}
                )
    return rows
