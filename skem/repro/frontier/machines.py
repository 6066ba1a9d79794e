"""A support vector machine that is chosen, fitted on all rows and calibrated, as a user would."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import _ovr_decision_function

from skem.repro.training.baselines import stratified_rows
from skem.repro.training.svm import KernelSVC


class RadialSVC(ClassifierMixin, BaseEstimator):
    """An RBF machine, one against one, that says how far each class is ahead.

    Parameters
    ----------
    C : float, default=1.0
    width : float, default=1.0
        gamma is this over the features' number times their variance: 1 is ``gamma="scale"`` of `SVC`.
    standardize : bool, default=True
        Each feature by its deviation; else all by one.
    """

    def __init__(self, *, C: float = 1.0, width: float = 1.0, standardize: bool = True) -> None:
        self.C = C
        self.width = width
        self.standardize = standardize

    def fit(self, X: ArrayLike, y: ArrayLike) -> RadialSVC:
        """Fit; `X` of shape (n, M), `y` of shape (n,)."""
        X = np.asarray(X, dtype=np.float64)
        self._scaler = StandardScaler(with_std=self.standardize).fit(X)
        Z = self._scaler.transform(X)
        self._deviation = float(Z.std()) or 1.0
        machine = KernelSVC(C=self.C, gamma=self.width / X.shape[1])
        self.machine_ = machine.fit(Z / self._deviation, np.asarray(y))
        self.classes_ = self.machine_.classes_
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Of two classes the distance on the side of the second, shape (n,); of more, votes and margins, (n, L)."""
        Z = self._scaler.transform(np.asarray(X, dtype=np.float64)) / self._deviation
        pairs = self.machine_.decision_function(Z)
        if len(self.classes_) == 2:
            return pairs[:, 0]
        return _ovr_decision_function(pairs >= 0, pairs, len(self.classes_))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class with most votes, of equals the one with the largest margins, shape (n,)."""
        decisions = self.decision_function(X)
        first = (decisions >= 0).astype(int) if decisions.ndim == 1 else decisions.argmax(axis=1)
        return self.classes_[first]


class ChosenSVC(ClassifierMixin, BaseEstimator):
    """`RadialSVC`, its parameters chosen and its sigmoids fitted on rows held out, then fitted once more on all.

    Parameters
    ----------
    C, width, standardize : sequences
        What is tried; with one point nothing is chosen.
    validation_fraction : float, default=0.2
    select_rows : int or None, default=None
        Rows that each point is tried on; None is all that are not held out.
    random_state : int or None, default=None

    Attributes
    ----------
    params_ : dict
        The point with the highest accuracy on the rows held out.
    calibrated_ : CalibratedClassifierCV
        Of the machine without the rows held out (Platt, 1999): that of all rows knows them too well to be calibrated on.
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

    def fit(self, X: ArrayLike, y: ArrayLike) -> ChosenSVC:
        """Choose, calibrate and fit; `X` of shape (n, M), `y` of shape (n,)."""
        X, y = np.asarray(X), np.asarray(y)
        X_train, X_held, y_train, y_held = train_test_split(
            X, y, test_size=self.validation_fraction, stratify=y, random_state=self.random_state
        )
        rows = stratified_rows(y_train, self.select_rows, self.random_state)
        names = ("C", "width", "standardize")
        points = [
            dict(zip(names, values, strict=True))
            for values in product(*(getattr(self, name) for name in names))
        ]
        worth = [
            RadialSVC(**point).fit(X_train[rows], y_train[rows]).score(X_held, y_held) for point in points
        ]
        self.params_ = points[int(np.argmax(worth))]
        machine = RadialSVC(**self.params_).fit(X_train, y_train)
        self.calibrated_ = CalibratedClassifierCV(FrozenEstimator(machine), method="sigmoid").fit(
            X_held, y_held
        )
        self.machine_ = RadialSVC(**self.params_).fit(X, y)
        self.classes_ = self.machine_.classes_
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The decision of the machine of all rows, shape (n,)."""
        return self.machine_.predict(X)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """p(c|x) by sigmoids, shape (n, L)."""
        return self.calibrated_.predict_proba(X)
