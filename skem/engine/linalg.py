"""Cholesky factors, whitening, and which covariances count as singular."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtri

from skem.engine import compiled

LOG_2PI = float(np.log(2.0 * np.pi))
EPS = float(np.finfo(np.float64).eps)
DIGITS = 1e3
"""A difference of two terms has three digits where it is so many times larger than the rounding of the terms."""
SINGULAR = DIGITS * EPS
"""A covariance counts as singular if a pivot, what a feature keeps of its variance once the features before it are known,
is no more than this times m times the sum of c_j^2 var_j; c_j are the coefficients of that prediction, and 1 for the feature
itself. Fewer than three digits of the inverse would be right."""
LEAST_ROUNDING = 1e-284
"""Of a variance, so that none underflows. EM with missing values makes that of a constant feature less in every pass, without end."""


def regularity(
    covariances: np.ndarray, rounding: np.ndarray | None = None, *, singular: float = SINGULAR
) -> tuple[np.ndarray, np.ndarray]:
    """Which covariances are regular, and which of them are exact to three digits.

    A matrix with a pivot lost in rounding counts as singular. A pivot is w^T P w, with w the row of the
    unit lower triangular inverse, and so is its rounding, eps w^T D^2 w for deviations D: the units of the features do
    not matter.

    Parameters
    ----------
    covariances : ndarray of shape (..., m, m)
    rounding : ndarray of shape (..., m), optional
        Rounding of the two terms that each variance is the difference of.
    singular : float
        m times this share of a variance is lost in rounding.

    Returns
    -------
    regular, exact : ndarray of bool, shape (...)
        Without ``rounding`` both are the same.
    """
    shape, m = covariances.shape[:-2], covariances.shape[-1]
    covariances = np.ascontiguousarray(covariances, dtype=np.float64).reshape(-1, m, m)
    roundings = np.zeros((len(covariances), m)) if rounding is None else rounding.reshape(-1, m)
    regular, exact = compiled.components().regularity(covariances, roundings, singular, DIGITS)
    return regular.reshape(shape), exact.reshape(shape)


def linearly_dependent(x: np.ndarray, rounding: np.ndarray) -> bool:
    """True if the features of samples (m, n) are linearly dependent but for their ``rounding`` (m,).

    The samples tell where their covariance does not: its entries are squares, which lose twice as many digits.
    """
    m, n = x.shape
    if n <= m:
        return True
    deviations = x - x.mean(axis=1, keepdims=True)
    spread = np.sqrt((deviations**2).mean(axis=1))
    spread[spread <= 4 * rounding] = 1.0
    _, values, directions = np.linalg.svd((deviations / spread[:, None]).T, full_matrices=False)
    least = 4 * (np.linalg.norm(directions[-1] * rounding / spread) + m * EPS)
    return bool(values[-1] <= least * np.sqrt(n))


def keep_regular(
    covariances: np.ndarray, regular: np.ndarray, previous: np.ndarray, raisable: np.ndarray
) -> np.ndarray:
    """The covariances that are regular, and something regular in place of the others.

    That is the previous covariance. But with a ridge, S + r I is singular in rounding only: with its diagonal raised
    until it just is not, it is taken if its likelihood is higher than that of the previous one. So the objective does
    not fall, and a covariance that was far too broad does not stay so.

    Parameters
    ----------
    covariances, previous : ndarray of shape (..., m, m)
    regular : ndarray of bool, shape (...)
    raisable : ndarray of bool, shape (...)
        Which of them have a ridge.
    """
    if regular.all():
        return covariances
    m = covariances.shape[-1]
    chosen = np.where(regular[..., None, None], covariances, previous)
    for index in map(tuple, np.argwhere(~regular & raisable)):
        scatter = covariances[index]
        raised = scatter + 4 * m * SINGULAR * np.diag(scatter.diagonal())
        if regularity(raised)[0] and _mean_log_normal(raised, scatter) > _mean_log_normal(
            previous[index], scatter
        ):
            chosen[index] = raised
    return chosen


def _mean_log_normal(P: np.ndarray, S: np.ndarray) -> float:
    """Mean of log N(x; mu, P) over rows with mean mu and covariance S, but for a constant: -(log |P| + tr(P^-1 S)) / 2."""
    return float(-0.5 * (np.linalg.slogdet(P)[1] + np.trace(np.linalg.solve(P, S))))


class Whitening(NamedTuple):
    """What makes unit normal rows of those of N(mean, L L^T), and its log-density: z = L^-1 (x - origin) - rest.

    Attributes
    ----------
    origin, rest : ndarray of shape (m, 1)
        The mean, as far as the type of x holds it, and L^-1 times what that leaves.
    inverse : ndarray of shape (m, m), or where L is diagonal (m, 1) or (1, 1)
    log_scale : float
        The logarithm of the density at the mean.
    """

    origin: np.ndarray
    rest: np.ndarray
    inverse: np.ndarray
    log_scale: float

    @classmethod
    def of(cls, mean: np.ndarray, factor: np.ndarray, penalty: float) -> Whitening:
        """With L of shape (m, m), or where it is diagonal (m, 1) or (1, 1); ``penalty`` is taken off the log-density."""
        m = len(mean)
        whole = factor.shape == (m, m)
        diagonal = np.diagonal(factor) if whole else factor[:, 0]
        inverse = dtrtri(factor, lower=1)[0] if whole else 1.0 / factor
        log_scale = -0.5 * m * LOG_2PI - float(np.log(np.broadcast_to(diagonal, m)).sum()) - penalty
        return cls(mean[:, None].copy(), np.zeros((m, 1)), np.ascontiguousarray(inverse), log_scale)

    def rounded(self, dtype: np.dtype) -> Whitening:
        """The same for x of another type."""
        origin = self.origin.astype(dtype)
        left = self.origin - origin
        rest = self.inverse @ left if self.inverse.shape[1] == len(left) else self.inverse * left
        return Whitening(origin, rest.astype(dtype), self.inverse.astype(dtype, order="C"), self.log_scale)

    def log_normal(self, x: np.ndarray) -> np.ndarray:
        """log N(x; mean, L L^T) - penalty, (n,) in float64, for x of shape (m, n) in the type asked for."""
        m, kernels, x = len(x), compiled.kernels(), np.ascontiguousarray(x)
        origin, rest = self.origin[:, 0], self.rest[:, 0]
        if self.inverse.shape == (m, m):
            squares = kernels.squared_distances(x, origin, rest, self.inverse)
        else:
            inverse = np.ascontiguousarray(np.broadcast_to(self.inverse[:, 0], m))
            squares = kernels.scaled_distances(x, origin, rest, inverse)
        return self.log_scale - 0.5 * squares.astype(np.float64)
