"""Errors under cross-validation, as in the tables of Titsias and Likas (2001): what their jobs run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit

from skem.estimators.prbf import PRBFClassifier
from skem.estimators.prbf_cv import PRBFClassifierCV
from skem.estimators.prbf_ensemble import PRBFEnsemble
from skem.estimators.rbf import rbf_network
from skem.metrics import shared_proportion
from skem.repro.papers.titsias2001.settings import name_of
from skem.repro.training.features import prepare
from skem.repro.training.splits import Trial, trials

Rows = list[dict[str, Any]]


def folds(source: str, scale: str, n_folds: int, runs: Sequence[int], root: int) -> Iterator[Trial]:
    """The folds of all repetitions; the same rows whatever the scaling.

    Parameters
    ----------
    source : str
        An entry of ``config/datasets.yaml``.
    scale : {"none", "standard", "range", "discriminant", "discriminant_whole"}
        Learned from the training rows of a fold, but for the last one, which sees the test rows too.
    n_folds : int
    runs : sequence of int
    root : int
        Root seed.
    """
    spec: dict[str, Any] = {"source": source, "recipe": "table", "dtype": "float64", "folds": "stratified"}
    spec |= {"n_folds": n_folds, "scale": scale}
    arrays = prepare(source, spec, ["table"], root)["table"]
    if scale == "discriminant_whole":
        spec["scale"] = "none"
        arrays["X"] = LinearDiscriminantAnalysis().fit_transform(arrays["X"], arrays["y"])
    yield from trials(source, spec, {"table": arrays}, ["all"], list(runs), root)


def fit_errors(
    trial: Trial, n_components: int, sharings: Sequence[float], model: Mapping[str, Any], seed: int
) -> Rows:
    """The RBF network, every lambda and their average on one fold, all models from one start.

    Returns
    -------
    list of dict
        run, fold, n_components, n_test (rows), method ("rbf", "lambda025", "averaging"), error (%), passes, own_group (mean over
        classes of the weight on the class's own kernels), shared (shared proportion, as of Pulford 2022, section 3.3),
        converged, seconds.
    """
    keys = {"run": trial.run, "fold": trial.fold, "n_components": n_components, "n_test": len(trial.y_test)}

    def row(method: str, fitted: Any, seconds: float, **more: Any) -> dict[str, Any]:
        error = 100 * float(np.mean(fitted.predict(trial.X_test) != trial.y_test))
        return keys | {"method": method, "error": error} | more | {"seconds": seconds}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = perf_counter()
        network = rbf_network(n_components, random_state=seed).fit(trial.X_train, trial.y_train)
        rows = [row("rbf", network, perf_counter() - start)]
        members = []
        for sharing in sharings:
            start = perf_counter()
            member = PRBFClassifier(n_components, sharing=sharing, random_state=seed, **model)
            members.append(member.fit(trial.X_train, trial.y_train))
            own = np.mean([member.weights_[group, c].sum() for c, group in enumerate(member.groups_)])
            more = {"passes": member.n_iter_, "converged": member.converged_, "own_group": float(own)}
            more["shared"] = shared_proportion([member.weights_])
            rows.append(row(name_of(sharing), member, perf_counter() - start, **more))
    average = PRBFEnsemble.of(members)
    return [*rows, row("averaging", average, sum(r["seconds"] for r in rows[1:]))]


def choice_errors(
    trial: Trial,
    n_components: int,
    sharings: Sequence[float],
    model: Mapping[str, Any],
    fraction: float,
    seed: int,
) -> Rows:
    """lambda chosen on validation rows, one and per pair of classes, beside each lambda and their average.

    Returns
    -------
    list of dict
        As `fit_errors`; and with methods "chosen", "chosen by accuracy" and "chosen per pair", and chosen: the lambda,
        or the mean of those of the pairs.
    """
    keys = {"run": trial.run, "fold": trial.fold, "n_components": n_components}
    rows = fit_errors(trial, n_components, sharings, model, seed)
    L = len(np.unique(trial.y_train))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for method, params in (
            ("chosen", {}),
            ("chosen by accuracy", {"scoring": "accuracy"}),
            ("chosen per pair", {"per_pair": True}),
        ):
            start = perf_counter()
            search = PRBFClassifierCV(
                PRBFClassifier(n_components, random_state=seed, **model),
                sharings=sharings,
                cv=StratifiedShuffleSplit(1, test_size=fraction, random_state=seed),
                **params,
            ).fit(trial.X_train, trial.y_train)
            seconds = perf_counter() - start
            error = 100 * float(np.mean(search.predict(trial.X_test) != trial.y_test))
            chosen = np.asarray(search.sharing_)
            mean = float(chosen if chosen.ndim == 0 else (chosen.sum() - L) / (L * (L - 1)))
            rows.append(keys | {"method": method, "error": error, "chosen": mean, "seconds": seconds})
    return rows
