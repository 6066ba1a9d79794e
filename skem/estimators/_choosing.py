"""Models that choose among others on held-out rows: those rows, their scores, and the answers of what was chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing, column_or_1d, indexable
from sklearn.utils.validation import check_is_fitted

from skem.estimators._best_estimator import BestEstimator
from skem.estimators._callbacks import CallbackSupportMixin, Progress, with_callbacks
from skem.estimators._checking import CheckedParameters, check_weights, mean_one, refuse_missing_labels
from skem.estimators._densities import Posteriors
from skem.estimators._units import all_or_nothing

LEAST = float(np.log(np.finfo(np.float64).eps))
"""Where a log posterior is cut, so that one row does not outweigh all others."""


def log_posterior(
    model: Posteriors, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Mean log posterior of the true classes, in nats; a class the model does not know counts as impossible."""
    y = np.asarray(y)
    known = np.isin(y, model.classes_)
    codes = np.searchsorted(model.classes_, y).clip(max=len(model.classes_) - 1)
    values = np.take_along_axis(model.predict_log_proba(X), codes[:, None], axis=1)[:, 0]
    weights = None if sample_weight is None else mean_one(np.asarray(sample_weight, dtype=np.float64))
    return float(np.average(np.where(known, values, LEAST).clip(min=LEAST), weights=weights))


@dataclass(frozen=True)
class UserRows:
    """Rows of any kind that scikit-learn takes, their labels and weights."""

    X: Any
    y: np.ndarray
    weights: np.ndarray | None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: ArrayLike | None) -> UserRows:
        X, y = indexable(X, y)
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        refuse_missing_labels(y)
        return cls(X, column_or_1d(y), weights)

    def take(self, indices: np.ndarray) -> UserRows:
        return UserRows(
            _safe_indexing(self.X, indices),
            _safe_indexing(self.y, indices),
            None if self.weights is None else _safe_indexing(self.weights, indices),
        )

    def score(self, scorer: Callable[..., float], model: Posteriors) -> float:
        weights = {} if self.weights is None else {"sample_weight": self.weights}
        return scorer(model, self.X, self.y, **weights)


def _of_best(name: str) -> Any:
    """An attribute of the chosen model, which is also where it is assigned."""
    return property(
        lambda self: getattr(self.best_estimator_, name),
        lambda self, value: setattr(self.best_estimator_, name, value),
    )


class ChoosingClassifier(
    CheckedParameters, BestEstimator, CallbackSupportMixin, Posteriors, ClassifierMixin, BaseEstimator
):
    """A classifier that answers as the one that it chose, ``best_estimator_``."""

    best_estimator_: Any
    classes_, class_prior_ = _of_best("classes_"), _of_best("class_prior_")

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose on held-out rows, and fit all rows with what was chosen.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            In memory.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            For fits and scores alike.

        Returns
        -------
        self
        """
        self._validate_params()
        progress = Progress(self, None, X, y, sample_weight, parallel=True)
        with all_or_nothing(self):
            self._fit(X, y, sample_weight, progress)
            self._know_what(self.best_estimator_)
            progress.end()
        return self

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, progress: Progress) -> None:
        """Set ``best_estimator_``, and what is known of the choice."""
        raise NotImplementedError

    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """log p(x|c) of the chosen model, shape (n_samples, n_classes), in nats."""
        check_is_fitted(self)
        return self.best_estimator_.class_log_density(X)

    def predict_joint_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(x, c) of the chosen model, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        return self.best_estimator_.predict_joint_log_proba(X)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """log p(x) of the chosen model, shape (n_samples,)."""
        check_is_fitted(self)
        return self.best_estimator_.score_samples(X)

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(c|x) of the chosen model, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        return self.best_estimator_.predict_log_proba(X)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of largest posterior, shape (n_samples,)."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)
