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

from skem.repro.comparison.measurement import SEED, Case, Samples
from skem.repro.training.baselines import stratified_rows
from skem.repro.training.classifiers import make
from skem.repro.training.splits import seed


def drawn_rows(dataset: str, y: NDArray[Any], max_rows: int, root: int) -> NDArray[np.intp]:
    """Ascending indices of at most so many samples, drawn in proportion to the classes."""
    return stratified_rows(y, max_rows, seed(root, dataset, f"{SEED} rows"))


def in_folds(
    dataset: str, job: Mapping[str, Any], samples: Samples, root: int, encoder: Any = None
) -> Iterator[Case]:
    """Stratified folds, which are the same for every method; an ``encoder`` precedes it."""
    X, y = samples
    for fold, (train, test) in enumerate(folds(dataset, y, job["n_folds"], root)):
        estimator = make(job["model"], random_state=seed(root, dataset, fold, SEED), **job.get("params", {}))
        if np.isnan(X).any() and not get_tags(estimator).input_tags.allow_nan:
            estimator = make_pipeline(SimpleImputer(keep_empty_features=True), estimator)
        if encoder is not None:
            estimator = make_pipeline(encoder, estimator)
        yield Case({"fold": fold}, estimator, (X[train], y[train]), (X[test], y[test]))


def folds(
    dataset: str, y: NDArray[Any], n_folds: int, root: int
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Training and test indices of each fold."""
    random_state = seed(root, dataset, f"{SEED} folds")
    yield from StratifiedKFold(n_folds, shuffle=True, random_state=random_state).split(np.zeros(len(y)), y)
