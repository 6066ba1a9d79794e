"""The scikit-learn rivals, by name, and the one way their hyper-parameters are chosen.

Pulford (2022, section 3.2) compares with MATLAB's Classification Learner and gives few settings. Its presets
explain what the paper prints for the 150 principal components of Fashion-MNIST:

- k-NN on *standardised* features scores 84.63, 84.79 and 84.32% for k = 1, 5 and 9; the paper prints 84.63,
  84.79 and 84.33. Unstandardised it is stronger (85.26, 86.35, 86.19), so that is a point of the grid.
- ``lda`` scores 80.67%, which is the paper's "kDA".
- MATLAB's TreeBagger lets a tree see sqrt(M) random features per split, as scikit-learn's random forest does
  (85.89%; paper: 85.97) at less than a tenth of the cost of seeing all.
- Its SVMs standardise, and are one against one. So are ours, as `SVC` is; the linear one has 85.33% (C = 1, all
  rows; paper: 85.32), and is stronger than `LinearSVC`, one against the rest (MNIST: 96.0 and 94.4%). The
  paper's kernel scale 5.7 is sqrt(M) at M = 32: gamma = 1/5.7^2, ``gamma="scale"`` for standardised features.
  The paper does not say C; its toolbox has C = 1 unless told otherwise.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from skem.engine.threads import single_threaded
from skem.metrics import scores
from skem.repro.training.svm import KernelSVC


class GaussianMixtureClassifier(ClassifierMixin, BaseEstimator):
    """One scikit-learn Gaussian mixture of full covariance per class, and Bayes' rule.

    Parameters
    ----------
    n_components : int, default=2
        Components of each class; a class with fewer rows gets as many as it has rows.
    reg_covar : float, default=0.1
        Added to the diagonal of every covariance, in squared input units; less overfits images.
    class_prior : {"uniform", "empirical"}, default="uniform"
        Equal for all classes, or their share of the training rows.
    random_state : int, RandomState instance or None, default=None
        For the k-means starts.

    Attributes
    ----------
    classes_, class_prior_ : ndarray of shape (L,)
        Class labels and prior probabilities.
    mixtures_ : list of L fitted `GaussianMixture`
        The class-conditional densities.
    """

    def __init__(
        self,
        *,
        n_components: int = 2,
        reg_covar: float = 0.1,
        class_prior: str = "uniform",
        random_state=None,
    ) -> None:
        self.n_components = n_components
        self.reg_covar = reg_covar
        self.class_prior = class_prior
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> GaussianMixtureClassifier:
        """Fit one mixture per class; `X` of shape (n, M), `y` of shape (n,), at least two rows per class."""
        X, y = map(np.asarray, validate_data(self, X, y, ensure_min_samples=2))
        check_classification_targets(y)
        self.classes_, counts = np.unique(y, return_counts=True)
        if counts.min() < 2:
            raise ValueError(f"class {self.classes_[counts.argmin()]!r} has one sample, a mixture needs two")
        if self.class_prior not in ("uniform", "empirical"):
            raise ValueError(f'class_prior must be "uniform" or "empirical", got {self.class_prior!r}')
        share = np.ones(len(counts)) if self.class_prior == "uniform" else counts
        self.class_prior_ = share / share.sum()
        with config_context(array_api_dispatch=False):  # with it, GaussianMixture has no k-means start
            self.mixtures_ = [
                GaussianMixture(
                    min(self.n_components, count), reg_covar=self.reg_covar, random_state=self.random_state
                ).fit(X[y == label])
                for label, count in zip(self.classes_, counts, strict=True)
            ]
        return self

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log posterior log p(c|x) in nats, shape (n, L)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        joint = np.stack([m.score_samples(X) for m in self.mixtures_], axis=1) + np.log(self.class_prior_)
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Posterior p(c|x), shape (n, L)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class of the largest posterior, shape (n,)."""
        best = self.predict_log_proba(X).argmax(axis=1)  # first: it checks that there is a fit
        return self.classes_[best]


class _Baseline(NamedTuple):
    estimator: type[BaseEstimator]
    standardize: bool
    params: dict[str, Any]
    grid: Sequence[dict[str, Any]] = ()


def _values(parameter: str, *values: float) -> list[dict[str, Any]]:
    return [{parameter: value} for value in values]


def _svm(*C: float, **params: Any) -> _Baseline:
    return _Baseline(KernelSVC, True, {"C": C[0], **params}, _values("C", *C))


