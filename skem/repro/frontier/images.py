"""Images: from the paper's model to the best one, a step at a time, beside others on the same principal components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from skem import datasets
from skem.images import Deskew, UnitRange, WindowPCA, augment, pca_recipe
from skem.repro.frontier import measurements
from skem.repro.training.classifiers import make
from skem.repro.training.splits import Arrays, seed


def features(spec: Mapping[str, Any], outside: str | None = None) -> Arrays:
    """The features of all images of a data set, learned from the training images.

    Parameters
    ----------
    spec : mapping
        source; deskew; n_components of the whole image; shifts and flips, copies of the training images; windows, with
        size, step and n_components of each, which stand before those of the whole image.
    outside : str, optional
        Another data set, whose test images get the same features.

    Returns
    -------
    dict of ndarray
        X_train, y_train, X_test, y_test, n_windows, and X_outside where it is asked for.
    """
    data = datasets.load(spec["source"])
    X, y = augment(*data.train, shifts=spec.get("shifts", ()), flips=spec.get("flips", False))
    recipes = [pca_recipe(spec["n_components"], deskew=spec["deskew"])]
    if "windows" in spec:
        of_windows = WindowPCA(**spec["windows"])
        recipes.insert(0, make_pipeline(UnitRange(), Deskew(), of_windows) if spec["deskew"] else of_windows)
    fitted = [recipe.fit(X) for recipe in recipes]
    n_windows = len(of_windows.blocks_) if "windows" in spec else 0
    found: Arrays = {"y_train": y, "y_test": data.test[1], "n_windows": np.array(n_windows)}
    images_of = {"train": X, "test": data.test[0]}
    if outside is not None:
        images_of["outside"] = datasets.load(outside).test[0]
    for part, images in images_of.items():
        parts = [recipe.transform(images) for recipe in fitted]
        found[f"X_{part}"] = np.concatenate(parts, axis=1).astype(np.float32)
    return found


def fit(
    dataset: str,
    method: str,
    entry: Mapping[str, Any],
    features: Arrays,
    runs: int,
    root: int,
    windows: Mapping[str, Any] | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], NDArray[np.int16]]:
    """One method on all training images, so often as it draws at random.

    Parameters
    ----------
    dataset, method : str
    entry : mapping
        model and params, as for ``classifiers.make``; n_features, the first so many, where it is not all; runs, where they are
        not those of the others; blocks, n_blocks, block_size and power of blocks that are drawn, beside those of windows.
    features : dict
        X_train, y_train, X_test, y_test.
    runs : int
    root : int
    windows : mapping, optional
        As for `features`, where the features begin with those of windows.

    Returns
    -------
    scores, seconds : list of dict
        One row per run.
    predicted : ndarray of int16, shape (n_runs, n_test)
    """
    columns = slice(entry.get("n_features"))
    train = features["X_train"][:, columns], features["y_train"]
    test = features["X_test"][:, columns], features["y_test"]
    scores, seconds, predicted = [], [], []
    for run in range(entry.get("runs", runs)):
        estimator = unfitted(entry, features, seed(root, dataset, run, "frontier"), windows)
        found, spent, codes = measurements.measure(estimator, train, test)
        keys = {"dataset": dataset, "method": method, "run": run}
        scores.append(keys | {"n_train": len(train[1]), "n_test": len(test[1])} | found)
        seconds.append(keys | spent)
        predicted.append(codes)
    return scores, seconds, np.stack(predicted)


def unfitted(
    entry: Mapping[str, Any],
    features: Arrays,
    random_state: int,
    windows: Mapping[str, Any] | None = None,
) -> BaseEstimator:
    """A method's classifier, its blocks drawn; parameters as of `fit`."""
    params = dict(entry.get("params", {}))
    if "blocks" in entry:
        size = 0 if windows is None else windows["n_components"]
        of_windows = np.arange(int(features["n_windows"]) * size).reshape(-1, max(size, 1))
        drawn = _drawn(
            features["X_train"][:, of_windows.size : entry.get("n_features")], entry["blocks"], random_state
        )
        # Of a model that wraps PSKEM, they are PSKEM's.
        if "params" in params:
            params["params"] = dict(params["params"])
        params.get("params", params)["arrangement"] = [
            *of_windows,
            *(block + of_windows.size for block in drawn),
        ]
    return make(entry["model"], random_state=random_state, **params)


def _drawn(X: NDArray[Any], how: Mapping[str, Any], random_state: int) -> list[NDArray[np.intp]]:
    """Blocks of features drawn at random, each with a chance in proportion to a power of its standard deviation."""
    chances = X.std(axis=0, dtype=np.float64) ** how["power"]
    rng = np.random.RandomState(random_state)
    size, chances = how["block_size"], chances / chances.sum()
    return [np.sort(rng.choice(len(chances), size, replace=False, p=chances)) for _ in range(how["n_blocks"])]
