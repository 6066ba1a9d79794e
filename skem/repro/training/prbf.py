"""lambda-PRBFs of several lambda (Titsias and Likas 2001): the average of their densities, and the choice of one of them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import check_scoring

from skem.estimators._held_out import Data, quiet
from skem.estimators._training import one_seed
from skem.estimators.prbf import PRBFClassifier

SHARINGS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The lambdas of Titsias and Likas (2001), section IV."""

LEAST = float(np.log(np.finfo(np.float64).eps))
"""Lower bound of a log posterior, in nats: without it one sample could outweigh all others."""


def log_posterior(model: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Mean log posterior of the true classes, in nats. A class that the model was not trained on has `LEAST`."""
    y = np.asarray(y)
    known = np.isin(y, model.classes_)
    codes = np.searchsorted(model.classes_, y).clip(max=len(model.classes_) - 1)
    values = np.take_along_axis(model.predict_log_proba(X), codes[:, None], axis=1)[:, 0]
    return float(np.average(np.where(known, values, LEAST).clip(min=LEAST)))


class PRBFEnsemble(ClassifierMixin, BaseEstimator):
    """Average over lambda of class densities: p(x|C_k) = 1/n sum_i p(x|C_k, lambda_i) (section III-B, eq. 38).

    ``estimators`` are fitted to the same samples.
    """

    def __init__(self, estimators: Sequence[PRBFClassifier]) -> None:
        self.estimators = estimators
        self.classes_ = estimators[0].classes_

    def _joint(self, X: ArrayLike) -> NDArray[np.float64]:
        densities = [model.class_log_density(X) for model in self.estimators]
        average = logsumexp(densities, axis=0) - np.log(len(densities))
        return average + self.estimators[0]._log_prior()

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        return np.exp(log_softmax(self._joint(X), axis=1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        return self.classes_[self._joint(X).argmax(axis=1)]


def sharing_path(
    estimator: PRBFClassifier, X: ArrayLike, y: ArrayLike, sharings: Sequence[float]
) -> Iterator[PRBFClassifier]:
    """Yield a fitted model for each lambda, in decreasing order, since a weight of zero stays zero.

    Each fit continues from the parameters of the last one.
    """
    model = clone(estimator).set_params(warm_start=True)
    for sharing in sorted(sharings, reverse=True):
        model.set_params(sharing=sharing).fit(X, y)
        yield copy.copy(model)


class PRBFClassifierCV(ClassifierMixin, BaseEstimator):
    """``PRBFClassifier`` with lambda chosen on held-out samples, which the paper leaves open.

    Parameters
    ----------
    estimator : PRBFClassifier
    sharings : sequence of float
        Candidates, which each split fits along a path, see `sharing_path`.
    per_pair : bool
        Select a lambda for each pair of classes: each candidate for one pair after another, kept if the score rises.
    cv : int, splitter or iterable
    scoring : str, callable or None
        None is the mean log posterior of the true classes.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    sharing_ : float or ndarray of shape (n_classes, n_classes)
    best_score_ : float
    scores_ : ndarray of shape (n_sharings, n_splits)
    best_estimator_ : PRBFClassifier
        Model with ``sharing_``, fitted to all samples along the same path.
    """

    def __init__(
        self,
        estimator: PRBFClassifier,
        *,
        sharings: Sequence[float] = SHARINGS,
        per_pair: bool = False,
        cv: Any = 5,
        scoring: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.sharings = sharings
        self.per_pair = per_pair
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> PRBFClassifierCV:
        seed = one_seed(self.random_state, self.estimator.random_state)
        estimator = clone(self.estimator).set_params(random_state=seed)
        splits = list(Data.labelled(X, y, None).splits(self.cv))
        scorer = log_posterior if self.scoring is None else check_scoring(estimator, scoring=self.scoring)
        with quiet():
            paths = [list(sharing_path(estimator, train.X, train.y, self.sharings)) for train, _ in splits]
            columns = [
                [test.score(scorer, model) for model in path]
                for path, (_, test) in zip(paths, splits, strict=True)
            ]
            place_in_path = np.argsort(np.argsort(-np.asarray(self.sharings, dtype=float)))
            self.scores_ = np.transpose(columns)[place_in_path]
            means = self.scores_.mean(axis=1)
            self.sharing_: float | NDArray[np.float64] = float(self.sharings[int(np.argmax(means))])
            self.best_score_ = float(means.max())
            if self.per_pair:
                self._refine([path[0] for path in paths], splits, scorer)
        if isinstance(self.sharing_, float):
            kept = [sharing for sharing in self.sharings if sharing >= self.sharing_]
            *_, self.best_estimator_ = sharing_path(estimator, X, y, kept)
        else:
            first = clone(estimator).set_params(sharing=max(self.sharings)).fit(X, y)
            self.best_estimator_ = first.set_params(sharing=self.sharing_, warm_start=True).fit(X, y)
        self.best_estimator_.set_params(warm_start=False)
        self.classes_ = self.best_estimator_.classes_
        return self

    def _refine(self, firsts: list[PRBFClassifier], splits: list[tuple[Data, Data]], scorer: Any) -> None:
        """Choose a lambda for each pair of classes, as long as the score rises."""

        def mean_score(sharing: NDArray[np.float64]) -> float:
            models = [copy.copy(first).set_params(sharing=sharing) for first in firsts]
            return float(
                np.mean(
                    [
                        test.score(scorer, model.fit(train.X, train.y))
                        for model, (train, test) in zip(models, splits, strict=True)
                    ]
                )
            )

        off_diagonal = ~np.eye(len(firsts[0].classes_), dtype=bool)
        matrix = np.where(off_diagonal, self.sharing_, 1.0)
        for g, c in zip(*np.nonzero(off_diagonal), strict=True):
            for sharing in self.sharings:
                if sharing == matrix[g, c]:
                    continue
                candidate = matrix.copy()
                candidate[g, c] = sharing
                if (score := mean_score(candidate)) > self.best_score_:
                    self.best_score_, matrix = score, candidate
        self.sharing_ = matrix

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        return self.best_estimator_.predict_proba(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        return self.best_estimator_.predict(X)
