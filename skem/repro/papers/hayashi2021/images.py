"""What the jobs of Table 2 and Figure 5 of Hayashi and Uchida (2021) train. It needs PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
import torch
from sklearn.metrics import silhouette_score

from skem import datasets, metrics
from skem.images import random_subset
from skem.repro.papers.hayashi2021 import networks

Rows = list[dict[str, Any]]

CHOSEN = {"softmax_l1": "l1", "sdgm": "ramp"}
"""What is chosen on validation rows, by method."""


def repeatable() -> None:
    """One thread, and no operation that gives other bits the next time."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False


def choices(stated: Mapping[str, Any], entry: Mapping[str, Any], seed: int) -> Rows:
    """Every candidate of `CHOSEN` on training rows less validation rows, which are the same for all.

    Parameters
    ----------
    stated : mapping
        The part ``images`` of ``config/hayashi2021.yaml``.
    entry : mapping
        One of its data sets.
    seed : int

    Returns
    -------
    list of dict
        method, parameter, value, error (%), log_loss (nats), both on validation rows, seconds.
    """
    X, y = datasets.load(entry["source"]).train
    choice, rows = stated["choice"], []
    kept, held = random_subset(y, len(y) - choice["n_validation"], random_state=seed, stratify=True)
    kept = kept[: choice.get("n_train")]
    for method, parameter in CHOSEN.items():
        for value in choice[parameter]:
            changed = {"epochs": choice["epochs"], parameter: value}
            setup, begun = networks.setup_of(stated["network"], **changed), perf_counter()
            network = networks.train(method, entry["n_features"], setup, X[kept], y[kept], seed)
            seconds = perf_counter() - begun
            scores = metrics.scores(y[held], networks.predict(network, X[held])[0])
            row = {"method": method, "parameter": parameter, "value": value, "seconds": seconds}
            rows.append(row | {"error": 100 * (1 - scores["accuracy"]), "log_loss": scores["log_loss"]})
    return rows


def best(chosen: Rows, method: str) -> dict[str, float]:
    """The candidate of a method with the least error on validation rows (the first, where several have it)."""
    candidates = [row for row in chosen if row["method"] == method]
    if not candidates:
        return {}
    row = min(candidates, key=lambda row: row["error"])
    return {row["parameter"]: row["value"]}


def errors(
    stated: Mapping[str, Any], entry: Mapping[str, Any], method: str, chosen: Rows, seed: int
) -> tuple[dict[str, Any], Rows]:
    """A network trained on the training images, and its errors on the test images.

    Parameters
    ----------
    stated, entry : mapping
        As for `choices`.
    method : str
    chosen : list of dict
        What `choices` returns.
    seed : int

    Returns
    -------
    row : dict
        error (%), log_loss (nats), calibration_error (%); weights (of the last layer, not zero), initial_weights, n_components
        (with any weight); l1 or ramp, where chosen; silhouette and radial of two features (`shape`); seconds of training.
    features : list of dict
        Of the first test images, where there are two: x, y, class.
    """
    data = datasets.load(entry["source"])
    (X, y), (X_test, y_test) = data.train, data.test
    limit = stated.get("n_train")
    parameters = best(chosen, method)
    setup, begun = networks.setup_of(stated["network"], **parameters), perf_counter()
    network = networks.train(method, entry["n_features"], setup, X[:limit], y[:limit], seed)
    row: dict[str, Any] = {"seconds": perf_counter() - begun, **parameters}
    log_proba, features = networks.predict(network, X_test)
    scores = metrics.scores(y_test, log_proba)
    row |= {"error": 100 * (1 - scores["accuracy"]), "log_loss": scores["log_loss"]}
    row["calibration_error"] = 100 * metrics.expected_calibration_error(y_test, log_proba)
    row |= networks.weights(network)
    if entry["n_features"] != 2:
        return row, []
    row |= shape(features, y_test)
    shown = zip(features[: stated["drawn"]], y_test, strict=False)
    return row, [{"x": float(a), "y": float(b), "class": int(c)} for (a, b), c in shown]


def shape(features: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Whether classes spread in a fan, or stand apart (Figure 5).

    Returns
    -------
    dict
        ``radial``, the mean over classes of |cos| of the angle between the direction of largest spread and that from the
        origin to the mean: one for the rays of a fan, 2/pi by chance; ``silhouette``, the mean silhouette of the rows with
        their classes: the more, the wider the margins for the spread.
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
