"""What finds the rows of another data set among those of its own, never having seen any."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skem.repro.frontier import images
from skem.repro.training.baselines import stratified_rows
from skem.repro.training.histories import attempt
from skem.repro.training.splits import Arrays, seed

SVM_ROWS = 10_000
"""Training rows of the machine, whose margins of all rows take long."""


def margin(estimator: BaseEstimator, X: ArrayLike) -> NDArray[np.float64]:
    """By how much the first class of a classifier leads the second, or of two classes the distance from the boundary, (n,)."""
    decision = np.asarray(estimator.decision_function(X))
    if decision.ndim == 1:
        return np.abs(decision)
    largest = np.partition(decision, -2, axis=1)[:, -2:]
    return largest[:, 1] - largest[:, 0]


SCORES: dict[str, Callable[[Any, ArrayLike], NDArray[np.float64]]] = {
    "density": lambda model, X: model.score_samples(X),
    "density_after": lambda model, X: logsumexp(model.predict_joint_log_proba(X), axis=1),
    "certainty": lambda model, X: model.predict_log_proba(X).max(axis=1),
    "margin": margin,
}
"""How much a row looks like those that a fitted model knows: its density, that of mixtures after discriminative training, the
largest log p(c|x), and `margin`."""


def auroc(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    """Area under the ROC curve of scores (n,) that should be low for the rows of outside."""
    is_outside = np.repeat([0, 1], [len(inside), len(outside)])
    return float(roc_auc_score(is_outside, -np.concatenate([inside, outside])))


def compare(
    dataset: str, methods: Mapping[str, Mapping[str, Any]], features: Arrays, root: int
) -> list[dict[str, Any]]:
    """Fit every method once, an isolation forest and a support vector machine beside them, and ask which rows are like theirs.

    Parameters
    ----------
    dataset : str
    methods : mapping
        By label: as for `images.fit`, and scores, names of `SCORES`.
    features : dict
        X_train, y_train, X_test, X_outside.
    root : int

    Returns
    -------
    list of dict
        dataset, method, score, n_train, auroc; of a method that failed, dataset, method and ``error``.
    """
    random_state = seed(root, dataset, 0, "frontier")
    X, y = features["X_train"], features["y_train"]
    some = stratified_rows(y, SVM_ROWS, random_state)
    fits: list[tuple[str, BaseEstimator, list[str], Any]] = [
        (label, images.unfitted(method, features, random_state), method["scores"], slice(None))
        for label, method in methods.items()
    ]
    fits += [
        ("isolation_forest", IsolationForest(random_state=random_state), ["density"], slice(None)),
        ("svm_rbf", make_pipeline(StandardScaler(), SVC(C=5.0)), ["margin"], some),
    ]

    def measured(label: str, estimator: BaseEstimator, scores: list[str], rows: Any) -> list[dict[str, Any]]:
        columns = slice(methods.get(label, {}).get("n_features"))
        fitted, found = estimator.fit(X[rows, columns], y[rows]), []
        for score in scores:
            both = [SCORES[score](fitted, features[part][:, columns]) for part in ("X_test", "X_outside")]
            keys = {"dataset": dataset, "method": label, "score": score, "n_train": len(y[rows])}
            found.append(keys | {"auroc": auroc(*both)})
        return found

    return [
        row
        for how in fits
        for row in attempt({"dataset": dataset, "method": how[0]}, partial(measured, *how))
    ]


def to_markdown(table: pd.DataFrame, names: Mapping[str, str], titles: Mapping[str, str], notes: str) -> str:
    """A row per method and score, a column per data set."""
    wide = table.pivot_table(index=["method", "score"], columns="dataset", values="auroc", sort=False)
    lines = [
        {"method": names[method], "score": WORDS[score]}
        | {titles[dataset]: f"{area:.3f}" for dataset, area in row.items()}
        for (method, score), row in wide.iterrows()
    ]
    shown = pd.DataFrame(lines).to_markdown(index=False, disable_numparse=True)
    failed = [
        f"{names[row['method']]} failed on {titles[row['dataset']]}: {row['error']}"
        for row in table.to_dict("records")
        if isinstance(row.get("error"), str)
    ]
    return "\n\n".join(["# Rows of another data set", notes, shown, *failed]) + "\n"


WORDS = {
    "density": "log p(x)",
    "density_after": "log p(x) after training to decide",
    "certainty": "largest p(c\\|x)",
    "margin": "margin",
}
"""How scores are printed."""
