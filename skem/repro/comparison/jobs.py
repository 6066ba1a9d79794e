"""Jobs of the comparison, each of one method: runs on images, folds of a table, outliers, or classes left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from skem import datasets
from skem.repro.comparison.configuration import Part
from skem.repro.comparison.measurement import SEED, Case, Samples, measure
from skem.repro.files import read_arrays, read_json
from skem.repro.training.baselines import stratified_rows
from skem.repro.training.classifiers import make
from skem.repro.training.histories import Histories
from skem.repro.training.splits import Arrays, seed


def run(part: Part, method: str, jobs: Mapping[str, Any], paths: Sequence[str], root: int) -> Histories:
    """Measure a method on several data sets; one on which it fails has a row with the error.

    ``jobs`` are as of `configuration.Comparison.jobs`, and ``paths`` as of `fit`. The names of predictions begin with the data set.
    """
    found = Histories()
    for (dataset, job), path in zip(jobs.items(), paths, strict=True):
        keys = {"dataset": dataset, "method": method}
        found.attempt(keys, partial(fit, part, keys, job, path, root))
    return found


def fit(part: Part, keys: Mapping[str, str], job: Mapping[str, Any], path: str, root: int) -> Histories:
    """Measure the method of ``keys`` on their data set; nothing if that is unavailable.

    ``job`` is as of `configuration.Comparison.parameters`. ``path`` has the features of images, without arrays if they are unavailable,
    or the record of a table.
    """
    found = measure(keys, cases(part, keys["dataset"], job, path, root), job.get("scores", ()))
    predictions = {f"{keys['dataset']}-{name}": array for name, array in found.predictions.items()}
    return Histories(found.history, found.seconds, predictions)


def cases(part: Part, dataset: str, job: Mapping[str, Any], path: str, root: int) -> Iterator[Case]:
    """Fits of a method on a data set, with the arguments of `fit`."""
    if part in ("images", "outliers"):
        if arrays := read_arrays(path):
            yield from on_images(dataset, job, arrays, root)
    elif read_json(path)["available"]:
        data = datasets.load(dataset)
        rows = drawn_rows(dataset, data.target, job["max_rows"], root)
        samples = data.data[rows].astype(np.float64), data.target[rows]
        if part == "left_out":
            yield from without_classes(dataset, job, samples, data.target_names, root)
        else:
            yield from in_folds(dataset, job, samples, root)


def on_images(dataset: str, job: Mapping[str, Any], arrays: Arrays, root: int) -> Iterator[Case]:
    """Runs on all training images, or one fit if there are outliers: the test images of another data set."""
    columns, y, is_outlier = slice(job.get("n_features")), arrays["y_train"], None
    X, X_test = arrays["X_train"][:, columns], arrays["X_test"][:, columns]
    if "X_outside" in arrays:
        X_test = np.concatenate([X_test, arrays["X_outside"][:, columns]])
        is_outlier = np.arange(len(X_test)) >= len(arrays["y_test"])
    for run in range(job.get("runs", 1)):
        random_state = seed(root, dataset, run, SEED)
        rows = stratified_rows(y, job["max_rows"], random_state) if "max_rows" in job else slice(None)
        estimator, train = unfitted(job, arrays, random_state), (X[rows], y[rows])
        keys = {"run": run} if is_outlier is None else {}
        yield Case(keys, estimator, train, (X_test, arrays["y_test"]), is_outlier)


def unfitted(job: Mapping[str, Any], arrays: Arrays, random_state: int) -> BaseEstimator:
    """Build a method's classifier, and draw its blocks of features of the whole image in proportion to a power of their spread."""
    params = dict(job.get("params", {}))
    if "blocks" in job:
        how, windows = job["blocks"], arrays["windows"]
        whole = arrays["X_train"][:, windows.size : job.get("n_features")]
        weights = whole.std(axis=0, dtype=np.float64) ** how["power"]
        rng, p = np.random.RandomState(random_state), weights / weights.sum()
        drawn = [
            windows.size + np.sort(rng.choice(len(p), how["block_size"], replace=False, p=p))
            for _ in range(how["n_blocks"])
        ]
        params["arrangement"] = [*windows, *drawn]
    return make(job["model"], random_state=random_state, **params)


def without_classes(
    dataset: str, job: Mapping[str, Any], samples: Samples, names: Sequence[str], root: int
) -> Iterator[Case]:
    """Leave out each class of the training samples in turn; its test samples are the outliers."""
    random_state = seed(root, dataset, f"{SEED} left out")
    X, X_test, y, y_test = train_test_split(
        *samples, test_size=job["test_fraction"], stratify=samples[1], random_state=random_state
    )
    for code in np.unique(samples[1]):
        model = make(job["model"], random_state=random_state, **job.get("params", {}))
        train = X[y != code], y[y != code]
        yield Case({"left_out": names[code]}, model, train, (X_test, y_test), y_test == code)


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
