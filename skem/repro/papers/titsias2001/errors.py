"""Job of the tables of Titsias and Likas (2001): errors under cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from skem.estimators.prbf import PRBFClassifier
from skem.metrics import shared_proportion
from skem.repro.papers.measured import Rows
from skem.repro.papers.titsias2001.settings import name_of
from skem.repro.training import splits
from skem.repro.training.features import prepare
from skem.repro.training.rbf import rbf_network
from skem.repro.training.splits import Trial


def errors(
    table: str, entry: Mapping[str, Any], n_components: int, setup: Mapping[str, Any], seed: int
) -> Rows:
    """Measure the methods in every fold of every repetition.

    The scale is learned from the training samples of a fold, but "discriminant_whole" and "discriminant_unit" from all samples (see
    `_scores`). Rows have dataset (the table), and the keys of `fit_errors`.
    """
    source, rows = entry["source"], []
    setup = {**setup, "model": {**setup["model"], **entry.get("model", {})}}
    for trial in _folds(source, entry["scale"], setup, seed):
        start = splits.seed(seed, source, trial.run, trial.fold, "start")
        found = fit_errors(trial, n_components, setup["sharings"], setup["model"], start)
        rows += [{"dataset": table} | row for row in found]
    return rows


def _folds(source: str, scale: str, setup: Mapping[str, Any], seed: int) -> Iterator[Trial]:
    spec: dict[str, Any] = {"source": source, "recipe": "table", "dtype": "float64", "folds": "stratified"}
    spec |= {"n_folds": setup["n_folds"], "scale": scale}
    arrays = prepare(source, spec, ["table"], seed)["table"]
    if scale in ("discriminant_whole", "discriminant_unit"):
        spec["scale"] = "none"
        arrays["X"] = _scores(arrays["X"], arrays["y"], unit=scale == "discriminant_unit")
    runs = list(range(setup["repetitions"]))
    return splits.trials(source, spec, {"table": arrays}, ["all"], runs, seed)


def _scores(X: np.ndarray, y: np.ndarray, unit: bool) -> np.ndarray:
    """Return discriminant scores: of unit variance within classes or, with ``unit``, on axes of unit length of standardised features."""
    if not unit:
        return LinearDiscriminantAnalysis().fit_transform(X, y)
    X = StandardScaler().fit_transform(X)
    axes = LinearDiscriminantAnalysis().fit(X, y).scalings_[:, : len(np.unique(y)) - 1]
    return X @ (axes / np.linalg.norm(axes, axis=0))


def predict_by_average(models: Sequence[PRBFClassifier], X: ArrayLike) -> NDArray[Any]:
    """Predict by the average over lambda of class densities, p(x|C_k) = 1/n sum_i p(x|C_k, lambda_i) (section III-B, eq. 38): (n,)."""
    average = logsumexp([model.class_log_density(X) for model in models], axis=0)
    return models[0].classes_[(average + models[0]._log_prior()).argmax(axis=1)]


def _fitted(trial: Trial, model: Any) -> tuple[Any, dict[str, Any]]:
    begun = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(trial.X_train, trial.y_train)
    seconds = perf_counter() - begun
    return model, {"error": _error(trial, model.predict(trial.X_test)), "seconds": seconds}


def _error(trial: Trial, predicted: NDArray[Any]) -> float:
    return 100 * float(np.mean(predicted != trial.y_test))


def fit_errors(
    trial: Trial, n_components: int, sharings: Sequence[float], model: Mapping[str, Any], seed: int
) -> Rows:
    """Fit the RBF network, every lambda and their average to one fold.

    All lambdas have one initialisation, at samples of the classes. The RBF network starts from k-means with the same seed, as in its toolbox.

    Rows have run, fold, n_components, n_test, method ("rbf", "lambda025", "averaging"), error (%), seconds; of a lambda n_iter,
    converged, own_group (mean over classes of the weight on the class's own components) and shared (shared proportion of Pulford
    2022, section 3.3).
    """
    keys = {"run": trial.run, "fold": trial.fold, "n_components": n_components, "n_test": len(trial.y_test)}
    _, found = _fitted(trial, rbf_network(n_components, random_state=seed))
    rows, members = [keys | {"method": "rbf"} | found], []
    for sharing in sharings:
        member, found = _fitted(
            trial, PRBFClassifier(n_components, sharing=sharing, random_state=seed, **model)
        )
        members.append(member)
        own = np.mean([member.weights_[group, c].sum() for c, group in enumerate(member.groups_)])
        found |= {
            "n_iter": member.n_iter_,
            "converged": getattr(member, "converged_", None),
            "own_group": float(own),
        }
        found["shared"] = shared_proportion([member.weights_])
        rows.append(keys | {"method": name_of(sharing)} | found)
    average = {"error": _error(trial, predict_by_average(members, trial.X_test))}
    average["seconds"] = sum(row["seconds"] for row in rows[1:])
    return [*rows, keys | {"method": "averaging"} | average]
