"""Choice of a model by its score on held-out samples: splits, the score, and candidates that cannot be fitted."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import column_or_1d, indexable

from skem.estimators._checking import check_weights, refuse_missing_labels
from skem.estimators._sklearn import safe_indexing

LEAST_PER_CLASS = 2
"""Training samples that folds leave of each class: estimators that hold out samples themselves need two."""


class NothingToChooseError(ValueError):
    """Each class has one sample, or no candidate can be fitted in every split."""


class Data(NamedTuple):
    """Samples of any type that scikit-learn takes, their labels and their weights: the arguments of ``fit``."""

    X: Any
    y: Any = None
    sample_weight: Any = None

    @classmethod
    def labelled(cls, X: Any, y: Any, sample_weight: ArrayLike | None) -> Data:
        X, y = indexable(X, y)
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        refuse_missing_labels(y)
        return cls(X, column_or_1d(y), weights)

    def take(self, indices: np.ndarray) -> Data:
        return Data(*(None if part is None else safe_indexing(part, indices) for part in self))

    def weighted(self) -> Data:
        """The samples that have a weight."""
        w = self.sample_weight
        return self if w is None or w.all() else self.take(np.flatnonzero(w))

    def splits(self, cv: Any) -> Iterator[tuple[Data, Data]]:
        """Yield the training and the test samples of each split by ``cv``, an int, splitter or iterable.

        Stratified folds hold out no class of which they would leave fewer than two training samples, or fewer than one if they
        would leave two of no class: those few samples are for training in every split.
        """
        folds = check_cv(cv, self.y, classifier=True)
        if isinstance(folds, StratifiedKFold):
            splits = self._stratified(folds)
        else:
            splits = folds.split(self.X, self.y)
        for train, test in splits:
            yield self.take(train), self.take(test)

    def _stratified(self, folds: StratifiedKFold) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        _, codes = np.unique(self.y, return_inverse=True)
        used = None if self.sample_weight is None else self.sample_weight > 0
        counts = np.bincount(codes, weights=used)
        left = counts - np.ceil(counts / folds.n_splits)
        rare = left < min(LEAST_PER_CLASS, left.max())
        common = np.flatnonzero(~rare[codes] | rare.all())
        kept = np.setdiff1d(np.arange(len(codes)), common)
        with warnings.catch_warnings():
            # A class with fewer samples than folds is in the test samples of some folds only.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            pairs = list(folds.split(common, self.y[common]))
        for train, test in pairs:
            yield np.append(common[train], kept), common[test]


def held_out_splits(data: Data, cv: Any, seed: int, n_folds: Mapping[int, int]) -> list[tuple[Data, Data]]:
    """Splits of ``cv``; of None, as many of five stratified folds as ``n_folds`` has below a number of samples, else one."""
    if cv is not None:
        splits = [(train, test) for train, test in data.splits(cv) if len(test.y)]
        if not any(test.sample_weight is None or np.any(test.sample_weight) for _, test in splits):
            raise ValueError("cv holds out no sample with a weight: give splits with test samples")
        return splits
    most = int(np.unique(data.y, return_counts=True)[1].max())
    if most < 2:
        raise NothingToChooseError(
            f"{len(data.y)} samples, one of each class: none can be held out; give more samples, or fit one model without a search"
        )
    folds = StratifiedKFold(max(2, min(5, most)), shuffle=True, random_state=seed)
    used = next((number for limit, number in n_folds.items() if len(data.y) < limit), 1)
    return list(islice(data.splits(folds), used))


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings of candidates: short fits do not converge, and small classes have few components.

    Filters of warnings are those of all threads, so this surrounds the threads.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "n_components=.* distinct training samples", UserWarning)
        yield


@contextmanager
def collecting(errors: list[ValueError]) -> Iterator[None]:
    """Append the error of a candidate that cannot be fitted to ``errors``; the error of a callback is raised."""
    try:
        yield
    except ValueError as error:
        if hasattr(error, "of_callback"):
            raise
        errors.append(error)


def none_fitted(problem: str, errors: list[ValueError]) -> ValueError:
    """The error to raise if no candidate can be fitted."""
    # The order of the errors depends on threads.
    return NothingToChooseError(f"none of the {problem}; one of the errors: {min(map(str, errors))}")
