"""The SVMs of `sklearn.svm.SVC`, with kernels that are matrix products.

`SVC` calls libsvm, which computes one entry of the kernel matrix at a time. Most of its time goes into predictions.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_X_y

Rows = NDArray[np.float64]
Indices = NDArray[np.intp]

CHUNK = 1000  # samples predicted at a time
CACHE = 500  # megabytes of kernel that libsvm may cache
BY_MATRIX = 40
"""Fewest features for which the whole kernel takes less time than libsvm's entries: twice its time with 7 features, the same
with 60, a third with 96."""


class UnitVariance(TransformerMixin, BaseEstimator):
    """Give the array of all features unit variance; with ``standardize`` each feature first."""

    def __init__(self, *, standardize: bool = True) -> None:
        self.standardize = standardize

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> UnitVariance:
        """Learn means and standard deviations; `X` of shape (n, M)."""
        self._scaler = StandardScaler(with_std=self.standardize).fit(X)
        self._deviation = float(self._scaler.transform(X).std()) or 1.0
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scaled features, shape (n, M)."""
        return self._scaler.transform(X) / self._deviation


class KernelSVC(ClassifierMixin, BaseEstimator):
    """`sklearn.svm.SVC`, given the kernel of each pair of classes as a matrix where that is faster.

    The solver and its tolerance are libsvm's, and the solution is that of `SVC` but for the rounding of the kernel.
    Memory is that of the kernel of the two largest classes, in float64, twice. Parameters are those of `SVC`; the kernel is
    "linear", "poly" or "rbf". ``dual_coef_``, of shape (S, L (L - 1) / 2), are the weights of all ``support_vectors_`` in the
    machine of each pair of classes. ``width``, a multiple of 1/M for M features, replaces ``gamma``.
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        break_ties: bool = False,
        width: float | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.break_ties = break_ties
        self.width = width

    def fit(self, X: ArrayLike, y: ArrayLike) -> KernelSVC:
        """Fit one machine per pair of classes; `X` of shape (n, M), `y` of shape (n,), two classes or more."""
        X, y = map(np.asarray, check_X_y(X, y, dtype=np.float64))
        self.classes_ = np.unique(y)
        rows = [np.flatnonzero(y == label) for label in self.classes_]
        pairs = list(combinations(range(len(rows)), 2))
        scale = 1.0 / (X.shape[1] * X.var()) if X.var() else 1.0  # gamma="scale" of `SVC`
        gamma = scale if self.gamma == "scale" else self.gamma
        self._gamma = float(gamma if self.width is None else self.width / X.shape[1])
        weights, self.intercept_ = np.zeros((len(X), len(pairs))), np.empty(len(pairs))
        fits = self._by_matrix if X.shape[1] >= BY_MATRIX else self._by_entry
        for p, ((i, j), machine) in enumerate(zip(pairs, fits(X, rows, pairs), strict=True)):
            weights[np.concatenate([rows[i], rows[j]])[machine.support_], p] = machine.dual_coef_[0]
            self.intercept_[p] = machine.intercept_[0]
        support = np.flatnonzero(weights.any(axis=1))
        self.support_vectors_, self.dual_coef_ = X[support], weights[support]
        return self

    def decision_function(self, X: ArrayLike) -> Rows:
        """Decisions as of `SVC`: of two classes (n,), positive for the second; of more, votes and margins, (n, L)."""
        pairs = self._pair_decisions(X)
        if len(self.classes_) == 2:
            return pairs[:, 0]
        return _votes(pairs, len(self.classes_))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class with most votes, shape (n,); of equals the first, or with ``break_ties`` that of the largest margins."""
        pairs, n_classes = self._pair_decisions(X), len(self.classes_)
        votes = _votes(pairs, n_classes)
        if not self.break_ties or n_classes == 2:
            votes = np.rint(votes)  # without the margins, which are less than a third
        return self.classes_[votes.argmax(axis=1)]

    def _pair_decisions(self, X: ArrayLike) -> Rows:
        """Decisions of the machines, shape (n, L (L - 1) / 2): from zero on, the second class of the pair."""
        X = np.asarray(X, dtype=np.float64)
        return np.concatenate([self._decisions(X[rows]) for rows in gen_batches(len(X), CHUNK)])

    def _by_entry(self, X: Rows, rows: list[Indices], pairs: list[tuple[int, int]]) -> Iterator[SVC]:
        params = {name: getattr(self, name) for name in ("C", "kernel", "degree", "coef0")}
        params |= {"gamma": self._gamma, "cache_size": CACHE}
        for i, j in pairs:
            yield SVC(**params).fit(X[np.concatenate([rows[i], rows[j]])], _sides(rows[i], rows[j]))

    def _by_matrix(self, X: Rows, rows: list[Indices], pairs: list[tuple[int, int]]) -> Iterator[SVC]:
        left, right = self._factors(X)
        # One buffer for all pairs: allocating memory for each takes as long as the products.
        buffer = np.empty(sum(sorted(map(len, rows))[-2:]) ** 2)
        first, within = -1, np.empty((0, 0))
        for i, j in pairs:
            if i != first:
                first, within = i, self._kernel(left[rows[i]], right[rows[i]])
            n, both = len(rows[i]), np.concatenate([rows[i], rows[j]])
            kernel = buffer[: len(both) ** 2].reshape(len(both), len(both))
            kernel[:n, :n] = within
            self._kernel(left[both], right[rows[j]], out=kernel[:, n:])
            kernel[n:, :n] = kernel[:n, n:].T
            yield SVC(kernel="precomputed", C=self.C, cache_size=CACHE).fit(kernel, _sides(rows[i], rows[j]))

    def _decisions(self, X: Rows) -> Rows:
        if self.kernel == "linear":
            return X @ (self.support_vectors_.T @ self.dual_coef_) + self.intercept_
        kernel = self._kernel(self._factors(X)[0], self._factors(self.support_vectors_)[1])
        return kernel @ self.dual_coef_ + self.intercept_

    def _factors(self, X: Rows) -> tuple[Rows, Rows]:
        """Left and right factors, whose product is the argument of the kernel."""
        if self.kernel == "linear":
            return X, X
        ones = np.ones((len(X), 1))
        if self.kernel == "poly":  # gamma x'z + coef0
            return np.hstack([self._gamma * X, self.coef0 * ones]), np.hstack([X, ones])
        # -gamma |x - z|^2
        squares = -self._gamma * np.einsum("ij,ij->i", X, X)[:, None]
        return np.hstack([2 * self._gamma * X, squares, ones]), np.hstack([X, ones, squares])

    def _kernel(self, left: Rows, right: Rows, out: Rows | None = None) -> Rows:
        """Kernel of factors, shape (n, m)."""
        kernel = np.matmul(left, right.T, out=out)
        if self.kernel == "linear":
            return kernel
        if self.kernel == "poly":
            return np.power(kernel, self.degree, out=kernel)
        return np.exp(np.minimum(kernel, 0, out=kernel), out=kernel)


def _sides(first: Indices, second: Indices) -> Rows:
    return np.repeat([-1.0, 1.0], [len(first), len(second)])


def _votes(pairs: Rows, n_classes: int) -> Rows:
    """Votes for each class plus, to order equal votes, its margins scaled to less than a third; shape (n, L), as of `SVC`."""
    votes, margins = np.zeros((2, len(pairs), n_classes))
    for decision, (i, j) in zip(pairs.T, combinations(range(n_classes), 2), strict=True):
        votes[:, i] += decision < 0
        votes[:, j] += decision >= 0
        margins[:, i] -= decision
        margins[:, j] += decision
    return votes + margins / (3 * (np.abs(margins) + 1))
