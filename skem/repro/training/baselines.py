"""How the hyper-parameters of baselines are chosen, and what they are worth."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from skem.engine.threads import single_threaded
from skem.metrics import scores
from skem.repro.training.classifiers import find, log_proba, make


def fitted(name: str, estimator: BaseEstimator) -> list[tuple[str, BaseEstimator]]:
    """Name a fitted baseline as it is reported; of a forest, each number of leading trees that its entry names.

    Trees are grown one after another, so the first fifty are a forest of fifty from the same seed.
    """
    parts = []
    for n in find(name).trees:
        part = copy(estimator)
        part.estimators_, part.n_estimators = estimator.estimators_[:n], n
        parts.append((f"{name}_{n}", part))
    return parts or [(name, estimator)]


def evaluate(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
    """`skem.metrics.scores` of a fitted classifier, for labels as in ``classes_``.

    Without probabilities, as for an SVM, log-loss and Brier score are NaN: probabilities fitted afterwards
    would be the calibrator's, not the classifier's.
    """
    return predict_and_score(estimator, X, y)[1]


def predict_and_score(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike
) -> tuple[NDArray[np.int16], dict[str, float]]:
    """Predicted classes, as positions in ``classes_``, and `evaluate`, from one look at the rows."""
    y = np.asarray(y)
    posterior = log_proba(estimator, X)
    if posterior is None:
        labels = estimator.predict(X)
        predicted = np.searchsorted(estimator.classes_, labels)
        found = {"accuracy": float(np.mean(labels == y)), "log_loss": np.nan, "brier": np.nan}
    else:
        unseen = set(np.unique(y)) - set(estimator.classes_)
        if unseen:
            raise ValueError(f"labels that were not in the training data: {sorted(unseen)}")
        predicted = posterior.argmax(axis=1)
        found = scores(np.searchsorted(estimator.classes_, y), posterior)
    return predicted.astype(np.int16), found


def stratified_rows(y: ArrayLike, size: int | None, random_state: int | None) -> NDArray[np.intp]:
    """Ascending indices of `size` random rows, classes in proportion, each one row at least.

    A smaller sample with the same seed is part of a larger one. None, or more than there are, means all rows.
    """
    y = np.asarray(y)
    if size is None or size >= len(y):
        return np.arange(len(y))
    shuffled = np.random.default_rng(random_state).permutation(len(y))
    place = np.empty(len(y))
    for label in np.unique(y):
        rows = shuffled[y[shuffled] == label]
        place[rows] = np.arange(len(rows)) / len(rows)
    return np.sort(shuffled[np.argsort(place[shuffled], kind="stable")[:size]])


def fit_selected(
    name: str,
    X: ArrayLike,
    y: ArrayLike,
    X_val: ArrayLike | None = None,
    y_val: ArrayLike | None = None,
    *,
    max_rows: int | None = None,
    select_rows: int | None = None,
    random_state: int | None = None,
    grid: Sequence[Mapping[str, Any]] | None = None,
) -> tuple[BaseEstimator, dict[str, Any], list[dict[str, Any]]]:
    """Choose a grid point on the validation rows, then fit once more with it, BLAS and OpenMP at one thread.

    Parameters
    ----------
    X, y : array-like of shape (n, M) and (n,)
    X_val, y_val : array-like of shape (v, M) and (v,), or None where the grid has fewer than two points
    max_rows, select_rows : int or None
        Stratified training rows used at most, for the last fit and for each trial. None is all.
    random_state : int or None
        Seed of the samples and of the estimators; the result is a function of it.
    grid : sequence of mappings or None
        Parameters for `make` that replace the grid of the entry.

    Returns
    -------
    estimator : fitted classifier
    params : dict
        The point with the highest validation accuracy, the first of equals; empty if nothing was chosen.
    table : list of dict
        One row per trial (stage "select") and one for the last fit ("refit"): stage, params, n_train,
        validation_accuracy, _log_loss, _brier (NaN without validation rows), and warnings (texts; not shown).
    """
    X, y = np.asarray(X), np.asarray(y)
    # The narrower kernel gains on small tables only; on images it would take most of the time.
    n_features = X.shape[1] if len(X) < 10_000 else None
    points = find(name).points(n_features) if grid is None else [dict(point) for point in grid]
    if len(points) > 1 and X_val is None:
        raise ValueError(f"{name}: choosing among {len(points)} settings needs validation rows")
    table: list[dict[str, Any]] = []

    def fit(stage: str, params: dict[str, Any], size: int | None) -> BaseEstimator:
        rows = stratified_rows(y, size, random_state)
        estimator = make(name, random_state=random_state, **params)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator.fit(X[rows], y[rows])
        got = dict.fromkeys(("accuracy", "log_loss", "brier"), np.nan)
        if X_val is not None and y_val is not None:
            got = evaluate(estimator, X_val, y_val)
        texts = [f"{w.category.__name__}: {w.message}" for w in caught]
        measured = {f"validation_{metric}": value for metric, value in got.items()}
        table.append({"stage": stage, "params": params, "n_train": len(rows), **measured, "warnings": texts})
        return estimator

    with single_threaded():
        if len(points) > 1:
            for point in points:
                fit("select", point, select_rows)
        best = max(range(len(table)), key=lambda i: table[i]["validation_accuracy"], default=0)
        params = points[best] if points else {}
        return fit("refit", params, max_rows), params, table
