"""Cholesky factors, whitening, and which covariances count as singular."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri

LOG_2PI = float(np.log(2.0 * np.pi))
EPS = float(np.finfo(np.float64).eps)
DIGITS = 1e3
"""How far above the rounding of the terms it is the difference of a number has three digits."""
SINGULAR = DIGITS * EPS
"""Least share of its variance a feature must have left once the features before it are known, per feature and per square
of what those are multiplied by to foresee it; with less, fewer than three digits of the covariance's inverse are right,
and it counts as singular."""


def _regular(covariances: np.ndarray, rounding: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Which of (..., m, m) covariances are regular, and which have three digits above ``rounding``, (..., m); shape (...).

    A matrix with a pivot lost in rounding (``SINGULAR``) counts as singular. A pivot is w^T P w, with w the row of the
    unit lower triangular inverse, and so is its rounding, eps w^T D^2 w for deviations D: the units of the features do
    not matter. ``rounding`` is that of the sums which variances are the difference of.
    """
    m = covariances.shape[-1]
    try:
        factors = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        factors = np.zeros(covariances.shape)
        for index in np.ndindex(covariances.shape[:-2]):
            with suppress(np.linalg.LinAlgError):
                factors[index] = np.linalg.cholesky(covariances[index])
    variances = np.diagonal(covariances, axis1=-2, axis2=-1)
    pivots = np.diagonal(factors, axis1=-2, axis2=-1)
    # Comparisons with NaN are False, and so is infinity above infinity.
    regular = np.asarray((pivots * pivots > (m * SINGULAR) * np.abs(variances)).all(axis=-1))
    if not regular.all():
        factors = np.where(regular[..., None, None], factors, np.eye(m))
        variances = np.where(regular[..., None], variances, 1.0)

    def share(rounding: np.ndarray) -> np.ndarray:
        """What rounding of each feature's sums takes of the worst pivot, (...)."""
        return (squares @ rounding[..., None])[..., 0].max(axis=-1)

    with np.errstate(over="ignore", invalid="ignore"):  # comparisons with what overflows are False
        squares = _inverted(factors) ** 2
        regular &= m * SINGULAR * share(variances) < 1.0
        return regular, regular if rounding is None else regular & (DIGITS * share(rounding) < 1.0)


def _inverted(factors: np.ndarray) -> np.ndarray:
    """L^-1 in the place of each lower triangular L, shape (..., m, m): several times faster than NumPy's of a stack."""
    m = factors.shape[-1]
    for factor in factors.reshape(-1, m, m):
        dtrtri(factor.T, overwrite_c=1)
    return factors


def whitening(covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L^-1 of each P = L L^T, shape (..., m, m), and log |P|, shape (...)."""
    factors = np.linalg.cholesky(covariances)
    log_det = 2.0 * np.log(np.diagonal(factors, axis1=-2, axis2=-1)).sum(axis=-1)
    return _inverted(factors), log_det


def _settled(
    covariances: np.ndarray, regular: np.ndarray, previous: np.ndarray, raisable: np.ndarray
) -> np.ndarray:
    """The (..., m, m) covariances where they are regular, else the previous ones or, where ``raisable``, raised ones.

    With a ridge S + r I is singular in rounding only. Its diagonal raised until it just is not, it is taken where that
    is the better of the two: then it is still no step down, and what is broad by far does not stay so.
    """
    if regular.all():
        return covariances
    m = covariances.shape[-1]
    chosen = np.where(regular[..., None, None], covariances, previous)
    for index in np.argwhere(~regular & raisable):
        place = tuple(index)
        scatter = covariances[place]
        raised = scatter + 4 * m * SINGULAR * np.diag(scatter.diagonal())
        if _regular(raised)[0] and _expected(raised, scatter) > _expected(previous[place], scatter):
            chosen[place] = raised
    return chosen


def _expected(P: np.ndarray, S: np.ndarray) -> float:
    """Mean of log N(x; mu, P) over rows with mean mu and covariance S, but for a constant: -(log |P| + tr(P^-1 S)) / 2."""
    return float(-0.5 * (np.linalg.slogdet(P)[1] + np.trace(np.linalg.solve(P, S))))


def whitened(x: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """log N(x; mean, covariance) by a triangular solve: the slow way, for components w . phi is too coarse for.

    Parameters
    ----------
    x : ndarray of shape (m, n)
    mean : ndarray of shape (m,)
    covariance : ndarray of shape (m, m)

    Returns
    -------
    ndarray of shape (n,)
    """
    factor = np.linalg.cholesky(covariance)
    z = solve_triangular(factor, x - mean[:, None], lower=True)
    return -0.5 * (len(mean) * LOG_2PI + (z * z).sum(axis=0)) - np.log(np.diagonal(factor)).sum()
