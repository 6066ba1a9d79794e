"""Features of a data set, learned from its training samples alone."""

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
    """Make some of the features of `feature_store.names`, by name: X and y for a table, else X_train, y_train, ..., y_test.

    ``dataset`` is the name that the splits are keyed by, ``spec`` the recipe, ``root`` the root seed.
    """
    data = datasets.load(spec["source"])
    if spec["recipe"] == "table":
        columns = spec.get("columns", slice(None))
        arrays = {"X": data.data.astype(spec["dtype"])[:, columns], "y": data.target}
        return dict.fromkeys(names, arrays)
    (X, y), (X_test, y_test) = data.train, data.test
    is_plain = X.dtype == np.uint8 and not (spec["deskew"] or spec["half"])
    is_exact = is_plain and spec["standardize"] == "global"
    # Few samples are left out where more than one set is made.
    everything = Sums.of(X) if is_exact and len(names) > 1 else None
    found = {}
    for name in names:
        train, validation = _rows(dataset, spec, name, y, root)
        recipe: Callable[[Any], NDArray[Any]]
        if is_exact:
            recipe = Components.of(_sums(X, train, everything), spec["n_components"]).scores
        else:
            steps = {key: spec[key] for key in ("deskew", "half", "standardize")}
            recipe = pca_recipe(spec["n_components"], **steps).fit(X[train]).transform
        images = {"train": X[train], "validation": X[validation], "test": X_test}
        if spec.get("move_test"):
            images["test"] = move(X_test, seed(root, dataset, name, "movement"))
        labels = {"train": y[train], "validation": y[validation], "test": y_test}
        arrays = {}
        for part, pixels in images.items():
            features = recipe(pixels) if len(pixels) else np.empty((0, spec["n_components"]))
            arrays |= {f"X_{part}": features.astype(spec["dtype"]), f"y_{part}": labels[part]}
        found[name] = arrays
    return found


def _rows(
    dataset: str, spec: dict[str, Any], name: str, y: NDArray[Any], root: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of the training and validation images of some features."""
    if name == "all":
        return np.arange(len(y)), np.arange(0)
    if "n_train" not in spec:
        return _hold_out(y, spec["validation_fraction"], root, dataset, int(name.removeprefix("part")), 0)
    run = 0 if name == "fixed" else int(name.removeprefix("run"))
    train, rest = random_subset(y, spec["n_train"], random_state=seed(root, dataset, run, "training images"))
    chosen, _ = random_subset(
        y[rest], spec["n_validation"], random_state=seed(root, dataset, run, "validation")
    )
    return train, rest[chosen]


def _sums(X: NDArray[np.uint8], train: NDArray[np.intp], everything: Sums | None) -> Sums:
    """Sums over the training images, by the shorter way."""
    others = np.delete(np.arange(len(X)), train)
    if everything is None or len(others) > len(train):
        return Sums.of(X[train])
    return everything.without(Sums.of(X[others])) if len(others) else everything
