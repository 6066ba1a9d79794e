"""Baselines of Table 1: their hyper-parameters are chosen on validation samples, or are the presets of the papers."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from skem.engine.threads import single_threaded
from skem.repro.training import splits
from skem.repro.training.classifiers import decide, evaluate, find, make
from skem.repro.training.histories import Histories
from skem.repro.training.splits import Arrays

Samples = tuple[NDArray[Any], NDArray[Any]]
"""Features (n, M) and labels (n,)."""


@dataclass(frozen=True)
class Selected:
    """A fitted baseline, its chosen parameters, the number of its training samples, and its warnings."""

    estimator: BaseEstimator
    params: dict[str, Any]
    n_train: int
    warnings: list[str]


def stratified_rows(y: ArrayLike, size: int | None, random_state: int | None) -> NDArray[np.intp]:
    """Ascending indices of `size` random samples, classes in proportion, at least one sample of each class.

    A smaller sample with the same seed is part of a larger one. None, or more than the number of samples, means all.
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


def predict_and_score(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike
) -> tuple[NDArray[np.int16], dict[str, float]]:
    """Predicted classes, as positions in ``classes_``, and accuracy, log-loss and Brier score."""
    predicted, posterior = decide(estimator, X)
    found = evaluate(np.searchsorted(estimator.classes_, y), predicted, posterior)
    del found["ece"]
    return predicted, found


def forests(name: str, estimator: BaseEstimator) -> list[tuple[str, BaseEstimator]]:
    """A fitted baseline under its name; of a forest, each number of leading trees that its entry names.

    Trees are grown one after another, so the first fifty are a forest of fifty from the same seed.
    """
    parts = []
    for n in find(name).trees:
        part = copy(estimator)
        part.estimators_, part.n_estimators = estimator.estimators_[:n], n
        parts.append((f"{name}_{n}", part))
    return parts or [(name, estimator)]


def fit_selected(
    name: str,
    train: Samples,
    validation: Samples | None = None,
    *,
    max_rows: int | None = None,
    select_rows: int | None = None,
    random_state: int | None = None,
    grid: Sequence[Mapping[str, Any]] | None = None,
) -> Selected:
    """Choose the grid point with the highest validation accuracy, the first of equals, and fit it again, on one thread.

    ``max_rows`` and ``select_rows`` are the most training samples, stratified, of the last fit and of each trial.
    ``grid`` replaces the grid of the entry; with two points or more, validation samples are needed.
    """
    X, y = train
    # The narrower kernel gains on small tables only; on images it would take most of the time.
    n_features = X.shape[1] if len(X) < 10_000 else None
    points = find(name).points(n_features) if grid is None else [dict(point) for point in grid]

    def fit(params: dict[str, Any], size: int | None) -> Selected:
        rows = stratified_rows(y, size, random_state)
        estimator = make(name, random_state=random_state, **params)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator.fit(X[rows], y[rows])
        return Selected(estimator, params, len(rows), [f"{w.category.__name__}: {w.message}" for w in caught])

    with single_threaded():
        best = points[0] if points else {}
        if validation is not None and len(points) > 1:
            fits = (fit(point, select_rows).estimator for point in points)
            accuracies = [predict_and_score(fitted, *validation)[1]["accuracy"] for fitted in fits]
            best = points[int(np.argmax(accuracies))]
        return fit(best, max_rows)


def fit_baseline(
    method: str,
    dataset: str,
    spec: dict[str, Any],
    features: dict[str, Arrays],
    runs: Sequence[int],
    root: int,
    *,
    preset: bool,
    n_features: int | None = None,
    max_rows: int | None = None,
    select_rows: int | None = None,
) -> Histories:
    """Fit a baseline on each trial; one row each, as of an iteration.

    ``preset`` fits the parameters of the papers on all training samples. ``n_features`` is the number of leading features.
    The others are as for `splits.trials` and `fit_selected`.
    """
    kind, setting = ("all", "preset") if preset else ("part", "default")
    # scikit-learn does not notice where float32 is not exact enough.
    features = {
        name: {
            key: a[:, :n_features].astype("float64") if key.startswith("X") else a for key, a in own.items()
        }
        for name, own in features.items()
    }
    found = Histories()
    for trial in splits.trials(dataset, spec, features, [kind], list(runs), root):
        trial.raise_if_unseen()
        parts = {} if preset else {"validation": (trial.X_validation, trial.y_validation)}
        wall, cpu = perf_counter(), process_time()
        selected = fit_selected(
            method,
            (trial.X_train, trial.y_train),
            parts.get("validation"),
            max_rows=max_rows,
            select_rows=select_rows,
            random_state=splits.seed(root, dataset, trial.run, trial.fold, "baseline"),
            grid=[] if preset else None,
        )
        spent = {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}
        for name, fitted in forests(method, selected.estimator):
            keys = {"dataset": dataset, "method": name, "setting": setting}
            row = keys | {"model": method} | trial.keys() | {"iteration": 1, "n_train": selected.n_train}
            for part, samples in (parts | {"test": (trial.X_test, trial.y_test)}).items():
                predicted, scored = predict_and_score(fitted, *samples)
                row |= {f"{part}_{key}": value for key, value in scored.items()}
            row |= {"log_likelihood": float("nan"), "objective": float("nan")}
            row |= {"dtype": str(trial.X_train.dtype), "chosen": json.dumps(selected.params, sort_keys=True)}
            found.history.append(row | {"warnings": " | ".join(selected.warnings)})
            found.seconds.append(keys | trial.keys() | {"iteration": 1} | spent)
            found.keep(trial, predicted, f"{name}:")
    return found
