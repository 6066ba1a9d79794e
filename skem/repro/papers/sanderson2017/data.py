"""The rows of Sanderson and Curtin (2017): as the paper has them as far as it says, and poker hands that are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skem import datasets

SUITS, RANKS, CARDS = 4, 13, 5


def rows(entry: Mapping[str, Any], seed: int, n_rows: int | None = None) -> NDArray[np.float64]:
    """The rows of a data set, (n, m).

    Parameters
    ----------
    entry : mapping
        Of ``data_sets`` in ``config/sanderson2017.yaml``.
    seed : int
        Of what is drawn.
    n_rows : int, optional
        How many are drawn, where that is not as many as the paper has.
    """
    if "drawn" in entry:
        return poker_hands(n_rows or entry["drawn"], np.random.default_rng(seed))
    data = datasets.load(entry["source"])
    X = np.array(data.data, dtype=np.float64)
    if entry.get("with_class"):
        X = np.column_stack([X, data.target + 1.0])
    return filled(X, entry.get("missing", "observed"))


def filled(X: NDArray[np.float64], missing: str) -> NDArray[np.float64]:
    """The rows with "zero" or the "mean" of the feature for what is missing, or as they are ("observed")."""
    if missing == "zero":
        return np.nan_to_num(X, nan=0.0)
    if missing == "mean":
        return np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    return X


def poker_hands(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Suit (1 to 4) and rank (1 to 13) of five cards of 52 in the order they are dealt: (n, 10)."""
    hands = np.empty((n, CARDS), dtype=np.int64)
    deck = SUITS * RANKS
    for card in range(CARDS):
        # One of those left, counted past those that are dealt.
        drawn = rng.integers(deck - card, size=n)
        for dealt in np.sort(hands[:, :card], axis=1).T:
            drawn += drawn >= dealt
        hands[:, card] = drawn
    return np.stack([hands // RANKS + 1, hands % RANKS + 1], axis=2).reshape(n, 2 * CARDS).astype(float)


def standardised(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """The rows with mean zero and deviation one, and by how much that raises log p per row.

    Constant features stay as they are, but for their mean.
    """
    deviation = X.std(axis=0)
    deviation[deviation == 0] = 1.0
    return (X - X.mean(axis=0)) / deviation, float(np.log(deviation).sum())
