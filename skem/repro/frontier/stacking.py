"""What a user would put together of this library's parts."""

from __future__ import annotations

from copy import copy
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skem.estimators._discriminative import LEAST_HELD_OUT
from skem.estimators.discriminative_pskem import DiscriminativePSKEMClassifier
from skem.estimators.pskem import PSKEMClassifier
from skem.estimators.pskem_cv import PSKEMClassifierCV


class StackedBlocks(ClassifierMixin, BaseEstimator):
    """PSKEM, and a logistic regression on the class densities of its blocks, fitted on rows held out.

    Parameters
    ----------
    params : dict, optional
        Of `PSKEMClassifier`.
    validation_fraction : float, default=0.16
    random_state : int or None, default=None

    Attributes
    ----------
    model_ : PSKEMClassifier
        Without the rows held out.
    weights_ : Pipeline
        Of a scaler and the logistic regression.
    """

    def __init__(
        self,
        *,
        params: dict[str, Any] | None = None,
        validation_fraction: float = 0.16,
        random_state: int | None = None,
    ) -> None:
        self.params = params
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> StackedBlocks:
        """Fit both; `X` of shape (n, M), `y` of shape (n,)."""
        X_train, X_held, y_train, y_held = train_test_split(
            X, y, test_size=self.validation_fraction, stratify=y, random_state=self.random_state
        )
        self.model_ = PSKEMClassifier(**(self.params or {}), random_state=self.random_state).fit(
            X_train, y_train
        )
        logistic = LogisticRegression(C=0.01, max_iter=200)
        self.weights_ = make_pipeline(StandardScaler(), logistic).fit(self._said(X_held), y_held)
        self.classes_ = self.model_.classes_
        return self

    def _said(self, X: ArrayLike) -> NDArray[np.float64]:
        """log p_r(x|c) less its mean over classes, of all blocks side by side, (n, R L)."""
        parts = []
        for columns, mixture in zip(self.model_.block_indices_, self.model_.blocks_, strict=True):
            block = copy(self.model_)
            block.block_indices_, block.blocks_ = [columns], [mixture]
            log_density = block.class_log_density(X)
            parts.append(log_density - log_density.mean(axis=1, keepdims=True))
        return np.concatenate(parts, axis=1)

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """log p(c|x), shape (n, L)."""
        return self.weights_.predict_log_proba(self._said(X))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """p(c|x), shape (n, L)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of largest posterior, shape (n,)."""
        return self.classes_[self.predict_log_proba(X).argmax(axis=1)]


STRENGTHS = (0.0, 0.03, 0.1, 0.3, np.inf)
"""Candidate strengths of discriminative training; infinity keeps the mixtures after EM."""

FEW_ROWS = 1000
"""Fewer are held out a fifth after the other, more once."""

SHARE_OF_TEMPERATURE = 0.03
"""The least share of the rows that the temperature is fitted on: one number needs no tenth of many."""


class ChosenDiscriminative(ClassifierMixin, BaseEstimator):
    """`DiscriminativePSKEMClassifier` with the strength of least log-loss on rows held out, then fitted once more on all.

    Parameters
    ----------
    choose_mixture : bool, default=True
        Whether components, ridge and blocks are those that `PSKEMClassifierCV` chooses, or the defaults.
    strengths : sequence of float
    random_state : int or None, default=None
    """

    def __init__(
        self,
        *,
        choose_mixture: bool = True,
        strengths: tuple[float, ...] = STRENGTHS,
        random_state: int | None = None,
    ) -> None:
        self.choose_mixture = choose_mixture
        self.strengths = strengths
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> ChosenDiscriminative:
        """Choose, then train; `X` of shape (n, M), `y` of shape (n,)."""
        chosen = {}
        if self.choose_mixture:
            chosen = PSKEMClassifierCV(random_state=self.random_state).fit(X, y).best_params_
        # Of four fifths of the rows, too, as many as it takes for any to be held out.
        least = ceil(LEAST_HELD_OUT / 0.8)
        chosen["validation_fraction"] = min(0.1, max(least / len(np.asarray(y)), SHARE_OF_TEMPERATURE))
        fifths = list(StratifiedKFold(5, shuffle=True, random_state=self.random_state).split(X, y))
        search = GridSearchCV(
            DiscriminativePSKEMClassifier(**chosen, random_state=self.random_state),
            {"strength": self.strengths},
            scoring="neg_log_loss",
            cv=fifths if len(np.asarray(y)) < FEW_ROWS else fifths[:1],
        )
        self.model_ = search.fit(X, y).best_estimator_
        self.classes_ = self.model_.classes_
        return self

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """log p(c|x), shape (n, L)."""
        return self.model_.predict_log_proba(X)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """p(c|x), shape (n, L)."""
        return self.model_.predict_proba(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of largest posterior, shape (n,)."""
        return self.model_.predict(X)
