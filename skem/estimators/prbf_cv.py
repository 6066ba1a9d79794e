"""Choosing lambda from the data, one for all kernels or one per pair of classes: what Titsias and Likas (2001) leave open."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from skem.engine.threads import Workers
from skem.estimators._callbacks import Progress
from skem.estimators._checking import refuse_out_of_core
from skem.estimators._choosing import ChoosingClassifier, UserRows, log_posterior
from skem.estimators._training import one_seed
from skem.estimators.prbf import SHARINGS, PRBFClassifier, check_sharings


def sharing_path(
    estimator: PRBFClassifier,
    X: ArrayLike,
    y: ArrayLike,
    sharings: Sequence[float],
    sample_weight: ArrayLike | None = None,
) -> Iterator[PRBFClassifier]:
    """Fit lambda after lambda, each from the parameters of the one before, the largest first.

    From full sharing down, since a weight that is zero stays zero.

    Parameters
    ----------
    estimator : PRBFClassifier
        Not changed; its own ``sharing`` plays no part.
    X, y, sample_weight
        As for its ``fit``.
    sharings : sequence of float
        The lambdas, in any order.

    Yields
    ------
    PRBFClassifier
        Fitted, one for each lambda.
    """
    model = clone(estimator).set_params(warm_start=True)
    for sharing in sorted(sharings, reverse=True):
        model.set_params(sharing=sharing).fit(X, y, sample_weight)
        yield copy.copy(model)


class PRBFClassifierCV(ChoosingClassifier):
    """``PRBFClassifier`` with lambda chosen on held-out rows.

    It has no ``n_init``: its estimator has. The first fit of each path takes that many starts, the others go on from it.

    Parameters
    ----------
    estimator : PRBFClassifier or None, default=None
        What to fit; None is ``PRBFClassifier()``.
    sharings : sequence of float, default=(0, 0.25, 0.5, 0.75, 1)
        The lambdas to choose from, no two alike. Along one path from the largest down each fit goes on from the one
        before, see ``sharing_path``.
    per_pair : bool, default=False
        Whether to go on to a lambda for the kernels of each class in each other class: one pair after the other, in
        order, every lambda is tried, and kept if the score gets better. That takes L (L - 1) (n_sharings - 1) more fits
        per split, each from the start of its path.
    cv : int, splitter or iterable, default=5
        As in scikit-learn; with ``StratifiedShuffleSplit(1)`` it is validation on one part of the rows.
    scoring : str, callable or None, default=None
        As in scikit-learn; the larger the better. None is the mean log posterior of the true classes: it sees more than
        the error on a few rows does.
    n_jobs : int or None, default=None
        Splits side by side, in threads. None is one, -1 one per core.
    random_state : int, RandomState instance or None, default=None
        Of the start of every fit; None leaves it to the estimator's own.

    Attributes
    ----------
    sharing_ : float or ndarray of shape (n_classes, n_classes)
        The lambda that was chosen.
    best_score_ : float
        Mean score of it over splits.
    scores_ : ndarray of shape (n_sharings, n_splits)
        Score of each of ``sharings``, in the order given; NaN where it cannot be fitted.
    best_estimator_ : PRBFClassifier
        Fitted to all rows along the same path, as far as ``sharing_``.
    classes_, class_prior_ : ndarray of shape (n_classes,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Raises
    ------
    ValueError
        From ``fit``: no lambda, one given twice, or none that can be fitted in every split; with ``per_pair`` a class that a
        split does not train on; beside what ``PRBFClassifier`` refuses.

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
        "n_jobs": [Integral, None],
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

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, progress: Progress) -> None:
        check_sharings(self.sharings)
        refuse_out_of_core(self, X)
        estimator = PRBFClassifier() if self.estimator is None else clone(self.estimator)
        estimator.set_params(random_state=one_seed(self.random_state, estimator.random_state))
        # What can be refused is refused here, not in the middle of a split.
        first = clone(estimator).set_params(sharing=max(self.sharings)).fit(X, y, sample_weight)
        rows = UserRows.of(X, y, sample_weight)
        splits = list(check_cv(self.cv, rows.y, classifier=True).split(rows.X, rows.y))
        if self.per_pair:
            _refuse_missing_classes(rows, [train for train, _ in splits], first.classes_)
        scorer = log_posterior if self.scoring is None else check_scoring(estimator, scoring=self.scoring)

        errors: list[ValueError] = []

        def path(number: int) -> tuple[PRBFClassifier | None, list[float]]:
            train, test = (rows.take(indices) for indices in splits[number])
            models: list[PRBFClassifier] = []
            with progress.task("split", number):
                try:
                    models.extend(sharing_path(estimator, train.X, train.y, self.sharings, train.weights))
                except ValueError as error:
                    errors.append(error)
            scores = [test.score(scorer, model) for model in models]
            return models[0] if models else None, scores + [np.nan] * (len(self.sharings) - len(models))

        with Workers(self.n_jobs) as workers:
            starts, columns = zip(*workers.map(path, range(len(splits))), strict=True)
            order = np.argsort(np.argsort(-np.asarray(self.sharings, dtype=float)))
            self.scores_ = np.transpose(columns)[order]
            means = self.scores_.mean(axis=1)
            if np.isnan(means).all():
                raise ValueError(
                    f"none of the {len(means)} sharings can be fitted in every split: {min(map(str, errors))}"
                )
            self.sharing_: float | np.ndarray = float(self.sharings[int(np.nanargmax(means))])
            self.best_score_ = float(np.nanmax(means))

            def mean_score(sharing: np.ndarray) -> float:
                def score(r: int) -> float:
                    train, test = (rows.take(indices) for indices in splits[r])
                    model = copy.copy(starts[r]).set_params(sharing=sharing)
                    return test.score(scorer, model.fit(train.X, train.y, train.weights))

                try:
                    return float(np.mean(workers.map(score, range(len(splits)))))
                except ValueError:  # as a single lambda that cannot be fitted
                    return np.nan

            if self.per_pair:
                self._refine(mean_score, len(first.classes_))

        if isinstance(self.sharing_, float):
            kept = [sharing for sharing in self.sharings if sharing >= self.sharing_]
            *_, self.best_estimator_ = sharing_path(estimator, X, y, kept, sample_weight)
        else:
            first.set_params(sharing=self.sharing_, warm_start=True)
            self.best_estimator_ = first.fit(X, y, sample_weight)
        self.best_estimator_.set_params(warm_start=estimator.warm_start)

    def _refine(self, mean_score: Callable[[np.ndarray], float], n_classes: int) -> None:
        """From one lambda to one for each pair of classes, as long as the score gets better."""
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


def _refuse_missing_classes(rows: UserRows, trained_on: Sequence[np.ndarray], classes: np.ndarray) -> None:
    for split, indices in enumerate(trained_on):
        train = rows.take(indices)
        labels = train.y if train.weights is None else train.y[train.weights > 0]
        missing = np.setdiff1d(classes, labels).tolist()
        if missing:
            raise ValueError(
                f"per_pair: the rows of split {split} train without class {missing[0]!r}, and lambda would have "
                "another shape: give cv stratified splits, or fewer of them"
            )
