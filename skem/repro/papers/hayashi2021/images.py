"""Jobs of Table 2 and Figure 5 of Hayashi and Uchida (2021). They need PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import silhouette_score

from skem import datasets, metrics
from skem.images import random_subset
from skem.repro.files import read_table
from skem.repro.papers.hayashi2021 import networks
from skem.repro.papers.measured import Rows
from skem.repro.training.splits import seed as seed_of

CHOSEN = {"softmax_l1": "l1", "sdgm": "ramp"}
"""Hyperparameters that are chosen on validation samples, by method."""


def make_repeatable() -> None:
    """Use one thread and deterministic operations only."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False


def choices(column: str, images: Mapping[str, Any], seed: int) -> Rows:
    """Train every candidate of `CHOSEN` for a column of Table 2, and measure it on the same validation samples."""
    make_repeatable()
    entry, choice, rows = images["data_sets"][column], images["choice"], []
    seed = seed_of(seed, "hayashi2021", column, "choice")
    X, y = datasets.load(entry["source"]).train
    kept, held = random_subset(y, len(y) - choice["n_validation"], random_state=seed, stratify=True)
    kept = kept[: choice.get("n_train")]
    for method, parameter in CHOSEN.items():
        for value in choice[parameter]:
            setup = images["network"] | {"epochs": choice["epochs"], parameter: value}
            begun = perf_counter()
            network = networks.train(method, entry["n_features"], setup, (X[kept], y[kept]), seed)
            seconds = perf_counter() - begun
            scores = metrics.scores(y[held], networks.predict(network, X[held])[0])
            row = {"dataset": column, "method": method, "parameter": parameter, "value": value}
            row |= {"seconds": seconds, "error": 100 * (1 - scores["accuracy"])}
            rows.append(row | {"log_loss": scores["log_loss"]})
    return rows


def best(candidates: pd.DataFrame, method: str) -> dict[str, float]:
    """Return the hyperparameter of a method with the least validation error, the first of several."""
    own = candidates[candidates["method"] == method]
    if not len(own):
        return {}
    row = own.loc[own["error"].idxmin()]
    return {row["parameter"]: float(row["value"])}


def errors(
    column: str, method: str, run: int, images: Mapping[str, Any], choice: str, seed: int
) -> dict[str, Rows]:
    """Train a network on the training images, with the best candidate in the table ``choice``, and measure it on the test images.

    Rows of features, of networks with two, are those of the first test images.
    """
    make_repeatable()
    entry = images["data_sets"][column]
    data = datasets.load(entry["source"])
    (X, y), (X_test, y_test) = data.train, data.test
    parameters = best(read_table(choice), method) if method in CHOSEN else {}
    seed, begun = seed_of(seed, "hayashi2021", column, run), perf_counter()
    setup = images["network"] | parameters
    network = networks.train(method, entry["n_features"], setup, (X, y), seed)
    row: dict[str, Any] = {"dataset": column, "run": run, "method": method}
    row |= {"seconds": perf_counter() - begun, **parameters}
    log_proba, features = networks.predict(network, X_test)
    scores = metrics.scores(y_test, log_proba)
    row |= {"error": 100 * (1 - scores["accuracy"]), "log_loss": scores["log_loss"]}
    row["calibration_error"] = 100 * metrics.expected_calibration_error(y_test, log_proba)
    row |= networks.weights(network)
    if entry["n_features"] != 2:
        return {"errors": [row], "features": []}
    shown = zip(features[: images["drawn"]].tolist(), y_test.tolist(), strict=False)
    points = [{"x": a, "y": b, "class": c, "method": method} for (a, b), c in shown]
    return {"errors": [row | shape(features, y_test)], "features": points}


def shape(features: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Measure the shape of classes (Figure 5).

    ``radial`` is the mean over classes of |cos| of the angle between the direction of largest spread and that from the origin to
    the mean: one for the rays of a fan, 2/pi by chance. ``silhouette`` is the mean silhouette of classes.
    """
    cosines = []
    for c in np.unique(y):
        own = features[y == c]
        mean = own.mean(axis=0)
        longest = np.linalg.eigh(np.cov(own.T))[1][:, -1]
        cosines.append(abs(longest @ mean) / np.linalg.norm(mean))
    return {
        "radial": float(np.mean(cosines)),
        "silhouette": float(silhouette_score(features, y, sample_size=2000, random_state=0)),
    }
