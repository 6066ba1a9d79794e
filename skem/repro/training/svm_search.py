"""An RBF SVM whose parameters are chosen, fitted on all samples and calibrated."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from skem.repro.training.baselines import stratified_rows
from skem.repro.training.svm import KernelSVC


class UnitVariance(TransformerMixin, BaseEstimator):
    """Give the array of all features unit variance; with ``standardize`` each feature first."""

    def __init__(self, *, standardize: bool = True) -> None:
        self.standardize = standardize

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> UnitVariance:
        """Learn means and standard deviations; `X` of shape (n, M)."""
        self._scaler = StandardScaler(with_std=self.standardize).fit(X)
        self._deviation = float(self._scaler.transform(X).std()) or 1.0
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scaled features, shape (n, M)."""
        return self._scaler.transform(X) / self._deviation


class SVMSearch(ClassifierMixin, BaseEstimator):
    """Choose an RBF SVM on held-out samples, calibrate it there, and fit it again on all samples.

    Candidates are the products of ``C``, ``width`` (a multiple of the ``gamma="scale"`` of `SVC`) and ``standardize``
    (without it, all features have one scale), fitted on at most ``select_rows`` samples. ``params_`` has the highest held-out
    accuracy; ``calibrated_`` are Platt's (1999) sigmoids for the machine without the held-out samples; ``machine_``, that of
    all samples, decides.
    """

    def __init__(
        self,
        *,
        C: tuple[float, ...] = (1.0,),
        width: tuple[float, ...] = (1.0,),
        standardize: tuple[bool, ...] = (True,),
        validation_fraction: float = 0.2,
        select_rows: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.C = C
        self.width = width
        self.standardize = standardize
        self.validation_fraction = validation_fraction
        self.select_rows = select_rows
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> SVMSearch:
        """Choose, calibrate and fit; `X` of shape (n, M), `y` of shape (n,)."""
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        X_train, X_held, y_train, y_held = train_test_split(
            X, y, test_size=self.validation_fraction, stratify=y, random_state=self.random_state
        )
        rows = stratified_rows(y_train, self.select_rows, self.random_state)

        def machine(point: tuple[float, float, bool]) -> Pipeline:
            C, width, standardize = point
            svm = KernelSVC(C=C, width=width, break_ties=True)
            return make_pipeline(UnitVariance(standardize=standardize), svm)

        points = list(product(self.C, self.width, self.standardize))
        held_out = [machine(p).fit(X_train[rows], y_train[rows]).score(X_held, y_held) for p in points]
        best = points[int(np.argmax(held_out))]
        self.params_ = dict(zip(("C", "width", "standardize"), best, strict=True))
        frozen = FrozenEstimator(machine(best).fit(X_train, y_train))
        # The machine is frozen, so a single fold serves classes with few held-out samples, too.
        every = np.arange(len(y_held))
        self.calibrated_ = CalibratedClassifierCV(frozen, cv=[(every, every)]).fit(X_held, y_held)
        self.machine_ = machine(best).fit(X, y)
        self.classes_ = self.machine_.classes_
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class that the machine of all samples decides for, shape (n,)."""
        return self.machine_.predict(np.asarray(X, dtype=np.float64))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """p(c|x) by sigmoids, shape (n, L)."""
        return self.calibrated_.predict_proba(np.asarray(X, dtype=np.float64))
