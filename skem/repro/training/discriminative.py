"""Combinations of this library's classifiers."""

from __future__ import annotations

from copy import copy
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skem.estimators._discriminative import LEAST_HELD_OUT
from skem.estimators.discriminative_pskem import DiscriminativePSKEMClassifier
from skem.estimators.pskem import PSKEMClassifier
from skem.estimators.pskem_cv import PSKEMClassifierCV
from skem.repro.training.gaussian_mixtures import PosteriorClassifier

STRENGTHS = (0.0, 0.03, 0.1, 0.3, np.inf)
"""Candidate strengths of discriminative training; infinity keeps the mixtures after EM."""

FEW_SAMPLES = 1000
"""Each fifth of fewer samples is held out in turn; of more, only the first."""

LEAST_VALIDATION_FRACTION = 0.03
"""Share of many samples that suffices for the temperature, which is one number."""


class StackedBlocks(PosteriorClassifier):
    """PSKEM (``params``), and a logistic regression on the class densities of its blocks, fitted on held-out samples."""

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
        model = PSKEMClassifier(**(self.params or {}), random_state=self.random_state)
        self.model_ = model.fit(X_train, y_train)
        logistic = LogisticRegression(C=0.01, max_iter=200)
        self.weights_ = make_pipeline(StandardScaler(), logistic).fit(self._log_densities(X_held), y_held)
        self.classes_ = self.model_.classes_
        return self

    def _log_densities(self, X: ArrayLike) -> NDArray[np.float64]:
        """log p_r(x|c) less its mean over classes, for all blocks r side by side, (n, R L)."""
        parts = []
        for columns, mixture in zip(self.model_.block_indices_, self.model_.blocks_, strict=True):
            block = copy(self.model_)
            block.block_indices_, block.blocks_ = [columns], [mixture]
            log_density = block.class_log_density(X)
            parts.append(log_density - log_density.mean(axis=1, keepdims=True))
        return np.concatenate(parts, axis=1)

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """log p(c|x), shape (n, L)."""
        return self.weights_.predict_log_proba(self._log_densities(X))


class DiscriminativeSearch(PosteriorClassifier):
    """`DiscriminativePSKEMClassifier` whose strength has the least held-out log-loss, fitted again on all samples.

    Parameters
    ----------
    choose_mixture : bool, default=True
        True for the components, covariance regularisation and blocks that `PSKEMClassifierCV` chooses; False for the defaults.
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

    def fit(self, X: ArrayLike, y: ArrayLike) -> DiscriminativeSearch:
        """Choose, then train; `X` of shape (n, M), `y` of shape (n,)."""
        n, chosen = len(np.asarray(y)), {}
        if self.choose_mixture:
            chosen = PSKEMClassifierCV(random_state=self.random_state).fit(X, y).best_params_
        # Four fifths of the samples must hold out as many as the estimator requires.
        least = max(ceil(LEAST_HELD_OUT / 0.8) / n, LEAST_VALIDATION_FRACTION)
        model = DiscriminativePSKEMClassifier(
            **chosen, validation_fraction=min(0.1, least), random_state=self.random_state
        )
        fifths = list(StratifiedKFold(5, shuffle=True, random_state=self.random_state).split(X, y))
        search = GridSearchCV(
            model,
            {"strength": self.strengths},
            scoring="neg_log_loss",
            cv=fifths if n < FEW_SAMPLES else fifths[:1],
        )
        self.model_ = search.fit(X, y).best_estimator_
        self.classes_ = self.model_.classes_
        return self

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """log p(c|x), shape (n, L)."""
        return self.model_.predict_log_proba(X)
