"""Trials with fewer or recombined features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skem.repro.training.splits import Trial


def view(trial: Trial, n_features: int, n_blocks: int, features: dict[str, Any], random_state: int) -> Trial:
    """A trial with its first ``n_features`` features, recombined if ``features`` asks so.

    ``recombine``: samples of one class exchange their blocks at random, each part among itself, which makes
    the ``n_blocks`` sequential blocks independent given the class and changes no block's distribution.
    """
    X = {part: getattr(trial, f"X_{part}")[:, :n_features] for part in ("train", "validation", "test")}
    if features.get("recombine"):
        rng = np.random.default_rng(random_state)
        X = {part: _recombined(a, getattr(trial, f"y_{part}"), n_blocks, rng) for part, a in X.items()}
    return replace(trial, **{f"X_{part}": a for part, a in X.items()})


def _recombined(X: NDArray[Any], y: NDArray[Any], n_blocks: int, rng: np.random.Generator) -> NDArray[Any]:
    mixed = X.copy()
    for columns in np.array_split(np.arange(X.shape[1]), n_blocks):
        for label in np.unique(y):
            rows = np.flatnonzero(y == label)
            mixed[np.ix_(rows, columns)] = X[np.ix_(rng.permutation(rows), columns)]
    return mixed
