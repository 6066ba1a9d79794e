"""Jobs of Table 1 and appendix B of Hayashi and Uchida (2021): each method on a split, and components on a checkerboard."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from skem import datasets, metrics
from skem.estimators.skem import SKEMClassifier
from skem.repro.papers.measured import Rows
from skem.repro.training.splits import seed as seed_of
from skem.sdgm.classifier import SDGMClassifier

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""X_train, y_train, X_test, y_test."""

LEAST = -700.0
"""log p of zero probability."""


class MGPClassifier(SDGMClassifier):
    """A mixture of Gaussian processes: the dual form with one precision per component and without elimination.

    The mixture that the paper compares with has no public implementation.
    """

    _one_precision = True


def splits(name: str, entry: Mapping[str, Any], n: int, seed: int) -> Iterator[Split]:
    """Draw n splits of a data set, or repeat its published split; the first splits do not depend on n."""
    data = datasets.load(name)
    if "n_train" not in entry:
        yield from [(*data.train, *data.test)] * n
        return
    drawn = StratifiedShuffleSplit(n, train_size=entry["n_train"], random_state=seed)
    for train, test in drawn.split(data.data, data.target):
        yield data.data[train], data.target[train], data.data[test], data.target[test]


def models(
    params: Mapping[str, Any], n_features: int, random_state: int, unit_variance: bool = False
) -> dict[str, Callable[[], Any]]:
    """Return a factory per method.

    Methods that end in "_files" have the features as the paper's files have them, which are the given ones, or with
    ``unit_variance`` those divided by their standard deviations. All others but SKEM standardise the features.
    """
    width = np.sqrt(n_features)  # from one, the search for the evidence fails with many features
    sdgm = dict(params, random_state=random_state)
    files = dict(sdgm, standardize=False)
    rvm = {"n_components": 1, "kernel": "rbf"}
    grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.03, 0.1, 0.3, 1.0]}

    def gp() -> GaussianProcessClassifier:
        return GaussianProcessClassifier(ConstantKernel() * RBF(width), random_state=random_state)

    def in_files(model: Any) -> Any:
        return make_pipeline(StandardScaler(), model) if unit_variance else model

    return {
        "sdgm": lambda: SDGMClassifier(**sdgm),
        "sdgm_files": lambda: in_files(SDGMClassifier(**files)),
        "primal": lambda: SDGMClassifier(form="primal", **sdgm),
        "gp": lambda: make_pipeline(StandardScaler(), gp()),
        "gp_files": lambda: in_files(gp()),
        "mgp": lambda: MGPClassifier(**sdgm),
        "mgp_files": lambda: in_files(MGPClassifier(**files)),
        "rvm": lambda: SDGMClassifier(**sdgm | rvm),
        "rvm_files": lambda: in_files(SDGMClassifier(**files | rvm)),
        "softmax": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "svm_rbf": lambda: GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=5),
        "logistic": lambda: make_pipeline(
            StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=1000)
        ),
        "skem": lambda: SKEMClassifier(priors="uniform", random_state=random_state),
    }


def errors(
    dataset: str, entry: Mapping[str, Any], runs: tuple[int, int], model: Mapping[str, Any], seed: int
) -> Rows:
    """Train every method on splits from ``runs[0]`` to before ``runs[1]``; rows have dataset, run, and the keys of `fit_errors`."""
    drawn = splits(entry["source"], entry, runs[1], seed_of(seed, dataset))
    unit_variance = entry.get("unit_variance", False)
    return [
        {"dataset": dataset, "run": run} | row
        for run, split in islice(enumerate(drawn), runs[0], None)
        for row in fit_errors(split, model, seed_of(seed, dataset, run), unit_variance)
    ]


def fit_errors(
    split: Split, params: Mapping[str, Any], random_state: int, unit_variance: bool = False
) -> Rows:
    """Train every method on a split; see `models`.

    Rows have method, seconds (of training), error (%); with probabilities log_loss (nats) and calibration_error (%); of SDGM and
    its relatives weights (non-zero, without constants of the dual form), initial_weights, n_components, converged; of a Gaussian
    process weights (one per training sample).
    """
    X_train, y_train, X_test, y_test = split
    rows = []
    for name, make in models(params, X_train.shape[1], random_state, unit_variance).items():
        model, seconds = fitted(make(), X_train, y_train)
        last = model[-1] if isinstance(model, Pipeline) else model
        row: dict[str, Any] = {"method": name, "seconds": seconds}
        row["error"] = 100 * float(np.mean(model.predict(X_test) != y_test))
        if hasattr(model, "predict_proba"):
            if isinstance(last, GaussianProcessClassifier):  # has no logarithms of probabilities
                log_proba = np.log(np.maximum(model.predict_proba(X_test), np.exp(LEAST)))
            else:
                log_proba = np.maximum(model.predict_log_proba(X_test), LEAST)
            codes = np.searchsorted(np.unique(y_train), y_test)
            row["log_loss"] = metrics.scores(codes, log_proba)["log_loss"]
            row["calibration_error"] = 100 * metrics.expected_calibration_error(codes, log_proba)
        if isinstance(last, GaussianProcessClassifier):
            row["weights"] = len(X_train)
        if isinstance(last, SDGMClassifier):
            n, m = X_train.shape
            per_component = (m + 1) * (m + 2) // 2 if last.form == "primal" else n
            initial = (2 * last.n_components - 1) * per_component
            if last.form == "primal":  # constants are terms of phi (eq. 2)
                weights = last.n_nonzero_weights_
            elif isinstance(last, MGPClassifier):  # duplicate samples share a weight, but none is dropped
                weights = initial
            else:
                weights = int(np.count_nonzero(last.coef_[:, 1:]))
            row |= {"weights": weights, "initial_weights": initial}
            row |= {"n_components": last.n_components_, "converged": getattr(last, "converged_", None)}
        rows.append(row)
    return rows


def fitted(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[Any, float]:
    """Fit a model without warnings, and return its seconds; the tables show convergence."""
    begun = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return model, perf_counter() - begun


def checkerboard(n: int, deviation: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw samples, (n, 2) and (n,), of sixteen Gaussians of alternate classes on a 4 x 4 grid of side 1/2."""
    cell = rng.integers(16, size=n)
    i, j = cell // 4, cell % 4
    X = 0.5 * np.stack([i, j], axis=1) + deviation * rng.standard_normal((n, 2))
    return X, (i + j) % 2


def components(synthetic: Mapping[str, Any], model: Mapping[str, Any], run: int, seed: int) -> Rows:
    """Measure errors (%), final components per class and weights against the initial number of components per class (appendix B)."""
    rng = np.random.default_rng([seed_of(seed, "hayashi2021", "components"), run])
    X_train, y_train = checkerboard(synthetic["n_train"], synthetic["deviation"], rng)
    X_test, y_test = checkerboard(synthetic["n_test"], synthetic["deviation"], rng)
    rows = []
    for m in synthetic["n_components"]:
        classifier = SDGMClassifier(**dict(model, n_components=m, random_state=run))
        classifier, seconds = fitted(classifier, X_train, y_train)
        rows.append(
            {
                "run": run,
                "n_components_init": m,
                "seconds": seconds,
                "error": 100 * (1 - classifier.score(X_test, y_test)),
                "train_error": 100 * (1 - classifier.score(X_train, y_train)),
                "n_components": classifier.n_components_ / 2,
                "weights": int(np.count_nonzero(classifier.coef_[:, 1:])),
                "initial_weights": (2 * m - 1) * len(X_train),
            }
        )
    return rows
