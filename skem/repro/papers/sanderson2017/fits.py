"""Whole fits of Table 1, by several engines: likelihood of training rows, and of rows that were held out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from skem.estimators.gaussian_mixture import GaussianMixture
from skem.repro.papers.sanderson2017.data import standardised
from skem.repro.papers.sanderson2017.settings import METHODS
from skem.repro.training import splits

Rows = list[dict[str, Any]]
Score = Callable[[NDArray[Any], Any], float]
"""From rows and parameters to the mean of log p(x); NaN where a covariance is not positive definite."""


def tried(engine: Any, X: NDArray[np.float64], request: Any) -> tuple[Any, str]:
    """What an engine fits, or None and why it does not."""
    if engine.version() is None:
        return None, f"not installed: {engine.install}"
    try:
        return engine.fit(X, request), ""
    except Exception as error:
        return None, f"failed: {(str(error).strip() or type(error).__name__).splitlines()[0]}"


def fit(method: str, X: NDArray[np.float64], request: Any, engines: Mapping[str, Any]) -> tuple[Any, str]:
    """A method's mixture in the units of the rows that it is given, or None and why there is none."""
    how = METHODS[method]
    return tried(engines[how.engine], standardised(X)[0] if how.standardised else X, request)


def mean_log_likelihood(
    method: str, X: NDArray[np.float64], parameters: Any, score: Score
) -> tuple[float, str]:
    """Mean of log p(x) per row in input units, and a remark where it is not a number."""
    moved = 0.0
    if METHODS[method].standardised:
        X, moved = standardised(X)
    if np.isnan(X).any():
        value = GaussianMixture.from_parameters(*parameters).score(X)
    else:
        value = score(X, parameters)
    return value - moved, "" if np.isfinite(value) else "a covariance is not positive definite"


def fits(
    dataset: str,
    X: NDArray[np.float64],
    methods: Mapping[str, int],
    request: Any,
    engines: Mapping[str, Any],
    score: Score,
) -> Rows:
    """Every method from several starts.

    Parameters
    ----------
    dataset : str
    X : ndarray of shape (n, m)
    methods : mapping
        From a method to its number of starts.
    request : object
        `from_kmeans.Request`; its seed is the root of the seeds of the starts.
    engines : mapping
        `from_kmeans.ENGINES`.
    score : callable

    Returns
    -------
    list of dict
        dataset, method, run, n_rows, guard, log_likelihood (total over the training rows), note.
    """
    rows = []
    for method, n in methods.items():
        for run in range(n):
            own = replace(request, seed=splits.seed(request.seed, dataset, run, "start"))
            fitted, note = fit(method, X, own, engines)
            value = float("nan")
            if fitted is not None:
                value, note = mean_log_likelihood(method, X, fitted.parameters, score)
            rows.append(
                {"dataset": dataset, "method": method, "run": run, "n_rows": len(X)}
                | {"guard": METHODS[method].guard.format(floor=request.floor)}
                | {"log_likelihood": len(X) * value, "note": note}
            )
            if fitted is None and note.startswith("not installed"):
                break
    return rows


def heldout(
    dataset: str,
    X: NDArray[np.float64],
    methods: Iterable[str],
    n_folds: int,
    request: Any,
    engines: Mapping[str, Any],
    score: Score,
) -> Rows:
    """Every method on all folds but one.

    Returns
    -------
    list of dict
        dataset, method, fold, guard, train, test (mean log p per row), note.
    """
    rows = []
    folds = KFold(n_folds, shuffle=True, random_state=splits.seed(request.seed, dataset, "folds"))
    for fold, (train, test) in enumerate(folds.split(X)):
        own = replace(request, seed=splits.seed(request.seed, dataset, fold, "start"))
        for method in methods:
            fitted, note = fit(method, X[train], own, engines)
            row = {"dataset": dataset, "method": method, "fold": fold, "note": note}
            row["guard"] = METHODS[method].guard.format(floor=request.floor)
            if fitted is not None:
                row["train"], row["note"] = mean_log_likelihood(method, X[train], fitted.parameters, score)
                row["test"], _ = mean_log_likelihood(method, X[test], fitted.parameters, score)
            rows.append(row)
    return rows


def by_ridge(
    dataset: str,
    X: NDArray[np.float64],
    setup: Mapping[str, Any],
    request: Any,
    engines: Mapping[str, Any],
    score: Score,
) -> Rows:
    """The likelihood of training rows against the ridge.

    Returns
    -------
    list of dict
        dataset, method, ridge, run, n_rows, log_likelihood (total).
    """
    rows = []
    for method in ("skem_diag", "skem_full"):
        for ridge in setup["ridges"]:
            for run in range(setup["runs"]):
                own = replace(request, floor=ridge, seed=splits.seed(request.seed, dataset, run, "start"))
                parameters = engines[method].fit(X, own).parameters
                rows.append(
                    {"dataset": dataset, "method": method, "ridge": ridge, "run": run, "n_rows": len(X)}
                    | {"log_likelihood": len(X) * score(X, parameters)}
                )
    return rows
