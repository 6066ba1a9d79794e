"""Samples of Sanderson and Curtin (2017), as far as the paper describes them, and a stand-in for its poker hands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skem import datasets
from skem.repro.training import splits

SUITS, RANKS, CARDS = 4, 13, 5


def samples(dataset: str, entry: Mapping[str, Any], n_rows: int | None, seed: int) -> NDArray[np.float64]:
    """Load a data set, (n, m), or draw ``n_rows`` samples of it (None: as many as the paper has)."""
    if "drawn" in entry:
        rng = np.random.default_rng(splits.seed(seed, dataset))
        return poker_hands(n_rows or entry["drawn"], rng)
    data = datasets.load(entry["source"])
    X = np.array(data.data, dtype=np.float64)
    if entry.get("with_class"):
        X = np.column_stack([X, data.target + 1.0])
    return filled(X, entry.get("missing", "observed"))


def filled(X: NDArray[np.float64], missing: str) -> NDArray[np.float64]:
    """Replace missing values by "zero" or the "mean" of the feature, or keep them ("observed")."""
    if missing == "zero":
        return np.nan_to_num(X, nan=0.0)
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X) if missing == "mean" else X


def poker_hands(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw suit (1 to 4) and rank (1 to 13) of five cards of 52 in the order they are dealt: (n, 10)."""
    hands = np.empty((n, CARDS), dtype=np.int64)
    for card in range(CARDS):
        drawn = rng.integers(SUITS * RANKS - card, size=n)  # index among the remaining cards
        for dealt in np.sort(hands[:, :card], axis=1).T:
            drawn += drawn >= dealt
        hands[:, card] = drawn
    return np.stack([hands // RANKS + 1, hands % RANKS + 1], axis=2).reshape(n, 2 * CARDS).astype(float)


def standardised(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Standardise features, and return by how much that raises log p per sample; constant features are only centred."""
    deviation = X.std(axis=0)
    deviation[deviation == 0] = 1.0
    return (X - X.mean(axis=0)) / deviation, float(np.log(deviation).sum())