_SCALING = _values("standardize", True, False)
_BASELINES: dict[str, _Baseline] = {
    "logistic_regression": _Baseline(
        LogisticRegression, True, {"max_iter": 1000}, _values("C", 1.0, 0.01, 0.1, 10.0)
    ),
    "lda": _Baseline(LinearDiscriminantAnalysis, False, {}),
    # Fashion-MNIST has a class with dead pixels: without a ridge there is no fit at all.
    "qda": _Baseline(
        QuadraticDiscriminantAnalysis, True, {"reg_param": 1e-3}, _values("reg_param", 1e-3, 1e-2, 0.1, 0.5)
    ),
    "svm_linear": _svm(1.0, 0.01, 0.1, kernel="linear"),
    "svm_quadratic": _svm(1.0, 0.1, 10.0, kernel="poly", degree=2, coef0=1.0),
    "svm_rbf": _svm(1.0, 5.0, 25.0, kernel="rbf"),
    **{f"knn_{k}": _Baseline(KNeighborsClassifier, True, {"n_neighbors": k}, _SCALING) for k in (1, 5, 9)},
    "bagged_trees": _Baseline(RandomForestClassifier, False, {"n_estimators": 100}),
    "gmm_per_class": _Baseline(GaussianMixtureClassifier, True, {}, _values("n_components", 2, 1, 4, 8)),
}


def names() -> tuple[str, ...]:
    """Names that `make` knows."""
    return tuple(_BASELINES)


def reported() -> tuple[str, ...]:
    """The names under which `fitted` gives classifiers."""
    return tuple(label for name in _BASELINES for label in reported_as(name))


def fitted(name: str, estimator: BaseEstimator) -> list[tuple[str, BaseEstimator]]:
    """What a fitted baseline is reported as: itself, but of bagged trees the first fifty and all hundred.

    Trees are grown one after another, so the first fifty are a forest of fifty from the same seed.
    """
    if name != "bagged_trees":
        return [(name, estimator)]
    first = copy(estimator)
    first.estimators_ = estimator.estimators_[:50]
    first.n_estimators = 50
    return list(zip(reported_as(name), (first, estimator), strict=True))


def reported_as(name: str) -> tuple[str, ...]:
    """What `fitted` gives of a baseline."""
    return ("bagged_trees_50", "bagged_trees_100") if name == "bagged_trees" else (name,)


def grid(name: str, n_features: int | None = None) -> list[dict[str, Any]]:
    """Points that `fit_selected` chooses from, the default of `make` first; empty where nothing is chosen.

    Where the number of features M is given, ``svm_rbf`` also tries gamma = 3/M, thrice that of ``"scale"``.
    """
    points = [dict(point) for point in _baseline(name).grid]  # copies, so that no caller changes ours
    if name == "svm_rbf" and n_features is not None:
        points = [{**point, "gamma": gamma} for gamma in ("scale", 3 / n_features) for point in points]
    return points


_points = grid  # `fit_selected` has an argument of that name


def make(name: str, *, random_state: int | None = None, **params: Any) -> BaseEstimator:
    """Build an unfitted baseline.

    Parameters
    ----------
    name : str
        One of `names`.
    random_state : int or None, default=None
        Passed on where the estimator has such a parameter.
    **params
        Parameters of the estimator (without a step's name before them) in place of ours, and ``standardize``,
        whether a `StandardScaler` precedes it.

    Returns
    -------
    estimator : classifier, after a `StandardScaler` if standardised; the SVMs have no ``predict_proba``
    """
    baseline = _baseline(name)
    params = {**baseline.params, **params}
    standardize = params.pop("standardize", baseline.standardize)
    estimator = baseline.estimator(**params)
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=random_state)
    return make_pipeline(StandardScaler(), estimator) if standardize else estimator


def log_proba(estimator: BaseEstimator, X: ArrayLike) -> NDArray[np.float64] | None:
    """Log posterior in nats, shape (n, L), -inf for an exact zero; None without ``predict_proba``."""
    if not hasattr(estimator, "predict_proba"):
        return None
    with np.errstate(divide="ignore"):
        if hasattr(estimator, "predict_log_proba"):
            return estimator.predict_log_proba(X)
        return np.log(estimator.predict_proba(X))


