"""The support vector machines of `sklearn.svm.SVC`, with kernels that are matrix products.

libsvm, which `SVC` calls, computes one entry of the kernel matrix at a time; most of its time goes into predictions.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils import gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

Rows = NDArray[np.float64]
Indices = NDArray[np.intp]

CHUNK = 1000  # rows predicted at a time
CACHE = 500  # megabytes that libsvm may use for its own
BY_MATRIX = 40
"""Features from which on the whole kernel takes less time than the entries that libsvm asks for: with 7 twice as much,
with 60 as much, with 96 a third."""


class KernelSVC(ClassifierMixin, BaseEstimator):
    """`sklearn.svm.SVC`, given the kernel of each pair of classes as a matrix where that is faster.

    The solver and its tolerance are libsvm's, and the solution is that of `SVC` but for the rounding of the kernel.
    Memory is that of the kernel of the two largest classes, in float64, twice.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0
        As of `SVC`; the kernel is "linear", "poly" or "rbf", gamma a number or "scale".

    Attributes
    ----------
    classes_ : ndarray of shape (L,)
    support_vectors_ : ndarray of shape (S, M)
        Rows that the machine of any pair of classes needs.
    dual_coef_ : ndarray of shape (S, L (L - 1) / 2)
        Their weights in each machine.
    intercept_ : ndarray of shape (L (L - 1) / 2,)
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def fit(self, X: ArrayLike, y: ArrayLike) -> KernelSVC:
        """Fit one machine per pair of classes; `X` of shape (n, M), `y` of shape (n,), two classes or more."""
        if self.kernel not in ("linear", "poly", "rbf"):
            raise ValueError(f'kernel must be "linear", "poly" or "rbf", got {self.kernel!r}')
        X, rows, pairs = self._checked(X, y)
        scale = 1.0 / (X.shape[1] * X.var()) if X.var() else 1.0  # as `SVC` has it
        self._gamma = float(scale if self.gamma == "scale" else self.gamma)
        weights, self.intercept_ = np.zeros((len(X), len(pairs))), np.empty(len(pairs))
        fits = self._by_matrix if X.shape[1] >= BY_MATRIX else self._by_entry
        for p, ((i, j), machine) in enumerate(zip(pairs, fits(X, rows, pairs), strict=True)):
            weights[np.concatenate([rows[i], rows[j]])[machine.support_], p] = machine.dual_coef_[0]
            self.intercept_[p] = machine.intercept_[0]
        support = np.flatnonzero(weights.any(axis=1))
        self.support_vectors_, self.dual_coef_ = X[support], weights[support]
        return self

    def decision_function(self, X: ArrayLike) -> Rows:
        """What each machine says, shape (n, L (L - 1) / 2): the second class of its pair from zero on."""
        check_is_fitted(self)
        X = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
        return np.concatenate([self._decisions(X[rows]) for rows in gen_batches(len(X), CHUNK)])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class with most votes, the first of equals, shape (n,)."""
        decisions = self.decision_function(X)
        n_classes = len(self.classes_)
        pairs = np.array(list(combinations(range(n_classes), 2)))
        winners = np.where(decisions < 0, pairs[:, 0], pairs[:, 1])
        return self.classes_[np.stack([(winners == c).sum(axis=1) for c in range(n_classes)]).argmax(axis=0)]

    def _checked(self, X: ArrayLike, y: ArrayLike) -> tuple[Rows, list[Indices], list[tuple[int, int]]]:
        """The training rows, those of each class, and the pairs of classes."""
        X, y = map(np.asarray, validate_data(self, X, y, dtype=np.float64))
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes, all rows are of class {self.classes_[0]!r}"
            )
        rows = [np.flatnonzero(y == label) for label in self.classes_]
        return X, rows, list(combinations(range(len(rows)), 2))

    def _by_entry(self, X: Rows, rows: list[Indices], pairs: list[tuple[int, int]]) -> Iterator[SVC]:
        params = self.get_params() | {"gamma": self._gamma, "cache_size": CACHE}
        for i, j in pairs:
            yield SVC(**params).fit(X[np.concatenate([rows[i], rows[j]])], _sides(rows[i], rows[j]))

    def _by_matrix(self, X: Rows, rows: list[Indices], pairs: list[tuple[int, int]]) -> Iterator[SVC]:
        left, right = self._factors(X)
        # One buffer for all: fresh memory for each would take as long as the products.
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
        """What is multiplied, as the left and as the right factor, to give the argument of the kernel."""
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
