"""Gaussian mixtures of scikit-learn as a classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.mixture import GaussianMixture
from sklearn.utils.validation import check_X_y


class GaussianMixtureClassifier(ClassifierMixin, BaseEstimator):
    """One scikit-learn Gaussian mixture of full covariance per class, and Bayes' rule.

    A class with fewer samples than ``n_components`` gets as many components as it has samples. ``reg_covar`` is in squared
    input units; less overfits images. The ``class_prior`` is "uniform" or "empirical".
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
        """Fit one mixture per class; `X` of shape (n, M), `y` of shape (n,)."""
        X, y = map(np.asarray, check_X_y(X, y))
        self.classes_, counts = np.unique(y, return_counts=True)
        share = np.ones(len(counts)) if self.class_prior == "uniform" else counts
        self.class_prior_ = share / share.sum()
        self.mixtures_ = [
            GaussianMixture(
                min(self.n_components, count), reg_covar=self.reg_covar, random_state=self.random_state
            ).fit(X[y == label])
            for label, count in zip(self.classes_, counts, strict=True)
        ]
        return self

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log posterior log p(c|x) in nats, shape (n, L)."""
        joint = np.stack(self._joint(X), axis=1)
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """log p(x) in nats, shape (n,)."""
        return logsumexp(self._joint(X), axis=0)

    def _joint(self, X: ArrayLike) -> list[NDArray[np.float64]]:
        """log p(x, c) of each class, shape (n,)."""
        return [
            m.score_samples(X) + np.log(p) for m, p in zip(self.mixtures_, self.class_prior_, strict=True)
        ]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Posterior p(c|x), shape (n, L)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class of the largest posterior, shape (n,)."""
        return self.classes_[self.predict_log_proba(X).argmax(axis=1)]
