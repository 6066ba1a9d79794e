"""The features of a data set, learned from its training rows alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skem import datasets
from skem.images import move, pca_recipe, random_subset
from skem.repro.training.pixels import Components, Sums
from skem.repro.training.splits import Arrays, _hold_out, seed


def prepare(dataset: str, spec: dict[str, Any], names: Sequence[str], root: int) -> dict[str, Arrays]:
    """The features of some of ``names``: each learned from its training rows alone.

    Parameters
    ----------
    dataset : str
        What the splits are keyed by.
    spec : dict
        As for ``names``.
    names : sequence of str
        Some of ``names``.
    root : int
        Root seed.

    Returns
    -------
    dict of dict of ndarray
        By name: X and y for a table, else X_train, y_train, X_validation, y_validation, X_test, y_test.

    Raises
    ------
    ValueError
        If the configuration asks for more rows, columns or components than there are.
    datasets.DatasetNotAvailable
        If no source has the data.
    """
    data = datasets.load(spec["source"])
    if spec["recipe"] == "table":
        return {name: _table(dataset, spec, data) for name in names}
    size = np.prod(data.data.shape[1:])
    if spec["n_components"] > size:
        raise ValueError(
            f"features.{dataset}.n_components is {spec['n_components']}, an image has {size} values"
        )
    X, y = data.train
    as_they_are = X.dtype == np.uint8 and not (spec["deskew"] or spec["half"])
    exact = as_they_are and spec["standardize"] == "global"
    rows = {name: _rows(dataset, spec, name, y, root) for name in names}
    # Left out are few rows where more than one set is made.
    everything = Sums.of(X) if exact and len(names) > 1 else None
    found = {}
    for name, (train, validation) in rows.items():
        recipe: Callable[[Any], NDArray[Any]]
        if exact:
            recipe = Components.of(_sums(X, train, everything), spec["n_components"]).scores
        else:
            keys = ("deskew", "half", "standardize")
            pipeline = pca_recipe(spec["n_components"], **{key: spec[key] for key in keys})
            recipe = pipeline.fit(X[train]).transform
        X_test, y_test = data.test
        if spec.get("move_test"):
            X_test = move(X_test, seed(root, dataset, name, "movement"))
        arrays: Arrays = {}
        parts = {"train": (X[train], y[train]), "validation": (X[validation], y[validation])}
        for part, (images, labels) in (parts | {"test": (X_test, y_test)}).items():
            features = recipe(images) if len(images) else np.empty((0, spec["n_components"]))
            arrays |= {f"X_{part}": features.astype(spec["dtype"]), f"y_{part}": labels}
        found[name] = arrays
    return found


def _table(dataset: str, spec: dict[str, Any], data: datasets.Dataset) -> Arrays:
    X = data.data.astype(spec["dtype"])
    columns = spec.get("columns")
    if columns is not None:
        if max(columns) >= X.shape[1]:
            raise ValueError(
                f"features.{dataset}.columns names column {max(columns)}, "
                f"{spec['source']} has {X.shape[1]} (0 to {X.shape[1] - 1})"
            )
        X = X[:, columns]
    return {"X": X, "y": data.target}


def _rows(
    dataset: str, spec: dict[str, Any], name: str, y: NDArray[Any], root: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Training and validation rows of one of ``names``."""
    if name == "all":
        return np.arange(len(y)), np.arange(0)
    if "n_train" not in spec:
        return _hold_out(y, spec["validation_fraction"], root, dataset, int(name.removeprefix("part")), 0)
    run = 0 if name == "fixed" else int(name.removeprefix("run"))
    wanted = spec["n_train"] + spec["n_validation"]
    if wanted > len(y):
        raise ValueError(
            f"features.{dataset}: n_train + n_validation = {wanted}, {spec['source']} has {len(y)} training rows"
        )
    train, rest = random_subset(y, spec["n_train"], random_state=seed(root, dataset, run, "training images"))
    chosen, _ = random_subset(
        y[rest], spec["n_validation"], random_state=seed(root, dataset, run, "validation")
    )
    return train, rest[chosen]


def _sums(X: NDArray[np.uint8], train: NDArray[np.intp], everything: Sums | None) -> Sums:
    """Sums over the training rows, whichever way is shorter."""
    others = np.delete(np.arange(len(X)), train)
    if everything is None or len(others) > len(train):
        return Sums.of(X[train])
    return everything.without(Sums.of(X[others])) if len(others) else everything
