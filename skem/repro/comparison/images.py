"""Features of images: principal components of all training images, and of windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from skem import datasets
from skem.images import Deskew, UnitRange, WindowPCA, augment, pca_recipe
from skem.repro.training.splits import Arrays


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
