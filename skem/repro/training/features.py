"""The features of a data set, learned from its training rows alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from skem import datasets
from skem.images import move, pca_recipe, random_subset
from skem.repro.training.splits import Arrays, _hold_out, seed


def prepare(dataset: str, spec: dict[str, Any], name: str, root: int) -> Arrays:
    """The features of one of ``names``: learned from its training rows alone.

    Parameters
    ----------
    dataset : str
        What the splits are keyed by.
    spec : dict
        As for ``names``.
    name : str
        One of ``names``.
    root : int
        Root seed.

    Returns
    -------
    dict of ndarray
        X and y for a table, else X_train, y_train, X_validation, y_validation, X_test, y_test.

    Raises
    ------
    ValueError
        If the configuration asks for more rows, columns or components than there are.
    datasets.DatasetNotAvailable
        If no source has the data.
    """
    data = datasets.load(spec["source"])
    dtype = np.dtype(spec["dtype"])
    if spec["recipe"] == "table":
        X = data.data.astype(dtype)
        columns = spec.get("columns")
        if columns is not None:
            if max(columns) >= X.shape[1]:
                raise ValueError(
                    f"features.{dataset}.columns names column {max(columns)}, "
                    f"{spec['source']} has {X.shape[1]} (0 to {X.shape[1] - 1})"
                )
            X = X[:, columns]
        return {"X": X, "y": data.target}

    X, y = data.train
    X_test, y_test = data.test
    if "n_train" in spec:
        run = int(name.removeprefix("run"))
        wanted = spec["n_train"] + spec["n_validation"]
        if wanted > len(y):
            raise ValueError(
                f"features.{dataset}: n_train + n_validation = {wanted}, {spec['source']} has {len(y)} training rows"
            )
        train, rest = random_subset(
            y, spec["n_train"], random_state=seed(root, dataset, run, "training images")
        )
        chosen, _ = random_subset(
            y[rest], spec["n_validation"], random_state=seed(root, dataset, run, "validation")
        )
        validation = rest[chosen]
    elif name == "all":
        train, validation = np.arange(len(y)), np.arange(0)
    else:
        train, validation = _hold_out(
            y, spec["validation_fraction"], root, dataset, int(name.removeprefix("part")), 0
        )
    if spec["n_components"] > np.prod(X.shape[1:]):
        raise ValueError(
            f"features.{dataset}.n_components is {spec['n_components']}, an image has {np.prod(X.shape[1:])} values"
        )
    recipe = pca_recipe(
        spec["n_components"], deskew=spec["deskew"], half=spec["half"], standardize=spec["standardize"]
    )
    arrays = {"X_train": recipe.fit_transform(X[train]), "y_train": y[train]}
    if spec.get("move_test"):
        X_test = move(X_test, seed(root, dataset, name, "movement"))
    parts = {"validation": (X[validation], y[validation]), "test": (X_test, y_test)}
    for part, (images, labels) in parts.items():
        features = recipe.transform(images) if len(images) else np.empty((0, spec["n_components"]))
        arrays |= {f"X_{part}": features, f"y_{part}": labels}
    return {key: a.astype(dtype) if key.startswith("X") else a for key, a in arrays.items()}
