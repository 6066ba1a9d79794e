"""Jobs of Table 1 of Sanderson and Curtin (2017): likelihoods of training samples, and of held-out samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from skem.estimators.gaussian_mixture import GaussianMixture
from skem.repro.papers.measured import Rows
from skem.repro.papers.sanderson2017 import engines
from skem.repro.papers.sanderson2017.data import samples, standardised
from skem.repro.papers.sanderson2017.engines import ENGINES, Request
from skem.repro.papers.sanderson2017.settings import METHODS
from skem.repro.training import splits


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
    """Fit a method; return its parameters, in the units that it is fitted in, or None and the reason."""
    how = METHODS[method]
    X = standardised(X)[0] if how.standardised else X
    fitted, note = engines.attempt(ENGINES[how.engine], X, request)
    return (fitted.parameters if fitted else None), note


def mean_log_likelihood(method: str, X: NDArray[np.float64], parameters: Any) -> tuple[float, str]:
    """Return the mean of log p(x) in input units, and a remark if it is no number."""
    shift = 0.0
    if METHODS[method].standardised:
        X, shift = standardised(X)
    if np.isnan(X).any():
        value = GaussianMixture.from_parameters(*parameters).score(X)
    else:
        value = engines.mean_log_likelihood(X, parameters)
    return value - shift, "" if np.isfinite(value) else "a covariance is not positive definite"


def fits(methods: Mapping[str, int], **samples: Any) -> Rows:
    """Fit every method from several initialisations, whose number is the value of ``methods``; likelihoods are totals of the training samples."""
    fitting, rows = Fitting(**samples), []
    X = fitting.X
    for method, n in methods.items():
        for run in range(n):
            parameters, note = fit(method, X, fitting.requested(run))
            value = float("nan")
            if parameters is not None:
                value, note = mean_log_likelihood(method, X, parameters)
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
                row["train"], row["note"] = mean_log_likelihood(method, fitting.X[train], parameters)
                row["test"], _ = mean_log_likelihood(method, fitting.X[test], parameters)
            rows.append(row)
    return rows


def regularisation(setup: Mapping[str, Any], **samples: Any) -> Rows:
    """Measure the total likelihood of training samples against the covariance regularisation."""
    fitting, rows = Fitting(**samples), []
    X, keys = fitting.X, {"dataset": fitting.dataset}
    for method in ("skem_diag", "skem_full"):
        for reg_covar in setup["reg_covar"]:
            for run in range(setup["runs"]):
                parameters = ENGINES[method].fit(X, fitting.requested(run, floor=reg_covar)).parameters
                value = len(X) * engines.mean_log_likelihood(X, parameters)
                row = keys | {"method": method, "reg_covar": reg_covar, "run": run, "n_rows": len(X)}
                rows.append(row | {"log_likelihood": value})
    return rows
