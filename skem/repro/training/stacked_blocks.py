"""PSKEM with a logistic regression on its blocks."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skem.estimators._options import nested
from skem.estimators.pskem import PSKEMClassifier
from skem.repro.training.gaussian_mixtures import PosteriorClassifier


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
        model = PSKEMClassifier(**nested(self.params or {}), random_state=self.random_state)
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
