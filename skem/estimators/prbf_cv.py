"""Choice of lambda on held-out samples, which Titsias and Likas (2001) leave open: for all components or each pair of classes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import check_scoring

from skem.engine.threads import Workers
from skem.estimators._callbacks import Progress
from skem.estimators._checking import integers, refuse_out_of_core
from skem.estimators._docstrings import documented
from skem.estimators._held_out import Data, collecting, log_posterior, none_fitted, quiet
from skem.estimators._search import Search
from skem.estimators.prbf import SHARINGS, PRBFClassifier, check_sharings


def sharing_path(
    estimator: PRBFClassifier,
    X: ArrayLike,
    y: ArrayLike,
    sharings: Sequence[float],
    sample_weight: ArrayLike | None = None,
) -> Iterator[PRBFClassifier]:
    """Fit a model for each lambda, in decreasing order. Each fit continues from the parameters of the last one.

    The path begins with the most sharing, since a weight of zero stays zero.

    Parameters
    ----------
    estimator : PRBFClassifier
        Model to clone; ``sharings`` replace its ``sharing``.
    X, y, sample_weight
        Arguments of its ``fit``.
    sharings : sequence of float
        Lambdas in any order.

    Yields
    ------
    PRBFClassifier
        Fitted model, one for each lambda.
    """
    model = clone(estimator).set_params(warm_start=True)
    for sharing in sorted(sharings, reverse=True):
        model.set_params(sharing=sharing).fit(X, y, sample_weight)
        yield copy.copy(model)


@documented
class PRBFClassifierCV(Search, ClassifierMixin, BaseEstimator, model=PRBFClassifier):
    """``PRBFClassifier`` with lambda chosen on held-out samples.

    Parameters
    ----------
    estimator : PRBFClassifier or None
        Model to fit; None is ``PRBFClassifier()``. Its ``n_init`` is the number of initialisations of the first fit of each
        path; the others start from the fit before.
    sharings : sequence of float
        Distinct candidates for lambda. Each split fits them along a path, see ``sharing_path``.
    per_pair : bool
        Select a separate lambda for each pair of classes. The search tries each candidate for one pair after another, and
        keeps it if the score rises. This takes L (L - 1) (n_sharings - 1) more fits per split.
    cv : int, splitter or iterable
        Splits as in scikit-learn; ``StratifiedShuffleSplit(1)`` holds out samples once. A number means
        stratified folds, which do not hold out a class of one or two samples.
    scoring : str, callable or None
        Score to maximise, as in scikit-learn. None is the mean log posterior of the true classes, which has a finer resolution
        than the error of a few samples.
    random_state
        None uses the random state of the estimator.

    Attributes
    ----------
    sharing_ : float or ndarray of shape (n_classes, n_classes)
        Selected lambda.
    best_score_ : float
        Mean score of ``sharing_`` over the splits.
    scores_ : ndarray of shape (n_sharings, n_splits)
        Score of each of ``sharings``, in their order; NaN if it cannot be fitted.
    best_estimator_ : PRBFClassifier
        Model with ``sharing_``, fitted to all samples along the same path.
    classes_, class_prior_, n_features_in_

    Raises
    ------
    ValueError
        From ``fit``: no lambda, a repeated one, or none that can be fitted in every split; with ``per_pair`` a split whose
        training samples lack a class; beside the errors of ``PRBFClassifier``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from skem import PRBFClassifier, PRBFClassifierCV
    >>> X, y = load_wine(return_X_y=True)
    >>> PRBFClassifierCV(PRBFClassifier(6, random_state=0)).fit(X, y).scores_.shape
    (5, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [PRBFClassifier, None],
        "sharings": ["array-like"],
        "per_pair": ["boolean"],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "n_jobs": [integers(), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: PRBFClassifier | None = None,
        *,
        sharings: Sequence[float] = SHARINGS,
        per_pair: bool = False,
        cv: Any = 5,
        scoring: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.sharings = sharings
        self.per_pair = per_pair
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any, progress: Progress) -> None:
        check_sharings(self.sharings)
        refuse_out_of_core(self, X)
        estimator = self._base()
        # Invalid samples raise here, not in the middle of a split.
        first = clone(estimator).set_params(sharing=max(self.sharings)).fit(X, y, sample_weight)
        data = Data.labelled(X, y, sample_weight)
        splits = list(data.splits(self.cv))
        scorer = log_posterior if self.scoring is None else check_scoring(estimator, scoring=self.scoring)
        errors: list[ValueError] = []

        def path(number: int) -> tuple[PRBFClassifier | None, list[float]]:
            train, test = splits[number]
            models: list[PRBFClassifier] = []
            with progress.task("split", number), collecting(errors):
                models.extend(sharing_path(estimator, train.X, train.y, self.sharings, train.sample_weight))
            scores = [test.score(scorer, model) for model in models]
            return models[0] if models else None, scores + [np.nan] * (len(self.sharings) - len(models))

        with Workers(self.n_jobs) as workers, quiet():
            firsts, columns = zip(*workers.map(path, range(len(splits))), strict=True)
            place_in_path = np.argsort(np.argsort(-np.asarray(self.sharings, dtype=float)))
            self.scores_ = np.transpose(columns)[place_in_path]
            means = self.scores_.mean(axis=1)
            if np.isnan(means).all():
                raise none_fitted(f"{len(means)} sharings can be fitted in every split", errors)
            self.sharing_: float | np.ndarray = float(self.sharings[int(np.nanargmax(means))])
            self.best_score_ = float(np.nanmax(means))

            def mean_score(sharing: np.ndarray) -> float:
                def score(number: int) -> float:
                    train, test = splits[number]
                    model = copy.copy(firsts[number]).set_params(sharing=sharing)
                    unfitted: list[ValueError] = []
                    with collecting(unfitted):
                        model.fit(*train)
                    return np.nan if unfitted else test.score(scorer, model)

                return float(np.mean(workers.map(score, range(len(splits)))))

            if self.per_pair:
                for number, model in enumerate(firsts):
                    _refuse_missing_class(number, first.classes_, model.classes_)
                self._refine(mean_score, len(first.classes_))

        if isinstance(self.sharing_, float):
            kept = [sharing for sharing in self.sharings if sharing >= self.sharing_]
            *_, self.best_estimator_ = sharing_path(estimator, X, y, kept, sample_weight)
        else:
            first.set_params(sharing=self.sharing_, warm_start=True)
            self.best_estimator_ = first.fit(X, y, sample_weight)
        self.best_estimator_.set_params(warm_start=estimator.warm_start)

    def _refine(self, mean_score: Callable[[np.ndarray], float], n_classes: int) -> None:
        """Choose a lambda for each pair of classes, as long as the score rises."""
        off_diagonal = ~np.eye(n_classes, dtype=bool)
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


def _refuse_missing_class(split: int, classes: np.ndarray, of_training: np.ndarray) -> None:
    for label in np.setdiff1d(classes, of_training).tolist():
        raise ValueError(
            f"per_pair: the training samples of split {split} lack class {label!r}, so lambda would have another shape; "
            "give cv stratified splits, or fewer of them"
        )