def evaluate(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
    """`skem.metrics.scores` of a fitted classifier, for labels as in ``classes_``.

    Without probabilities, as for an SVM, log-loss and Brier score are NaN: probabilities fitted afterwards
    would be the calibrator's, not the classifier's.
    """
    return predict_and_score(estimator, X, y)[1]


def predict_and_score(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike
) -> tuple[NDArray[np.int16], dict[str, float]]:
    """Predicted classes, as positions in ``classes_``, and `evaluate`, from one look at the rows."""
    y = np.asarray(y)
    posterior = log_proba(estimator, X)
    if posterior is None:
        labels = estimator.predict(X)
        predicted = np.searchsorted(estimator.classes_, labels)
        found = {"accuracy": float(np.mean(labels == y)), "log_loss": np.nan, "brier": np.nan}
    else:
        unseen = set(np.unique(y)) - set(estimator.classes_)
        if unseen:
            raise ValueError(f"labels that were not in the training data: {sorted(unseen)}")
        predicted = posterior.argmax(axis=1)
        found = scores(np.searchsorted(estimator.classes_, y), posterior)
    return predicted.astype(np.int16), found


def stratified_rows(y: ArrayLike, size: int | None, random_state: int | None) -> NDArray[np.intp]:
    """Ascending indices of `size` random rows, classes in proportion, each one row at least.

    A smaller sample with the same seed is part of a larger one. None, or more than there are, means all rows.
    """
    y = np.asarray(y)
    if size is None or size >= len(y):
        return np.arange(len(y))
    shuffled = np.random.default_rng(random_state).permutation(len(y))
    place = np.empty(len(y))
    for label in np.unique(y):
        rows = shuffled[y[shuffled] == label]
        place[rows] = np.arange(len(rows)) / len(rows)
    return np.sort(shuffled[np.argsort(place[shuffled], kind="stable")[:size]])


def fit_selected(
    name: str,
    X: ArrayLike,
    y: ArrayLike,
    X_val: ArrayLike | None = None,
    y_val: ArrayLike | None = None,
    *,
    max_rows: int | None = None,
    select_rows: int | None = None,
    random_state: int | None = None,
    grid: Sequence[Mapping[str, Any]] | None = None,
) -> tuple[BaseEstimator, dict[str, Any], list[dict[str, Any]]]:
    """Choose a grid point on the validation rows, then fit once more with it, BLAS and OpenMP at one thread.

    Parameters
    ----------
    X, y : array-like of shape (n, M) and (n,)
    X_val, y_val : array-like of shape (v, M) and (v,), or None where the grid has fewer than two points
    max_rows, select_rows : int or None
        Stratified training rows used at most, for the last fit and for each trial. None is all.
    random_state : int or None
        Seed of the samples and of the estimators; the result is a function of it.
    grid : sequence of mappings or None
        Parameters for `make` in place of those that `grid` names.

    Returns
    -------
    estimator : fitted classifier
    params : dict
        The point with the highest validation accuracy, the first of equals; empty if nothing was chosen.
    table : list of dict
        One row per trial (stage "select") and one for the last fit ("refit"): stage, params, n_train,
        validation_accuracy, _log_loss, _brier (NaN without validation rows), and warnings (texts; not shown).
    """
    X, y = np.asarray(X), np.asarray(y)
    # The narrower kernel gains on small tables only; on images it would take most of the time.
    n_features = X.shape[1] if len(X) < 10_000 else None
    points = _points(name, n_features) if grid is None else [dict(point) for point in grid]
    if len(points) > 1 and X_val is None:
        raise ValueError(f"{name}: choosing among {len(points)} settings needs validation rows")
    table: list[dict[str, Any]] = []

    def fit(stage: str, params: dict[str, Any], size: int | None) -> BaseEstimator:
        rows = stratified_rows(y, size, random_state)
        estimator = make(name, random_state=random_state, **params)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator.fit(X[rows], y[rows])
        got = dict.fromkeys(("accuracy", "log_loss", "brier"), np.nan)
        if X_val is not None and y_val is not None:
            got = evaluate(estimator, X_val, y_val)
        texts = [f"{w.category.__name__}: {w.message}" for w in caught]
        measured = {f"validation_{metric}": value for metric, value in got.items()}
        table.append({"stage": stage, "params": params, "n_train": len(rows), **measured, "warnings": texts})
        return estimator

    with single_threaded():
        if len(points) > 1:
            for point in points:
                fit("select", point, select_rows)
        best = max(range(len(table)), key=lambda i: table[i]["validation_accuracy"], default=0)
        params = points[best] if points else {}
        return fit("refit", params, max_rows), params, table


def _baseline(name: str) -> _Baseline:
    if name not in _BASELINES:
        raise ValueError(f"no baseline {name!r}; there are {', '.join(_BASELINES)}")
    return _BASELINES[name]
