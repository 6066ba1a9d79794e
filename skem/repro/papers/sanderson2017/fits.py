"""Samples of Sanderson and Curtin (2017), with a stand-in for its poker hands, and jobs of its Table 1: training and held-out likelihoods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
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


class Fitting:
    """Samples of a data set, and requests of fits to them; ``em`` has kmeans_iter, em_iter and floor."""

    def __init__(
        self, dataset: str, entry: Mapping[str, Any], n_rows: int | None, em: Mapping[str, Any], seed: int
    ) -> None:
        self.dataset = dataset
        self.X = samples(dataset, entry, n_rows, seed)
        self.request = Request(entry["n_components"], seed=splits.seed(seed, "sanderson2017"), **em)

    def requested(self, run: int, **changed: Any) -> Request:
        """Return the request of a run, with an initialisation of its own."""
        seed = splits.seed(self.request.seed, self.dataset, run, "start")
        return replace(self.request, seed=seed, **changed)

    def bound(self, method: str) -> str:
        """Return the bound of a method's covariances."""
        return METHODS[method].bound.format(floor=self.request.floor)


def fit(method: str, X: NDArray[np.float64], request: Request) -> tuple[Any, str]:
    """Fit a method; return its parameters, or None and the reason."""
    fitted, note = engines.attempt(ENGINES[method], X, request)
    return (fitted.parameters if fitted else None), note


def mean_log_likelihood(X: NDArray[np.float64], parameters: Any) -> tuple[float, str]:
    """Return the mean of log p(x), and a remark if it is no number."""
    if np.isnan(X).any():
        value = GaussianMixture.from_parameters(*parameters).score(X)
    else:
        value = engines.mean_log_likelihood(X, parameters)
    return value, "" if np.isfinite(value) else "a covariance is not positive definite"


def fits(methods: Mapping[str, int], **samples: Any) -> Rows:
    """Fit every method from several initialisations, whose number is the value of ``methods``; likelihoods are totals of the training samples."""
    fitting, rows = Fitting(**samples), []
    X = fitting.X
    for method, n in methods.items():
        for run in range(n):
            parameters, note = fit(method, X, fitting.requested(run))
            value = float("nan")
            if parameters is not None:
                value, note = mean_log_likelihood(X, parameters)
            row = {"dataset": fitting.dataset, "method": method, "run": run, "n_rows": len(X)}
            row |= {"guard": fitting.bound(method), "log_likelihood": len(X) * value, "note": note}
            rows.append(row)
            if note.startswith("not installed"):
                break
    return rows


def heldout(methods: Iterable[str], n_folds: int, **samples: Any) -> Rows:
    """Fit every method to all folds but one; ``train`` and ``test`` are the mean log p per sample."""
    fitting, rows = Fitting(**samples), []
    seed = splits.seed(fitting.request.seed, fitting.dataset, "folds")
    folds = KFold(n_folds, shuffle=True, random_state=seed)
    for fold, (train, test) in enumerate(folds.split(fitting.X)):
        for method in methods:
            parameters, note = fit(method, fitting.X[train], fitting.requested(fold))
            row = {"dataset": fitting.dataset, "method": method, "fold": fold, "note": note}
            row["guard"] = fitting.bound(method)
            if parameters is not None:
                row["train"], row["note"] = mean_log_likelihood(fitting.X[train], parameters)
                row["test"], _ = mean_log_likelihood(fitting.X[test], parameters)
            rows.append(row)
    return rows
