"""The support vector machines of `sklearn.svm.SVC`, solved and evaluated by matrix products.

libsvm, which `SVC` calls, computes one entry of the kernel matrix at a time; most of its time goes into predictions.
Its solver takes millions of steps where classes overlap, the kernel is linear and C is large.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
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


class _OneAgainstOne(ClassifierMixin, BaseEstimator):
    """A machine for every pair of classes; each has a vote."""

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


class KernelSVC(_OneAgainstOne):
    """`sklearn.svm.SVC`, given the kernel of each pair of classes as a matrix where that is faster.

    The solver and its tolerance are libsvm's, and the solution is that of `SVC` but for the rounding of the kernel.
    Memory is that of the kernel of the two largest classes, in float64, twice.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0
        As of `SVC`; the kernel is "poly" or "rbf", gamma a number or "scale".

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
        if self.kernel not in ("poly", "rbf"):
            raise ValueError(f'kernel must be "poly" or "rbf", got {self.kernel!r}')
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
        kernel = self._kernel(self._factors(X)[0], self._factors(self.support_vectors_)[1])
        return kernel @ self.dual_coef_ + self.intercept_

    def _factors(self, X: Rows) -> tuple[Rows, Rows]:
        """What is multiplied, as the left and as the right factor, to give the argument of the kernel."""
        ones = np.ones((len(X), 1))
        if self.kernel == "poly":  # gamma x'z + coef0
            return np.hstack([self._gamma * X, self.coef0 * ones]), np.hstack([X, ones])
        # -gamma |x - z|^2
        squares = -self._gamma * np.einsum("ij,ij->i", X, X)[:, None]
        return np.hstack([2 * self._gamma * X, squares, ones]), np.hstack([X, ones, squares])

    def _kernel(self, left: Rows, right: Rows, out: Rows | None = None) -> Rows:
        """Kernel of factors, shape (n, m)."""
        kernel = np.matmul(left, right.T, out=out)
        if self.kernel == "poly":
            return np.power(kernel, self.degree, out=kernel)
        return np.exp(np.minimum(kernel, 0, out=kernel), out=kernel)


class LinearMachines(_OneAgainstOne):
    """`sklearn.svm.SVC` with a linear kernel, by an interior-point method.

    Each pair of classes is the same quadratic programme as libsvm's, solved further: to a duality gap of 1e-6 of the
    objective, in some twenty steps of n M^2 operations (Ferris and Munson 2002, SIAM J. Optim. 13, 783-804). libsvm
    solves those that rounding keeps from there: features far from unit variance and a large C.

    Parameters
    ----------
    C : float, default=1.0
        The largest weight of a row.

    Attributes
    ----------
    classes_ : ndarray of shape (L,)
    coef_, intercept_ : ndarray of shape (L (L - 1) / 2, M) and (L (L - 1) / 2,)
    """

    def __init__(self, *, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: ArrayLike, y: ArrayLike) -> LinearMachines:
        """Fit one machine per pair of classes; `X` of shape (n, M), `y` of shape (n,), two classes or more."""
        if self.C <= 0:
            raise ValueError(f"C must be positive, got {self.C!r}")
        X, rows, pairs = self._checked(X, y)
        fits = []
        for i, j in pairs:
            both, side = X[np.concatenate([rows[i], rows[j]])], _sides(rows[i], rows[j])
            try:
                with np.errstate(divide="raise", invalid="raise", over="raise"):
                    fits.append(_separate(both, side, self.C))
            except (FloatingPointError, np.linalg.LinAlgError):
                machine = SVC(kernel="linear", C=self.C, cache_size=CACHE).fit(both, side)
                fits.append(np.append(machine.coef_, machine.intercept_))
        self.coef_, self.intercept_ = np.array([w[:-1] for w in fits]), np.array([w[-1] for w in fits])
        return self

    def _decisions(self, X: Rows) -> Rows:
        return X @ self.coef_.T + self.intercept_


def _sides(first: Indices, second: Indices) -> Rows:
    return np.repeat([-1.0, 1.0], [len(first), len(second)])


def _separate(X: Rows, y: Rows, C: float) -> Rows:
    """Weights and intercept, shape (M + 1,), that minimise |w|^2 / 2 + C sum_i max(0, 1 - y_i (w'x_i + b)).

    Mehrotra's predictor and corrector on the dual, max sum(a) - |X'(ya)|^2 / 2 with 0 <= a <= C and y'a = 0. With
    multipliers s of a >= 0 and t of a <= C, which are what a margin exceeds 1 by and falls short of 1 by,

        y (Xw + b) - 1 = s - t,    a s = 0,    (C - a) t = 0.

    Raises
    ------
    FloatingPointError
        If sixty steps are not enough.
    """
    A = np.hstack([X, np.ones((len(X), 1))])
    prior = np.append(np.ones(X.shape[1]), 0.0)  # the intercept is free
    a, s, t, b = np.full(len(X), C / 2), np.ones(len(X)), np.ones(len(X)), 0.0
    for _ in range(60):
        rest = C - a
        w = np.append(X.T @ (y * a), b)
        margins = y * (A @ w)
        residual, balance = margins - 1 - s + t, float(y @ a)
        gap = a @ s + rest @ t
        primal = w[:-1] @ w[:-1] / 2 + C * np.maximum(1 - margins, 0).sum()
        if gap <= 1e-6 * primal and max(np.abs(residual).max(), abs(balance) / C) <= 1e-6:
            break
        D = 1 / (s / a + t / rest)
        factor = cho_factor(np.diag(prior) + A.T @ (D[:, None] * A))

        def direction(low: Rows, high: Rows) -> tuple[Rows, Rows, Rows, float]:
            """The step after which, to first order, a s is larger by low and (C - a) t by high."""
            g = low / a - high / rest - residual  # noqa: B023
            right = A.T @ (D * y * g)  # noqa: B023
            right[-1] += balance  # noqa: B023
            step = cho_solve(factor, right)  # noqa: B023
            da = D * (g - y * (A @ step))  # noqa: B023
            return da, (low - s * da) / a, (high + t * da) / rest, step[-1]  # noqa: B023

        da, ds, dt, db = direction(-a * s, -rest * t)
        length = _longest((a, da), (rest, -da), (s, ds), (t, dt))
        reached = (a + length * da) @ (s + length * ds) + (rest - length * da) @ (t + length * dt)
        aim = gap / (2 * len(X)) * (reached / gap) ** 3
        da, ds, dt, db = direction(aim - a * s - da * ds, aim - rest * t + da * dt)
        length = min(1.0, 0.995 * _longest((a, da), (rest, -da), (s, ds), (t, dt)))
        a, s, t, b = a + length * da, s + length * ds, t + length * dt, b + length * db
    else:
        raise FloatingPointError("no convergence in sixty steps")
    # The hinges bend where y - Xw is b: to the left of the best b are as many bends as rows of class +1. Where it is
    # not unique, the middle is taken, as in libsvm.
    above = int((y > 0).sum())
    w[-1] = np.sort(y - X @ w[:-1])[above - 1 : above + 1].mean()
    return w


def _longest(*lines: tuple[Rows, Rows]) -> float:
    """How far all may go, each from its value in its direction, before one is zero; at most 1 / 0.995."""
    return min(1 / 0.995, *(float(np.min(-x[d < 0] / d[d < 0], initial=np.inf)) for x, d in lines))
