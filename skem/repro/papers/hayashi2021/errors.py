"""What the jobs of Hayashi and Uchida (2021) train: every method on a split, and the components of appendix B."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from skem import datasets, metrics
from skem.estimators.sdgm import SDGMClassifier
from skem.estimators.skem import SKEMClassifier

Rows = list[dict[str, Any]]
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

LEAST = -700.0
"""log p of a probability of zero, where a library gives probabilities and not their logarithms."""


class MGPClassifier(SDGMClassifier):
    """A mixture of Gaussian processes: the dual form with one precision per component, and nothing dropped.

    There is no public implementation of the one that the paper compares with.
    """

    _one_precision = True


def splits(name: str, entry: Mapping[str, Any], n: int, seed: int) -> Iterator[Split]:
    """X_train, y_train, X_test, y_test, the same for a larger n; of a published split the same for every start.

    Parameters
    ----------
    name : str
        An entry of ``config/datasets.yaml``.
    entry : mapping
        Its ``n_train``, where there is one.
    n : int
    seed : int
    """
    data = datasets.load(name)
    if "n_train" not in entry:
        yield from [(*data.train, *data.test)] * n
        return
    drawn = StratifiedShuffleSplit(n, train_size=entry["n_train"], random_state=seed)
    for train, test in drawn.split(data.data, data.target):
        yield data.data[train], data.target[train], data.data[test], data.target[test]


def models(params: Mapping[str, Any], n_features: int, random_state: int) -> dict[str, Callable[[], Any]]:
    """By name, what makes each method; all but the raw ones standardise the features."""
    width = np.sqrt(
        n_features
    )  # where the search of the evidence starts; from one it gets lost among many features
    sdgm = dict(params, random_state=random_state)
    rvm = dict(sdgm, n_components=1, kernel="rbf")
    # The widths that the evidence would find are those of the Gaussian process; here by cross-validation.
    grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.03, 0.1, 0.3, 1.0]}
    return {
        "sdgm": lambda: SDGMClassifier(**sdgm),
        "sdgm_raw": lambda: SDGMClassifier(standardize=False, **sdgm),
        "primal": lambda: SDGMClassifier(form="primal", **sdgm),
        "gp": lambda: make_pipeline(
            StandardScaler(),
            GaussianProcessClassifier(ConstantKernel() * RBF(width), random_state=random_state),
        ),
        "mgp": lambda: MGPClassifier(**sdgm),
        "rvm": lambda: SDGMClassifier(**rvm),
        "rvm_raw": lambda: SDGMClassifier(standardize=False, **rvm),
        "svm_rbf": lambda: GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=5),
        "logistic": lambda: make_pipeline(
            StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=1000)
        ),
        "skem": lambda: SKEMClassifier(class_prior="uniform", random_state=random_state),
    }


def fit_errors(split: Split, params: Mapping[str, Any], random_state: int) -> Rows:
    """Every method on a split.

    Returns
    -------
    list of dict
        method, error (%), log_loss (nats; none of the SVM, which has no probabilities), calibration_error (%), weights (that are
        not zero, without constants beside a kernel; of a Gaussian process one per training row), initial_weights,
        n_components, converged, seconds (of training).
    """
    X_train, y_train, X_test, y_test = split
    rows = []
    for name, make in models(params, X_train.shape[1], random_state).items():
        model, begun = make(), perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whether it converged, and what is left, is in the table
            model.fit(X_train, y_train)
        row: dict[str, Any] = {"method": name, "seconds": perf_counter() - begun}
        row["error"] = 100 * float(np.mean(model.predict(X_test) != y_test))
        if hasattr(model, "predict_proba"):
            log_proba = _log_proba(model, X_test)
            codes = np.searchsorted(np.unique(y_train), y_test)
            row["log_loss"] = metrics.scores(codes, log_proba)["log_loss"]
            row["calibration_error"] = 100 * metrics.expected_calibration_error(codes, log_proba)
        if isinstance(model, SDGMClassifier):
            n_components = params["n_components"] if name not in ("rvm", "rvm_raw") else 1
            per_component = len(X_train)
            row["weights"] = int(np.count_nonzero(model.coef_[:, 1:]))
            if name == "primal":  # a constant is one of the terms of phi (eq. 2)
                per_component = (X_train.shape[1] + 1) * (X_train.shape[1] + 2) // 2
                row["weights"] = model.n_nonzero_weights_
            row["initial_weights"] = (2 * n_components - 1) * per_component
            row |= {"n_components": model.n_components_, "converged": model.converged_}
            if name == "mgp":  # rows that are alike share a weight, and none is dropped
                row["weights"] = row["initial_weights"]
        elif name == "gp":
            row["weights"] = len(X_train)
        rows.append(row)
    return rows


def _log_proba(model: Any, X: np.ndarray) -> np.ndarray:
    if hasattr(model, "predict_log_proba") and not isinstance(
        model[-1] if hasattr(model, "steps") else model, GaussianProcessClassifier
    ):
        return np.maximum(model.predict_log_proba(X), LEAST)
    return np.log(np.maximum(model.predict_proba(X), np.exp(LEAST)))


def checkerboard(n: int, deviation: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of sixteen Gaussians on a 4 x 4 grid of side 1/2, alternately of two classes: (n, 2) and (n,)."""
    cell = rng.integers(16, size=n)
    i, j = cell // 4, cell % 4
    X = 0.5 * np.stack([i, j], axis=1) + deviation * rng.standard_normal((n, 2))
    return X, (i + j) % 2


def components(setup: Mapping[str, Any], params: Mapping[str, Any], run: int, seed: int) -> Rows:
    """Appendix B: error, components and weights against the number of components per class at first.

    Returns
    -------
    list of dict
        run, n_components_init (per class), error, train_error (%), n_components (left, per class), weights, initial_weights,
        seconds.
    """
    rng = np.random.default_rng([seed, run])
    X_train, y_train = checkerboard(setup["n_train"], setup["deviation"], rng)
    X_test, y_test = checkerboard(setup["n_test"], setup["deviation"], rng)
    rows = []
    for m in setup["n_components"]:
        model = SDGMClassifier(**dict(params, n_components=m, random_state=run))
        begun = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whether it converged, and what is left, is in the table
            model.fit(X_train, y_train)
        rows.append(
            {
                "run": run,
                "n_components_init": m,
                "seconds": perf_counter() - begun,
                "error": 100 * (1 - model.score(X_test, y_test)),
                "train_error": 100 * (1 - model.score(X_train, y_train)),
                "n_components": model.n_components_ / 2,
                "weights": int(np.count_nonzero(model.coef_[:, 1:])),
                "initial_weights": (2 * m - 1) * len(X_train),
            }
        )
    return rows
