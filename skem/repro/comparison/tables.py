"""Tables: cross-validation in which all choices are made on training samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from skem import datasets
from skem.repro.comparison.measurement import SEED, Fit, Samples, measure_all
from skem.repro.files import read_json
from skem.repro.training.baselines import stratified_rows
from skem.repro.training.classifiers import make
from skem.repro.training.histories import Histories
from skem.repro.training.splits import seed


def drawn_rows(dataset: str, y: NDArray[Any], max_rows: int, root: int) -> NDArray[np.intp]:
    """Ascending indices of at most so many samples, drawn in proportion to the classes."""
    return stratified_rows(y, max_rows, seed(root, dataset, f"{SEED} rows"))


def fit(dataset: str, method: str, job: Mapping[str, Any], path: str, root: int) -> Histories:
    """Measure one method on every fold of a registered data set, unless its record at ``path`` says that it is unavailable."""
    if not read_json(path)["available"]:
        return Histories()
    data = datasets.load(dataset)
    rows = drawn_rows(dataset, data.target, job["max_rows"], root)
    samples = data.data[rows].astype(np.float64), data.target[rows]
    return cross_validate({"dataset": dataset, "method": method}, job, samples, root)


def cross_validate(
    keys: Mapping[str, Any], job: Mapping[str, Any], samples: Samples, root: int, encoder: Any = None
) -> Histories:
    """Measure a method on stratified folds, which are the same for every method; an ``encoder`` precedes it."""
    X, y = samples

    def fits() -> Iterator[Fit]:
        for fold, (train, test) in enumerate(folds(keys["dataset"], y, job["n_folds"], root)):
            random_state = seed(root, keys["dataset"], fold, SEED)
            estimator = make(job["model"], random_state=random_state, **job.get("params", {}))
            if np.isnan(X).any() and not get_tags(estimator).input_tags.allow_nan:
                estimator = make_pipeline(SimpleImputer(keep_empty_features=True), estimator)
            if encoder is not None:
                estimator = make_pipeline(encoder, estimator)
            yield estimator, (X[train], y[train]), (X[test], y[test])

    return measure_all(keys, "fold", fits())


def folds(
    dataset: str, y: NDArray[Any], n_folds: int, root: int
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Training and test indices of each fold."""
    random_state = seed(root, dataset, f"{SEED} folds")
    yield from StratifiedKFold(n_folds, shuffle=True, random_state=random_state).split(np.zeros(len(y)), y)
