"""Images: from the paper's model to the best one, a step at a time, beside others on the same principal components."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from skem import datasets
from skem.images import Deskew, UnitRange, WindowPCA, augment, pca_recipe
from skem.repro.comparison.measurement import SEED, Fit, measure_all
from skem.repro.files import read_arrays
from skem.repro.training.classifiers import make
from skem.repro.training.histories import Histories
from skem.repro.training.splits import Arrays, seed


def features(spec: Mapping[str, Any]) -> Arrays:
    """Features X_train, X_test (and y_train, y_test) of all images of a data set, learned from the training images.

    ``spec`` is a recipe of `configuration.Features`. The features of ``windows`` precede those of the whole image; the array
    windows has the features of each, shape (n_windows, n_components). X_outside: test images of the data set ``outside``.
    """
    data = datasets.load(spec["source"])
    X, y = augment(*data.train, flips=spec.get("flips", False))
    recipes, windows = [pca_recipe(spec["n_components"], deskew=spec["deskew"])], np.empty((0, 0), dtype=int)
    if "windows" in spec:
        pca = WindowPCA(**spec["windows"])
        recipes.insert(0, make_pipeline(UnitRange(), Deskew(), pca) if spec["deskew"] else pca)
    fitted = [recipe.fit(X) for recipe in recipes]
    if "windows" in spec:
        size = spec["windows"]["n_components"]
        windows = np.arange(len(pca.blocks_) * size).reshape(-1, size)
    found: Arrays = {"y_train": y, "y_test": data.test[1], "windows": windows}
    parts = {"train": X, "test": data.test[0]}
    if "outside" in spec:
        parts["outside"] = datasets.load(spec["outside"]).test[0]
    for part, images in parts.items():
        transformed = [recipe.transform(images) for recipe in fitted]
        found[f"X_{part}"] = np.concatenate(transformed, axis=1).astype(np.float32)
    return found


def fit(dataset: str, method: str, job: Mapping[str, Any], path: str, root: int) -> Histories:
    """Measure one method on all training images, in several runs if it draws at random.

    ``job`` is as of `configuration.Comparison.job`; ``path`` has the features, or no arrays if the data are unavailable.
    """
    arrays = read_arrays(path)
    if not arrays:
        return Histories()

    def fits() -> Iterator[Fit]:
        columns = slice(job.get("n_features"))
        train, test = ((arrays[f"X_{part}"][:, columns], arrays[f"y_{part}"]) for part in ("train", "test"))
        for run in range(job["runs"]):
            yield unfitted(job, arrays, seed(root, dataset, run, SEED)), train, test

    return measure_all({"dataset": dataset, "method": method}, "run", fits())


def unfitted(job: Mapping[str, Any], arrays: Arrays, random_state: int) -> BaseEstimator:
    """Build a method's classifier and draw its blocks; parameters as of `fit`."""
    params = dict(job.get("params", {}))
    if "blocks" in job:
        windows = arrays["windows"]
        whole = arrays["X_train"][:, windows.size : job.get("n_features")]
        drawn = [block + windows.size for block in _drawn(whole, job["blocks"], random_state)]
        # A model that wraps PSKEM passes them on.
        if "params" in params:
            params["params"] = dict(params["params"])
        params.get("params", params)["arrangement"] = [*windows, *drawn]
    return make(job["model"], random_state=random_state, **params)


def _drawn(X: NDArray[Any], how: Mapping[str, Any], random_state: int) -> list[NDArray[np.intp]]:
    """Blocks of random features, drawn in proportion to a power of their standard deviation."""
    weights = X.std(axis=0, dtype=np.float64) ** how["power"]
    rng = np.random.RandomState(random_state)
    size, p = how["block_size"], weights / weights.sum()
    return [np.sort(rng.choice(len(p), size, replace=False, p=p)) for _ in range(how["n_blocks"])]
