"""The algebra: quadratic features, natural parameters, moments.

For x in R^m let phi(x) = [1, x, products of x], of length H. The log-density of a Gaussian is linear in
phi, log N(x; mu, P) = w . phi(x), and the sums an M-step needs are linear in phi as well. So one matrix
product gives the log-densities of all components on a chunk of rows, and a second one all their moments.
Each covariance type is one small class that knows its phi, its w and its way back from moments to
parameters. Features run along rows, (m, n) and (H, n): products of whole rows are then contiguous.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class Mixture:
    """The parameters of one shared-kernel mixture (Pulford 2022, eq. 1).

    Attributes
    ----------
    weights : ndarray of shape (K, L)
        pi_kc, one column per class, each summing to one.
    means : ndarray of shape (K, m)
        mu_k.
    covariances : ndarray
        P_k; its shape depends on the covariance type: (K, m, m) full, (m, m) tied, (K, m) diag and
        (K,) spherical.
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


def _cholesky(covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower Cholesky factors of (..., m, m) covariances and which of them are regular, shape (...).

    A matrix with a pivot lost in rounding, relative to its own diagonal entry so that the units of the
    features do not matter, counts as singular; its place holds the identity.
    """
    regular = np.asarray(np.isfinite(covariances).all(axis=(-2, -1)))
    safe = np.where(regular[..., None, None], covariances, np.eye(covariances.shape[-1]))
    try:
        factors = np.linalg.cholesky(safe)
    except np.linalg.LinAlgError:
        factors = np.empty_like(safe)
        for index in np.ndindex(safe.shape[:-2]):
            try:
                factors[index] = np.linalg.cholesky(safe[index])
            except np.linalg.LinAlgError:
                factors[index], regular[index] = np.eye(safe.shape[-1]), False
    variances = np.diagonal(safe, axis1=-2, axis2=-1)
    pivots = np.diagonal(factors, axis1=-2, axis2=-1)
    regular &= (pivots**2 > safe.shape[-1] * np.finfo(float).eps * variances).all(axis=-1)
    return np.where(regular[..., None, None], factors, np.eye(safe.shape[-1])), regular


class Full:
    """One covariance matrix per component; phi(x) = [1, x, x_i x_j for i <= j], H = 1 + m + m(m+1)/2."""

    name: ClassVar[str] = "full"

    @staticmethod
    def features(x: np.ndarray) -> np.ndarray:
        """phi of (m, n) features, shape (H, n)."""
        m, n = x.shape
        phi = np.empty((1 + m + m * (m + 1) // 2, n), dtype=x.dtype)
        phi[0] = 1.0
        phi[1 : m + 1] = x
        row = m + 1
        for i in range(m):
            np.multiply(x[i:], x[i], out=phi[row : row + m - i])
            row += m - i
        return phi

    @staticmethod
    def dense(covariances: np.ndarray, n_components: int, m: int) -> np.ndarray:
        """The covariances as matrices, shape (K, m, m)."""
        return np.broadcast_to(covariances, (n_components, m, m))

    @staticmethod
    def compress(covariances: np.ndarray) -> np.ndarray:
        """From (K, m, m) matrices to what this type keeps."""
        return covariances

    @classmethod
    def natural(cls, means: np.ndarray, covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w with log N(x; mu_k, P_k) = w_k . phi(x), shape (K, H), and tr(P_k^-1), shape (K,)."""
        K, m = means.shape
        factors, _ = _cholesky(covariances)
        inverse_factors = np.linalg.inv(factors)
        precisions = np.swapaxes(inverse_factors, -1, -2) @ inverse_factors
        log_det = 2.0 * np.log(np.diagonal(factors, axis1=-2, axis2=-1)).sum(axis=-1)
        linear = np.einsum("...ij,...j->...i", precisions, means)
        w = np.empty((K, 1 + m + m * (m + 1) // 2))
        w[:, 0] = -0.5 * (m * LOG_2PI + log_det + (means * linear).sum(axis=1))
        w[:, 1 : m + 1] = linear
        i, j = np.triu_indices(m)
        w[:, m + 1 :] = precisions[..., i, j] * np.where(i == j, -0.5, -1.0)
        return w, np.broadcast_to(np.trace(precisions, axis1=-2, axis2=-1), (K,))

    @classmethod
    def scatter(cls, moments: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Covariances about the mean, (K, m, m), from E[phi], (K, H), and the mean's offset, (K, m)."""
        K, m = offsets.shape
        i, j = np.triu_indices(m)
        scatter = np.empty((K, m, m))
        scatter[:, i, j] = scatter[:, j, i] = moments[:, m + 1 :] - offsets[:, i] * offsets[:, j]
        return scatter

    @classmethod
    def maximise(
        cls, moments: np.ndarray, offsets: np.ndarray, counts: np.ndarray, ridge: float, previous: np.ndarray
    ) -> np.ndarray:
        """P_k = S_k + r I (Pulford 2022, eq. 18); a matrix that turned singular stays as it was."""
        covariances = cls.scatter(moments, offsets)
        diagonal = np.arange(offsets.shape[1])
        covariances[:, diagonal, diagonal] += ridge
        # A variance below the rounding of the terms it is the difference of is no variance.
        lost = (covariances[:, diagonal, diagonal] <= 4 * np.finfo(float).eps * offsets**2).any(axis=1)
        regular = (counts > 0) & ~lost & _cholesky(covariances)[1]
        return np.where(regular[:, None, None], covariances, previous)

    @staticmethod
    def rescale(covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """The covariances of x * scale, for a scale per feature, shape (m,)."""
        return covariances * np.outer(scale, scale)

    @classmethod
    def given(cls, covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """From a start in input units to what this type keeps, in units of ``1 / scale``."""
        return cls.rescale(covariances, scale)

    @staticmethod
    def shapes(K: int, m: int) -> list[tuple[int, ...]]:
        """The shapes a given start may have."""
        return [(K, m, m)]

    @staticmethod
    def regular(covariances: np.ndarray) -> bool:
        """Whether every covariance is symmetric and positive definite."""
        return bool(
            np.allclose(covariances, np.swapaxes(covariances, -1, -2)) and _cholesky(covariances)[1].all()
        )


class Tied(Full):
    """One covariance matrix for all components: mixture discriminant analysis (Pulford 2022, eq. 32)."""

    name = "tied"

    @staticmethod
    def compress(covariances: np.ndarray) -> np.ndarray:
        return covariances.mean(axis=0)

    @classmethod
    def maximise(
        cls, moments: np.ndarray, offsets: np.ndarray, counts: np.ndarray, ridge: float, previous: np.ndarray
    ) -> np.ndarray:
        pooled = np.einsum("k,kij->ij", counts, cls.scatter(moments, offsets)) / counts.sum()
        pooled[np.diag_indices_from(pooled)] += ridge
        return pooled if _cholesky(pooled)[1] else previous

    @classmethod
    def given(cls, covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        if covariances.ndim == 3:
            if not (covariances == covariances[0]).all():
                raise ValueError("init: a tied model needs one covariance, or equal copies of it")
            covariances = covariances[0]
        return cls.rescale(covariances, scale)

    @staticmethod
    def shapes(K: int, m: int) -> list[tuple[int, ...]]:
        return [(m, m), (K, m, m)]


class Diagonal(Full):
    """One variance per component and feature; phi(x) = [1, x, x^2], H = 1 + 2m."""

    name = "diag"

    @staticmethod
    def features(x: np.ndarray) -> np.ndarray:
        m, n = x.shape
        phi = np.empty((1 + 2 * m, n), dtype=x.dtype)
        phi[0] = 1.0
        phi[1 : m + 1] = x
        np.multiply(x, x, out=phi[m + 1 :])
        return phi

    @staticmethod
    def dense(covariances: np.ndarray, n_components: int, m: int) -> np.ndarray:
        return covariances[:, :, None] * np.eye(m)

    @staticmethod
    def compress(covariances: np.ndarray) -> np.ndarray:
        return np.diagonal(covariances, axis1=-2, axis2=-1).copy()

    @classmethod
    def natural(cls, means: np.ndarray, covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        m = means.shape[1]
        precisions = 1.0 / covariances
        w = np.empty((len(means), 1 + 2 * m))
        w[:, 0] = -0.5 * (m * LOG_2PI + np.log(covariances).sum(axis=1) + (means**2 * precisions).sum(axis=1))
        w[:, 1 : m + 1] = means * precisions
        w[:, m + 1 :] = -0.5 * precisions
        return w, precisions.sum(axis=1)

    @classmethod
    def maximise(
        cls, moments: np.ndarray, offsets: np.ndarray, counts: np.ndarray, ridge: float, previous: np.ndarray
    ) -> np.ndarray:
        second = moments[:, 1 + offsets.shape[1] :]
        variances = second - offsets**2 + ridge
        regular = variances > 4 * np.finfo(float).eps * second
        return np.where((counts > 0)[:, None] & regular, variances, previous)

    @staticmethod
    def rescale(covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        return covariances * scale**2

    @staticmethod
    def shapes(K: int, m: int) -> list[tuple[int, ...]]:
        return [(K, m)]

    @staticmethod
    def regular(covariances: np.ndarray) -> bool:
        return bool((covariances > 0).all())


class Spherical(Diagonal):
    """One variance per component; phi(x) = [1, x, |x|^2], H = m + 2."""

    name = "spherical"

    @staticmethod
    def features(x: np.ndarray) -> np.ndarray:
        m, n = x.shape
        phi = np.empty((m + 2, n), dtype=x.dtype)
        phi[0] = 1.0
        phi[1 : m + 1] = x
        np.einsum("in,in->n", x, x, out=phi[m + 1])
        return phi

    @staticmethod
    def dense(covariances: np.ndarray, n_components: int, m: int) -> np.ndarray:
        return covariances[:, None, None] * np.eye(m)

    @staticmethod
    def compress(covariances: np.ndarray) -> np.ndarray:
        return np.diagonal(covariances, axis1=-2, axis2=-1).mean(axis=-1)

    @classmethod
    def natural(cls, means: np.ndarray, covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        m = means.shape[1]
        w = np.empty((len(means), m + 2))
        w[:, 0] = -0.5 * (m * (LOG_2PI + np.log(covariances)) + (means**2).sum(axis=1) / covariances)
        w[:, 1 : m + 1] = means / covariances[:, None]
        w[:, m + 1] = -0.5 / covariances
        return w, m / covariances

    @classmethod
    def maximise(
        cls, moments: np.ndarray, offsets: np.ndarray, counts: np.ndarray, ridge: float, previous: np.ndarray
    ) -> np.ndarray:
        m = offsets.shape[1]
        variances = (moments[:, m + 1] - (offsets**2).sum(axis=1)) / m + ridge
        regular = variances > 4 * np.finfo(float).eps * moments[:, m + 1] / m
        return np.where((counts > 0) & regular, variances, previous)

    @staticmethod
    def rescale(covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        # With a scale per feature balls become boxes, (K, m).
        return covariances[:, None] * scale**2

    @classmethod
    def given(cls, covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        boxes = covariances.reshape(len(covariances), -1) * scale**2
        return boxes.mean(axis=1)

    @staticmethod
    def shapes(K: int, m: int) -> list[tuple[int, ...]]:
        return [(K,), (K, m)]


COVARIANCE_TYPES: dict[str, type[Full]] = {kind.name: kind for kind in (Full, Tied, Diagonal, Spherical)}


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
