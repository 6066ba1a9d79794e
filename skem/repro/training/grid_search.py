"""Baselines whose parameters are chosen on the training samples: the same search for all of them."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, ParameterGrid, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline

from skem.repro.training.baselines import stratified_rows


class GridSearch(ClassifierMixin, BaseEstimator):
    """Choose parameters by cross-validation or on held-out samples, then fit on all samples.

    Parameters
    ----------
    estimator : str
        Class of the baseline, "module:class".
    params : mapping or None
        Parameters other than the defaults of the class.
    grid : mapping or None
        Candidates by parameter, those of the scaler as "step__name". A single candidate needs no trials.
    scaler : str or None
        Class of a transformer that precedes the baseline, "module:class".
    scoring : str
        "neg_log_loss", or "accuracy" for an SVM, which is then calibrated by sigmoids (Platt 1999) in at most five folds, or on
        the held-out samples, for the SVM without them.
    select_rows : int
        Most samples that choose, stratified.
    n_folds : int
        Folds of the search; at most as many as the smallest class has samples.
    validation_fraction : float or None
        Share of the samples that is held out for the trials; None has folds.
    random_state : int or None
    """

    def __init__(
        self,
        *,
        estimator: str,
        params: Mapping[str, Any] | None = None,
        grid: Mapping[str, Sequence[Any]] | None = None,
        scaler: str | None = None,
        scoring: str = "neg_log_loss",
        select_rows: int = 4000,
        n_folds: int = 3,
        validation_fraction: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.params = params
        self.grid = grid
        self.scaler = scaler
        self.scoring = scoring
        self.select_rows = select_rows
        self.n_folds = n_folds
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> GridSearch:
        """Choose and fit; `X` of shape (n, M), `y` of shape (n,)."""
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        baseline = self._baseline()
        trials: Iterable[tuple[NDArray[Any], NDArray[Any]]]
        if self.validation_fraction is None:
            rows = stratified_rows(y, self.select_rows, self.random_state)
            folds = self._folds(y[rows], self.n_folds).split(rows, y[rows])
            trials = ((rows[train], rows[test]) for train, test in folds)
            calibration = {"ensemble": False, "cv": self._folds(y, 5)}
        else:
            share = {"test_size": self.validation_fraction, "random_state": self.random_state}
            kept, held = train_test_split(np.arange(len(y)), stratify=y, **share)
            trials = [(kept[stratified_rows(y[kept], self.select_rows, self.random_state)], held)]
            calibration = {"ensemble": True, "cv": [(kept, held)]}
        # The baseline is the last step of a pipeline, or all of it.
        prefix = f"{baseline.steps[-1][0]}__" if self.scaler else ""
        grid = {name if "__" in name else prefix + name: list(v) for name, v in (self.grid or {}).items()}
        if len(ParameterGrid(grid)) > 1:
            search = GridSearchCV(baseline, grid, scoring=self.scoring, cv=trials, refit=False)
            baseline.set_params(**search.fit(X, y).best_params_)
        self.best_params_ = {name: baseline.get_params()[name] for name in grid}
        self.classes_, self.fitted_ = np.unique(y), baseline
        if self.scoring == "accuracy":
            self.calibrated_ = CalibratedClassifierCV(baseline, **calibration).fit(X, y)
            if self.validation_fraction is None:  # it has fitted all samples, too
                self.fitted_ = self.calibrated_.calibrated_classifiers_[0].estimator
                return self
        baseline.fit(X, y)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class that the baseline decides for, shape (n,)."""
        return np.ravel(self.fitted_.predict(np.asarray(X, dtype=np.float64)))  # CatBoost has a column

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """p(c|x), shape (n, L)."""
        return getattr(self, "calibrated_", self.fitted_).predict_proba(np.asarray(X, dtype=np.float64))

    def _baseline(self) -> BaseEstimator:
        try:
            found = pkgutil.resolve_name(self.estimator)(**(self.params or {}))
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"{error.name} is not installed: pip install -e '.[comparison]'"
            ) from None
        if "random_state" in found.get_params():
            found.set_params(random_state=self.random_state)
        return make_pipeline(pkgutil.resolve_name(self.scaler)(), found) if self.scaler else found

    def _folds(self, y: NDArray[Any], n_folds: int) -> StratifiedKFold:
        least = int(np.unique(y, return_counts=True)[1].min())
        return StratifiedKFold(max(2, min(n_folds, least)), shuffle=True, random_state=self.random_state)
