"""The covariance types: full, tied, diagonal and spherical."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np

from skem.engine import compiled
from skem.engine.covariance_type import CovarianceType
from skem.engine.linalg import DIGITS, EPS, LEAST_ROUNDING, LOG_2PI, SINGULAR, keep_regular, regularity
from skem.engine.moments import Moments
from skem.engine.parameters import DIAGONAL, MATRICES, SPHERICAL

DIRECTLY = 48
"""Components up to which an E-step does not make phi. Measured with 4 to 100 features: 16 components then take .5 to .8 of the
time with AVX2, .5 to 1.1 with AVX-512, 48 take .8 to 1.1, and 200 take .9 to 1.2 and .7 to 1.4."""


@cache
def _places(m: int) -> tuple[np.ndarray, np.ndarray]:
    """Where in phi each feature stands, (m,), and the product that belongs to each element of an (m, m) matrix, (m * m,)."""
    linear = np.cumsum(np.arange(m + 1, 1, -1)) - np.arange(m + 1, 1, -1)
    i, j = np.triu_indices(m)
    products = np.empty((m, m), dtype=int)
    products[i, j] = products[j, i] = linear[i] + 1 + j - i
    return linear, products.ravel()


class Matrices(CovarianceType):
    """With matrices as covariances: phi(x) = [x_i, x_i x_j for j >= i] for each i, and 1; H = 1 + m + m(m+1)/2.

    In this order the terms of w . phi that cancel stand beside each other: in float32 their sum is exact to a third or half
    a digit more than with all features first.
    """

    family: ClassVar[int] = MATRICES

    def n_quadratic(self, m: int) -> int:
        return 1 + m + m * (m + 1) // 2

    def natural(self, means: np.ndarray, covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        m = means.shape[1]
        matrices = np.ascontiguousarray(covariances)
        w, traces, definite = compiled.components().natural_parameters(
            np.ascontiguousarray(means),
            matrices if matrices.ndim == 3 else matrices[None],
            m * LOG_2PI,
        )
        if not definite:
            raise np.linalg.LinAlgError("a covariance is not positive definite")
        return w, traces

    def factors(self, covariances: np.ndarray, components: np.ndarray, m: int) -> np.ndarray:
        return np.linalg.cholesky(covariances[components])

    def linear(self, m: int) -> np.ndarray:
        return _places(m)[0]

    def made_for(self, k: int) -> int | None:
        return self.family if k > DIRECTLY else None

    def of_scatter(self, matrices: np.ndarray) -> np.ndarray:
        K, m = matrices.shape[:2]
        sums = np.zeros((K, self.n_quadratic(m)))
        sums[:, _places(m)[1]] = matrices.reshape(K, m * m)
        return sums

    def _scatter(self, moments: Moments, ridge: float) -> tuple[np.ndarray, np.ndarray]:
        """S_k + r I (eq. 18), shape (K, m, m), S_k = sum_n w_nk (x_n - mu_k) (x_n - mu_k)^T / sum_n w_nk; and its rounding."""
        offsets, means = np.ascontiguousarray(moments.offsets), np.ascontiguousarray(moments.means)
        return compiled.components().scatter(
            moments.phi, offsets, means, moments.eps, EPS, LEAST_ROUNDING, ridge
        )

    def _floored(self, covariances: np.ndarray, floor: float) -> np.ndarray:
        """The covariances with eigenvalues of at least ``floor``."""
        values, vectors = np.linalg.eigh(covariances)
        low = values[..., 0] < floor
        if not low.any():
            return covariances
        raised = (vectors * np.maximum(values, floor)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
        return np.where(low[..., None, None], raised, covariances)

    def dense(self, covariances: np.ndarray, n_components: int, m: int) -> np.ndarray:
        return np.broadcast_to(covariances, (n_components, m, m))

    def regular(self, covariances: np.ndarray) -> bool:
        symmetric = np.allclose(covariances, np.swapaxes(covariances, -1, -2))
        # A ridge may be all that EM has left of a direction, of less than the digits that rows alone must leave.
        return bool(symmetric and regularity(covariances, singular=EPS)[0].all())

    def rescaled(self, covariances: np.ndarray, factor: np.ndarray) -> np.ndarray:
        return covariances * (factor[:, None] * factor)


class Full(Matrices):
    """One covariance matrix per component."""

    name: ClassVar[str] = "full"

    def maximise(
        self, moments: Moments, previous: np.ndarray, ridge: float, floor: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        covariances, rounding = self._scatter(moments, ridge)
        if floor > ridge:
            covariances = self._floored(covariances, floor)
        regular, doubtful = compiled.components().trusted(
            covariances, rounding, moments.counts, ridge, SINGULAR, EPS, DIGITS
        )
        alive = moments.counts > 0
        covariances = keep_regular(covariances, regular, previous, alive & (ridge > 0))
        return covariances, doubtful, alive & ~regular

    def n_parameters(self, K: int, m: int) -> int:
        return K * m * (m + 1) // 2

    def shapes(self, K: int, m: int) -> list[tuple[int, ...]]:
        return [(K, m, m)]

    def compress(self, covariances: np.ndarray) -> np.ndarray:
        return covariances


class Tied(Matrices):
    """One covariance matrix for all components: mixture discriminant analysis (Pulford 2022, eq. 32)."""

    name: ClassVar[str] = "tied"

    def factors(self, covariances: np.ndarray, components: np.ndarray, m: int) -> np.ndarray:
        return np.broadcast_to(np.linalg.cholesky(covariances), (len(components), m, m))

    def maximise(
        self, moments: Moments, previous: np.ndarray, ridge: float, floor: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """P = sum_k n_k S_k / N + r I (eq. 32 in place of eq. 18), shape (m, m)."""
        (scatter, rounding), share = self._scatter(moments, 0.0), moments.counts / moments.counts.sum()
        rounding = share @ rounding
        pooled = np.einsum("k,kij->ij", moments.counts, scatter) / moments.counts.sum()
        pooled[np.diag_indices_from(pooled)] += ridge
        if floor > ridge:
            pooled = self._floored(pooled, floor)
        definite, exact = regularity(pooled, rounding)
        regular = np.asarray(definite & (pooled.diagonal() > 4 * rounding).all())
        alive = moments.counts > 0
        pooled = keep_regular(pooled, regular, previous, np.asarray(ridge > 0))
        return pooled, alive & ~exact, alive & ~regular

    def n_parameters(self, K: int, m: int) -> int:
        return m * (m + 1) // 2

    def shapes(self, K: int, m: int) -> list[tuple[int, ...]]:
        return [(m, m), (K, m, m)]

    def compress(self, covariances: np.ndarray) -> np.ndarray:
        return covariances.mean(axis=0)

    def of_groups(self, covariances: np.ndarray, groups: np.ndarray) -> np.ndarray:
        return self.compress(covariances[groups])

    def to_engine(self, covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        if covariances.ndim == 3:
            if not (covariances == covariances[0]).all():
                raise ValueError("init: a tied model needs one covariance, or equal copies of it")
            covariances = covariances[0]
        return super().to_engine(covariances, scale)


class Variances(CovarianceType):
    """With variances as covariances."""

    def factors(self, covariances: np.ndarray, components: np.ndarray, m: int) -> np.ndarray:
        return np.sqrt(covariances[components].reshape(len(components), -1, 1))

    def regular(self, covariances: np.ndarray) -> bool:
        return bool((covariances > 0).all())


class Diagonal(Variances):
    """One variance per component and feature; phi(x) = [x, x^2, 1], H = 2m + 1."""

    name: ClassVar[str] = "diag"
    family: ClassVar[int] = DIAGONAL

    def n_quadratic(self, m: int) -> int:
        return 1 + 2 * m

    def natural(self, means: np.ndarray, covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        m = means.shape[1]
        precisions = 1.0 / covariances
        w = np.empty((len(means), 1 + 2 * m))
        w[:, -1] = -0.5 * (
            m * LOG_2PI + np.log(covariances).sum(axis=1) + (means**2 * precisions).sum(axis=1)
        )
        w[:, :m] = means * precisions
        w[:, m:-1] = -0.5 * precisions
        return w, precisions.sum(axis=1)

    def of_scatter(self, matrices: np.ndarray) -> np.ndarray:
        variances = np.diagonal(matrices, axis1=1, axis2=2)
        return np.hstack([np.zeros_like(variances), variances, np.zeros((len(matrices), 1))])

    def maximise(
        self, moments: Moments, previous: np.ndarray, ridge: float, floor: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        alive = (moments.counts > 0)[:, None]
        variances = moments.phi[:, moments.offsets.shape[1] : -1] - moments.offsets**2
        rounding = moments.rounding(variances)
        variances += ridge
        if floor > ridge:
            variances = np.maximum(variances, floor)
        doubtful = alive & (variances < DIGITS * rounding)
        regular = variances > 4 * rounding
        singular = (alive & ~regular).any(axis=1)
        return np.where(alive & regular, variances, previous), doubtful.any(axis=1), singular

    def n_parameters(self, K: int, m: int) -> int:
        return K * m

    def shapes(self, K: int, m: int) -> list[tuple[int, ...]]:
        return [(K, m)]

    def compress(self, covariances: np.ndarray) -> np.ndarray:
        return np.diagonal(covariances, axis1=-2, axis2=-1).copy()

    def dense(self, covariances: np.ndarray, n_components: int, m: int) -> np.ndarray:
        return covariances[:, :, None] * np.eye(m)

    def rescaled(self, covariances: np.ndarray, factor: np.ndarray) -> np.ndarray:
        return covariances * factor**2


class Spherical(Variances):
    """One variance per component; phi(x) = [x, |x|^2, 1], H = m + 2."""

    name: ClassVar[str] = "spherical"
    family: ClassVar[int] = SPHERICAL

    def n_quadratic(self, m: int) -> int:
        return m + 2

    def natural(self, means: np.ndarray, covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        m = means.shape[1]
        w = np.empty((len(means), m + 2))
        w[:, -1] = -0.5 * (m * (LOG_2PI + np.log(covariances)) + (means**2).sum(axis=1) / covariances)
        w[:, :m] = means / covariances[:, None]
        w[:, m] = -0.5 / covariances
        return w, m / covariances

    def of_scatter(self, matrices: np.ndarray) -> np.ndarray:
        K, m = matrices.shape[:2]
        sums = np.zeros((K, m + 2))
        sums[:, m] = np.trace(matrices, axis1=1, axis2=2)
        return sums

    def maximise(
        self, moments: Moments, previous: np.ndarray, ridge: float, floor: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        alive, m = moments.counts > 0, moments.offsets.shape[1]
        variances = (moments.phi[:, m] - (moments.offsets**2).sum(axis=1)) / m
        rounding = moments.rounding(variances[:, None]).mean(axis=1)
        variances += ridge
        if floor > ridge:
            variances = np.maximum(variances, floor)
        doubtful = alive & (variances < DIGITS * rounding)
        regular = variances > 4 * rounding
        return np.where(alive & regular, variances, previous), doubtful, alive & ~regular

    def n_parameters(self, K: int, m: int) -> int:
        return K

    def shapes(self, K: int, m: int) -> list[tuple[int, ...]]:
        return [(K,), (K, m)]

    def compress(self, covariances: np.ndarray) -> np.ndarray:
        return np.diagonal(covariances, axis1=-2, axis2=-1).mean(axis=-1)

    def dense(self, covariances: np.ndarray, n_components: int, m: int) -> np.ndarray:
        return covariances[:, None, None] * np.eye(m)

    def rescaled(self, covariances: np.ndarray, factor: np.ndarray) -> np.ndarray:
        # With a factor per feature balls become boxes, (K, m).
        return covariances.reshape(len(covariances), -1) * factor**2

    def to_engine(self, covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        return super().to_engine(covariances, scale).mean(axis=1)

    def to_input(self, covariances: np.ndarray, scale: np.ndarray, same_scale: bool) -> np.ndarray:
        boxes = super().to_input(covariances, scale, same_scale)
        return boxes[:, 0] if same_scale else boxes


COVARIANCE_TYPES: dict[str, CovarianceType] = {
    covariance_type.name: covariance_type for covariance_type in (Full(), Tied(), Diagonal(), Spherical())
}
"""By the name that users give."""
