"""Samples of Sanderson and Curtin (2017), with a stand-in for its poker hands, and jobs of its Table 1: training and held-out likelihoods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from skem import datasets
from skem.estimators.gaussian_mixture import GaussianMixture
from skem.repro.papers.measured import Rows
from skem.repro.papers.sanderson2017 import engines
from skem.repro.papers.sanderson2017.engines import ENGINES, Request
from skem.repro.papers.sanderson2017.settings import METHODS
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


class Samples:
    """Samples of a data set, (n, m), and the seeds of its jobs."""

    def __init__(self, dataset: str, entry: Mapping[str, Any], n_rows: int | None, seed: int) -> None:
        self.dataset, self.n_components = dataset, entry["n_components"]
        self.X = samples(dataset, entry, n_rows, seed)
        self.root = splits.seed(seed, "sanderson2017")

    def seed(self, *purpose: str | int) -> int:
        """Return the seed for a purpose."""
        return splits.seed(self.root, self.dataset, *purpose)

    def some(self, purpose: str, most: int) -> NDArray[np.float64]:
        """Draw some of the samples without replacement."""
        return self.X[np.random.default_rng(self.seed(purpose)).permutation(len(self.X))[:most]]

    def request(self, run: int, em: Mapping[str, Any]) -> Request:
        """Return the request of a run, with an initialisation of its own; ``em`` has kmeans_iter, em_iter and floor."""
        return Request(self.n_components, seed=self.seed(run, "start"), **em)


def mean_log_likelihood(X: NDArray[np.float64], parameters: Any) -> float:
    """Return the mean of log p(x), of which missing values may be a part."""
    if np.isnan(X).any():
        return GaussianMixture.from_parameters(*parameters).score(X)
    return engines.mean_log_likelihood(X, parameters)


def scores(method: str, request: Request, **samples: NDArray[np.float64]) -> dict[str, Any]:
    """Fit a method to the samples ``train``; return the mean log p of all samples by name, and a note if there is none."""
    fitted, note = engines.attempt(ENGINES[method], samples["train"], request)
    if fitted is None:
        return {"note": note}
    found = {name: mean_log_likelihood(X, fitted.parameters) for name, X in samples.items()}
    return {"note": "" if np.isfinite(found["train"]) else "a covariance is not positive definite", **found}


def fits(methods: Mapping[str, int], em: Mapping[str, Any], **samples: Any) -> Rows:
    """Fit every method from several initialisations, whose number is the value of ``methods``; likelihoods are totals of the training samples."""
    data, rows = Samples(**samples), []
    n = len(data.X)
    for method, n_runs in methods.items():
        for run in range(n_runs):
            found = scores(method, data.request(run, em), train=data.X)
            row = {"dataset": data.dataset, "method": method, "run": run, "n_rows": n}
            row |= {"guard": METHODS[method].bound.format(**em)}
            rows.append(row | {"log_likelihood": n * found.get("train", np.nan), "note": found["note"]})
            if found["note"].startswith("not installed"):
                break
    return rows


def heldout(methods: Iterable[str], n_folds: int, em: Mapping[str, Any], **samples: Any) -> Rows:
    """Fit every method to all folds but one; ``train`` and ``test`` are the mean log p per sample."""
    data, rows = Samples(**samples), []
    folds = KFold(n_folds, shuffle=True, random_state=data.seed("folds"))
    for fold, (train, test) in enumerate(folds.split(data.X)):
        for method in methods:
            row = {"dataset": data.dataset, "method": method, "fold": fold, "note": ""}
            row |= {"guard": METHODS[method].bound.format(**em)}
            rows.append(row | scores(method, data.request(fold, em), train=data.X[train], test=data.X[test]))
    return rows
