"""The algebra: quadratic features, natural parameters, moments.

For x in R^m let phi(x) = [1, x, products of x], of length H. The log-density of a Gaussian is linear in
phi, log N(x; mu, P) = w . phi(x), and the sums an M-step needs are linear in phi as well. So one matrix
product gives the log-densities of all components on a chunk of rows, and a second one all their moments.
Each covariance type is one small class that knows its phi, its w and its way back from moments to
parameters. Features run along rows, (m, n) and (H, n): products of whole rows are then contiguous.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from skem.engine.linalg import DIGITS, EPS, LOG_2PI, _regular, _settled, whitening


@dataclass(frozen=True)
class Moments:
    """What the rows of each component say of it, as weighted means about an origin of its own.

    Attributes
    ----------
    phi : ndarray of shape (K, H)
        E[phi(x - origin)].
    offsets : ndarray of shape (K, m)
        E[x - origin].
    means : ndarray of shape (K, m)
        Origins plus offsets.
    counts : ndarray of shape (K,)
        Expected rows.
    eps : float
        Rounding of the type the sums were taken in.
    """

    phi: np.ndarray
    offsets: np.ndarray
    means: np.ndarray
    counts: np.ndarray
    eps: float = EPS

    def rounding(self, variances: np.ndarray) -> np.ndarray:
        """That of E[(x - origin)^2] - offset^2, of which ``variances``, (K, m) or (K, 1), are the difference, (K, m)."""
        # Of sums about a mean only the rounding of the rows themselves is left.
        size = np.maximum(self.offsets * self.offsets, 4 * EPS * self.means * self.means)
        # That of a difference itself is what ``SINGULAR`` is about, in float64.
        return self.eps * (size if self.eps == EPS else size + variances)


class _Products:
    """The order of the products x_i x_j, i <= j, in phi: where they stand in an (m, m) matrix and back."""

    def __init__(self, m: int) -> None:
        self.i, self.j = np.triu_indices(m)
        self.places = self.i * m + self.j
        order = np.empty((m, m), dtype=int)
        order[self.i, self.j] = order[self.j, self.i] = np.arange(len(self.i))
        self.order = order.ravel()
        # In a quadratic form each product off the diagonal comes twice.
        self.factors = np.where(self.i == self.j, -0.5, -1.0)


_products = cache(_Products)


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
    def few(k: int, m: int) -> bool:
        """Whether k components take less time one by one, in 2 k m rows of products with x, than by phi's m^2 / 2 rows."""
        return 4 * k <= m

    @staticmethod
    def sums(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """phi weighted and summed over rows without phi, shape (k, H): ``x`` is (m, n), ``weights`` (k, n)."""
        (m, n), k = x.shape, len(weights)
        # Not `@`, which may let no other thread run, as in the E-step.
        products = np.dot((weights[:, None] * x).reshape(k * m, n), x.T).reshape(k, m * m)
        return np.hstack(
            [
                weights.sum(axis=1, dtype=np.float64)[:, None],
                weights @ x.T,
                products.take(_products(m).places, axis=1),
            ]
        )

    @staticmethod
    def size(largest: np.ndarray, m: int, spread: float) -> np.ndarray:
        """No less than sum_h |w_kh phi_h| at any row, shape (K,).

        With u = |x_i| / max |x_i| the terms of second order are u^T B u <= lambda |u|^2, and the largest eigenvalue of a
        matrix without negative entries is at most max_i (B v)_i / v_i for any v > 0 (Collatz, 1942).

        Parameters
        ----------
        largest : ndarray of shape (K, H)
            |w_kh| max |phi_h|.
        m : int
        spread : float
            max |u|^2 over rows.
        """
        K = len(largest)
        B = 0.5 * largest[:, m + 1 :].take(_products(m).order, axis=1).reshape(K, m, m)
        B.reshape(K, m * m)[:, :: m + 1] *= 2.0
        v, most = np.ones((K, m, 1)), np.full(K, np.inf)
        for _ in range(3):
            Bv = B @ v
            most = np.minimum(most, (Bv / v).max(axis=(1, 2)))
            # The power method, kept positive; it need not converge.
            v = Bv / np.maximum(Bv.max(axis=1, keepdims=True), EPS) + 1e-3
        return largest[:, : m + 1].sum(axis=1) + most * spread

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
        factors, log_det = whitening(covariances)
        precisions = np.swapaxes(factors, -1, -2) @ factors
        linear = (precisions @ means[:, :, None])[:, :, 0]
        w = np.empty((K, 1 + m + m * (m + 1) // 2))
        w[:, 0] = -0.5 * (m * LOG_2PI + log_det + (means * linear).sum(axis=1))
        w[:, 1 : m + 1] = linear
        products = _products(m)
        w[:, m + 1 :] = precisions.reshape(-1, m * m).take(products.places, axis=1) * products.factors
        return w, np.trace(precisions, axis1=-2, axis2=-1) + np.zeros(K)

    @classmethod
    def scatter(cls, moments: Moments) -> np.ndarray:
        """Covariances about the mean, (K, m, m)."""
        offsets = moments.offsets
        K, m = offsets.shape
        products = _products(m)
        upper = moments.phi[:, m + 1 :] - offsets.take(products.i, axis=1) * offsets.take(products.j, axis=1)
        return upper.take(products.order, axis=1).reshape(K, m, m)

    @classmethod
    def maximise(
        cls, moments: Moments, previous: np.ndarray, ridge: float, floor: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """P_k = S_k + r I (Pulford 2022, eq. 18), no eigenvalue below ``floor``; and which, (K,), are in doubt.

        Raising eigenvalues to the floor is the exact M-step under that constraint. A matrix that turned singular
        stays as it was, or see ``_settled``. In doubt is what has less than three digits above the rounding of
        the terms it is the difference of.
        """
        covariances = cls.scatter(moments)
        K, m = moments.offsets.shape
        variances = covariances.reshape(K, m * m)[:, :: m + 1]  # a view
        rounding = moments.rounding(variances)
        variances += ridge
        if floor > ridge:
            covariances = cls.floored(covariances, floor)
            variances = covariances.reshape(K, m * m)[:, :: m + 1]
        alive = moments.counts > 0
        # A variance below the rounding of the terms it is the difference of is no variance.
        regular = alive & (variances > 4 * rounding).all(axis=1)
        sure = (variances >= DIGITS * rounding).all(axis=1)
        # A ridge well above rounding leaves no doubt.
        if not ridge > max(4 * m * EPS * variances.max(), DIGITS * rounding.max()):
            definite, exact = _regular(covariances, rounding)
            regular, sure = regular & definite, sure & exact
        return _settled(covariances, regular, previous, alive & (ridge > 0)), alive & ~sure

    @staticmethod
    def floored(covariances: np.ndarray, floor: float) -> np.ndarray:
        """The covariances with eigenvalues of at least ``floor``."""
        values, vectors = np.linalg.eigh(covariances)
        low = values[..., 0] < floor
        if not low.any():
            return covariances
        raised = (vectors * np.maximum(values, floor)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
        return np.where(low[..., None, None], raised, covariances)

    @staticmethod
    def rescale(covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """The covariances of x * scale, for a scale per feature, shape (m,)."""
        return covariances * (scale[:, None] * scale)

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
            np.allclose(covariances, np.swapaxes(covariances, -1, -2)) and _regular(covariances)[0].all()
        )


class Tied(Full):
    """One covariance matrix for all components: mixture discriminant analysis (Pulford 2022, eq. 32)."""

    name = "tied"

    @staticmethod
    def compress(covariances: np.ndarray) -> np.ndarray:
        return covariances.mean(axis=0)

    @classmethod
    def maximise(
        cls, moments: Moments, previous: np.ndarray, ridge: float, floor: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        scatter, share = cls.scatter(moments), moments.counts / moments.counts.sum()
        rounding = share @ moments.rounding(np.diagonal(scatter, axis1=1, axis2=2))
        pooled = np.einsum("k,kij->ij", moments.counts, scatter) / moments.counts.sum()
        pooled[np.diag_indices_from(pooled)] += ridge
        if floor > ridge:
            pooled = cls.floored(pooled, floor)
        definite, exact = _regular(pooled, rounding)
        regular = np.asarray(definite & (pooled.diagonal() > 4 * rounding).all())
        return _settled(pooled, regular, previous, np.asarray(ridge > 0)), (moments.counts > 0) & ~exact

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
    def few(k: int, m: int) -> bool:
        return False

    @staticmethod
    def size(largest: np.ndarray, m: int, spread: float) -> np.ndarray:
        return largest.sum(axis=1)

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
        cls, moments: Moments, previous: np.ndarray, ridge: float, floor: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        alive = (moments.counts > 0)[:, None]
        variances = moments.phi[:, 1 + moments.offsets.shape[1] :] - moments.offsets**2
        rounding = moments.rounding(variances)
        variances += ridge
        if floor > ridge:
            variances = np.maximum(variances, floor)
        doubtful = alive & (variances < DIGITS * rounding)
        return np.where(alive & (variances > 4 * rounding), variances, previous), doubtful.any(axis=1)

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
        cls, moments: Moments, previous: np.ndarray, ridge: float, floor: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        alive, m = moments.counts > 0, moments.offsets.shape[1]
        variances = (moments.phi[:, m + 1] - (moments.offsets**2).sum(axis=1)) / m
        rounding = moments.rounding(variances[:, None]).mean(axis=1)
        variances += ridge
        if floor > ridge:
            variances = np.maximum(variances, floor)
        doubtful = alive & (variances < DIGITS * rounding)
        return np.where(alive & (variances > 4 * rounding), variances, previous), doubtful

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
