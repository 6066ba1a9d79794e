"""How well models tell rows of another data set from those of their own, never having seen any."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skem.repro.training.baselines import stratified_rows

Score = Callable[[BaseEstimator, ArrayLike], NDArray[np.float64]]


def normality(estimator: BaseEstimator, X: ArrayLike) -> NDArray[np.float64]:
    """How much rows look like those a fitted model knows, shape (n,): its density, or a classifier's `margin`."""
    return estimator.score_samples(X) if hasattr(estimator, "score_samples") else margin(estimator, X)


def margin(estimator: BaseEstimator, X: ArrayLike) -> NDArray[np.float64]:
    """By how much the first class of a classifier leads the second, or of two classes the distance from the boundary, (n,)."""
    decision = np.asarray(estimator.decision_function(X))
    if decision.ndim == 1:
        return np.abs(decision)
    largest = np.partition(decision, -2, axis=1)[:, -2:]
    return largest[:, 1] - largest[:, 0]


def auroc(estimator: BaseEstimator, inside: ArrayLike, outside: ArrayLike, score: Score = normality) -> float:
    """Area under the ROC curve of a fitted model that is to find the rows of ``outside`` (n, M) among those of ``inside``."""
    scores = [score(estimator, rows) for rows in (inside, outside)]
    is_outside = np.repeat([0, 1], list(map(len, scores)))
    return float(roc_auc_score(is_outside, -np.concatenate(scores)))


def rivals(random_state: int) -> dict[str, BaseEstimator]:
    """What densities stand beside: an isolation forest, and the machine whose margin says how sure it is."""
    return {
        "isolation_forest": IsolationForest(random_state=random_state),
        "svm_rbf": make_pipeline(StandardScaler(), SVC(C=5.0)),
    }


def compare(
    models: Mapping[str, BaseEstimator],
    train: tuple[NDArray[Any], NDArray[Any]],
    inside: NDArray[Any],
    outside: NDArray[Any],
    *,
    max_rows: Mapping[str, int] | None = None,
    random_state: int = 0,
) -> list[dict[str, Any]]:
    """Fit models on the training rows, and ask each which of the others are like them.

    Parameters
    ----------
    models : mapping of str to estimator
        With ``score_samples``, or else with ``decision_function``.
    train : tuple of ndarray of shape (n, M), ndarray of shape (n,)
    inside, outside : ndarray of shape (n, M)
        Rows of the same data set that are not in ``train``, and of another one.
    max_rows : mapping of str to int, optional
        Stratified training rows of a model, by its name, where they are not all.
    random_state : int
        Of these rows.

    Returns
    -------
    list of dict
        method, n_train, auroc, and seconds of the processor: fit, and score for all rows.
    """
    X, y = train
    table = []
    for name, model in models.items():
        rows = stratified_rows(y, (max_rows or {}).get(name), random_state)
        begun = process_time()
        fitted = clone(model).fit(X[rows], y[rows])
        trained = process_time()
        area = auroc(fitted, inside, outside)
        seconds = {"fit": trained - begun, "score": process_time() - trained}
        table.append({"method": name, "n_train": len(rows), "auroc": area, **seconds})
    return table
