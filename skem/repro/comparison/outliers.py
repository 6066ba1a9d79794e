"""Recognition of samples of another data set by methods trained without any."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_auc_score

from skem.repro.comparison.images import unfitted
from skem.repro.comparison.measurement import SEED
from skem.repro.files import read_arrays
from skem.repro.training.baselines import stratified_rows
from skem.repro.training.histories import Histories
from skem.repro.training.splits import seed


def margin(estimator: BaseEstimator, X: ArrayLike) -> NDArray[np.float64]:
    """Lead of the first class over the second; of two classes, the distance from the boundary, (n,)."""
    decision = np.asarray(estimator.decision_function(X))
    if decision.ndim == 1:
        return np.abs(decision)
    largest = np.partition(decision, -2, axis=1)[:, -2:]
    return largest[:, 1] - largest[:, 0]


SCORES: dict[str, Callable[[Any, ArrayLike], NDArray[np.float64]]] = {
    "density": lambda model, X: model.score_samples(X),
    "density_after": lambda model, X: logsumexp(model.class_log_density(X) + np.log(model.priors_), axis=1),
    "certainty": lambda model, X: model.predict_log_proba(X).max(axis=1),
    "margin": margin,
}
"""Scores of a fitted model and samples, which should be low for outliers; titles are in `configuration.SCORES`."""


def auroc(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    """Area under the ROC curve of scores (n,) that should be low for the samples outside."""
    is_outside = np.repeat([0, 1], [len(inside), len(outside)])
    return float(roc_auc_score(is_outside, -np.concatenate([inside, outside])))


def fit(dataset: str, method: str, job: Mapping[str, Any], path: str, root: int) -> Histories:
    """Fit a method once, and measure how well its scores tell test samples from those of another data set.

    Parameters are as of `images.fit`. One row per score: dataset, method, score, n_train, n_features, auroc.
    """
    arrays, found = read_arrays(path), Histories()
    if not arrays:
        return found
    random_state, columns = seed(root, dataset, 0, SEED), slice(job.get("n_features"))
    rows = stratified_rows(arrays["y_train"], job.get("max_rows"), random_state)
    X, y = arrays["X_train"][rows, columns], arrays["y_train"][rows]
    fitted = unfitted(job, arrays, random_state).fit(X, y)
    for score in job["scores"]:
        inside, outside = (
            SCORES[score](fitted, arrays[part][:, columns]) for part in ("X_test", "X_outside")
        )
        keys = {"dataset": dataset, "method": method, "score": score}
        sizes = {"n_train": len(y), "n_features": X.shape[1]}
        found.history.append(keys | sizes | {"auroc": auroc(inside, outside)})
    return found
