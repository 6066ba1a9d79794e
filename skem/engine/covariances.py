"""The covariance types: full, tied, diagonal and spherical.

Each has its M-step (Pulford 2022, eqs. 16 to 18, and 32 for tied), its Gaussians, and the form that users give and get.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from skem.engine import compiled
from skem.engine.linalg import factorised, keep_regular, logarithms, product, regularity, weighted_sum
from skem.engine.parameters import DIGITS, EPS, LOG_2PI, SINGULAR, Gaussians, Mixture, Statistics


class Constraints(NamedTuple):
    """Constraints of the M-step.

    Attributes
    ----------
    ridge : float
        r, which is added to every variance: the penalty is r/2 tr(P^-1).
    floor : float
        Least variance in any direction. Raising eigenvalues to it is the exact M-step under that constraint.
    least : float
        Expected samples below which a pair of a component and a class is dropped.
    """

    ridge: float = 0.0
    floor: float = 0.0
    least: float = 0.0


class Maximised(NamedTuple):
    """The result of an M-step.

    Attributes
    ----------
    mixture : Mixture
    log_weights : ndarray of shape (K, L)
    gaussians : Gaussians
    n_singular : int
        Components whose covariance is not that of their samples, which is singular.
    exact : bool
        True if all variances have three digits.
    """

    mixture: Mixture
    log_weights: np.ndarray
    gaussians: Gaussians
    n_singular: int
    exact: bool


class CovarianceType:
    """A type of covariance, without state: here full, one matrix per component. K components have their covariances in one array."""

    name: ClassVar[str] = "full"
    diagonal: ClassVar[bool] = False

    # Densities and the M-step

    def n_products(self, m: int) -> int:
        """Multiply-adds of a density per sample, for m features."""
        return 1 + m + m * (m + 1) // 2

    def gaussians(self, means: np.ndarray, covariances: np.ndarray) -> Gaussians:
        """Components in the form that densities are computed from.

        Raises
        ------
        numpy.linalg.LinAlgError
            A covariance that is not positive definite.
        """
        means, m = np.ascontiguousarray(means), means.shape[1]
        matrices = np.ascontiguousarray(covariances).reshape(-1, m, m)
        gaussians, *_ = factorised(means, matrices, np.zeros((len(matrices), m)), EPS)
        if not np.isfinite(gaussians.whiteners).all():
            raise np.linalg.LinAlgError("a covariance is not positive definite")
        return gaussians

    def scatter_shape(self, K: int, m: int) -> tuple[int, ...]:
        """The shape of ``Statistics.scatter``."""
        return K, m, m

    def scatter(self, components: np.ndarray) -> np.ndarray:
        """The scatter of each component, shaped as by `of_components`, in the form of ``Statistics.scatter``."""
        return components

    def m_step(self, statistics: Statistics, previous: Mixture, constraints: Constraints) -> Maximised:
        """The parameters that maximise the expected log-likelihood.

        A component without samples keeps its place with weight zero. A covariance that turned singular stays as it was while
        its mean moves on, which cannot lower the objective; or see `linalg.keep_regular`.
        """
        weights, log_weights, means, n_k, rounding, covariances, *_ = maximised(
            statistics, previous, constraints, previous.covariances.copy()
        )
        covariances, gaussians, singular, exact = _regularised(
            means, covariances, previous.covariances, rounding, constraints
        )
        n_singular = int(np.count_nonzero(n_k[singular]))
        return Maximised(Mixture(weights, means, covariances), log_weights, gaussians, n_singular, exact)

    # One matrix (K, m, m) per component, or for diagonal types its diagonal (K, m)

    def of_components(self, covariances: np.ndarray, K: int, m: int) -> np.ndarray:
        """Covariances of all components, (K, m, m) or (K, m), from the array of this type."""
        return np.broadcast_to(covariances, (K, m, m))

    def compress(self, components: np.ndarray) -> np.ndarray:
        """The array of this type from the covariances of all components."""
        return components

    def identity(self, m: int) -> np.ndarray:
        """The unit matrix."""
        return np.eye(m)

    def squares(self, vectors: np.ndarray) -> np.ndarray:
        """v v^T of vectors (K, m)."""
        return vectors[:, :, None] * vectors[:, None]

    def factors(self, components: np.ndarray) -> np.ndarray:
        """L of P = L L^T of each component.

        Raises
        ------
        numpy.linalg.LinAlgError
            A covariance that is not positive definite.
        """
        return np.linalg.cholesky(components)

    # Arrays of covariances

    def variances(self, covariances: np.ndarray) -> np.ndarray:
        """The diagonals of covariances; they broadcast to (K, m)."""
        return np.diagonal(covariances, axis1=-2, axis2=-1)

    def n_parameters(self, K: int, m: int) -> int:
        """Free parameters of the covariances of K components of m features."""
        shape = self.shapes(K, m)[0]
        return math.prod(shape) if self.diagonal else math.prod(shape[:-1]) * (m + 1) // 2

    def shapes(self, K: int, m: int) -> list[tuple[int, ...]]:
        """The shapes that covariances given by a user may have; the first is the engine's."""
        return [(K, m, m)]

    def regular(self, covariances: np.ndarray) -> bool:
        """True if every covariance is symmetric and positive definite."""
        symmetric = np.allclose(covariances, np.swapaxes(covariances, -1, -2))
        # Regularisation may be all that EM has left of a direction, of less than the digits that samples alone must leave.
        return bool(symmetric and regularity(covariances, singular=EPS).all())

    def of_groups(self, covariances: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """The array of this type for components of which number k has the covariance ``covariances[groups[k]]``."""
        return self.compress(covariances[groups])

    def rescaled(self, covariances: np.ndarray, factor: np.ndarray) -> np.ndarray:
        """The covariances of x * factor, for a factor per feature, shape (m,)."""
        return covariances * (factor[:, None] * factor)

    def to_engine(self, covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """The covariances of x / scale, from those of x in one of the `shapes`; ``scale`` has shape (m,).

        Raises
        ------
        ValueError
            Several covariances that differ, for a type that has one.
        """
        return self.rescaled(covariances, 1.0 / scale)

    def to_input(self, covariances: np.ndarray, scale: np.ndarray, same_scale: bool) -> np.ndarray:
        """The covariances of x * scale, from those of x; ``same_scale`` if that of all features is the same."""
        return self.rescaled(covariances, scale)


class Tied(CovarianceType):
    """One covariance matrix for all components: mixture discriminant analysis (Pulford 2022, eq. 32)."""

    name: ClassVar[str] = "tied"

    def scatter_shape(self, K: int, m: int) -> tuple[int, ...]:
        return 1, m, m

    def scatter(self, components: np.ndarray) -> np.ndarray:
        return components.sum(axis=0, keepdims=True)

    def m_step(self, statistics: Statistics, previous: Mixture, constraints: Constraints) -> Maximised:
        """P = sum_k n_k S_k / N + r I (eq. 32 instead of eq. 18)."""
        weights, log_weights, means, n_k, rounding, *_ = maximised(
            statistics, previous, constraints, np.empty(statistics.scatter.shape)
        )
        shifts, ridge = means - previous.means, constraints.ridge * np.eye(means.shape[1])
        pooled = (statistics.scatter - product(shifts.T * n_k, shifts)) / n_k.sum() + ridge
        shared_rounding = (weighted_sum(n_k, rounding) / n_k.sum())[None]
        covariances, gaussians, singular, exact = _regularised(
            means, pooled, previous.covariances[None], shared_rounding, constraints
        )
        n_singular = int(np.count_nonzero(n_k)) if len(singular) else 0
        mixture = Mixture(weights, means, covariances[0])
        return Maximised(mixture, log_weights, gaussians, n_singular, exact)

    def shapes(self, K: int, m: int) -> list[tuple[int, ...]]:
        return [(m, m), (K, m, m)]

    def compress(self, components: np.ndarray) -> np.ndarray:
        return components.mean(axis=0)

    def to_engine(self, covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        if covariances.ndim == 3:
            if not (covariances == covariances[0]).all():
                raise ValueError("init_params: a tied model needs one covariance, or equal copies of it")
            covariances = covariances[0]
        return super().to_engine(covariances, scale)


def _regularised(
    means: np.ndarray,
    covariances: np.ndarray,
    previous: np.ndarray,
    rounding: np.ndarray,
    constraints: Constraints,
) -> tuple[np.ndarray, Gaussians, np.ndarray, bool]:
    """Covariances (G, m, m) that are regular, their Gaussians, the indices of those that were not, and if all were exact."""
    ridge, m = constraints.ridge, means.shape[1]
    if constraints.floor > ridge:
        covariances = _floored(covariances, constraints.floor)
    gaussians, regular, all_regular, exact = factorised(means, covariances, rounding, SINGULAR)
    if all_regular:
        return covariances, gaussians, np.empty(0, dtype=int), exact
    variances = np.einsum("kii->ki", covariances)
    # Regularisation well above rounding leaves no doubt.
    if ridge > max(4 * m * EPS * variances.max(), DIGITS * rounding.max()):
        regular |= np.isfinite(gaussians.whiteners).all(axis=(1, 2))
    raisable = np.full(len(regular), ridge > 0)
    if len(covariances) < len(means):
        # Samples are not centred on each component, so a variance below their rounding would leave no digit of z.
        raisable &= (variances > 4 * rounding).all(axis=1)
    covariances = keep_regular(covariances, regular, previous, raisable)
    gaussians = COVARIANCE_TYPES["full"].gaussians(means, covariances)
    return covariances, gaussians, np.flatnonzero(~regular), False


def _floored(covariances: np.ndarray, floor: float) -> np.ndarray:
    """The covariances with eigenvalues of at least ``floor``."""
    values, vectors = np.linalg.eigh(covariances)
    low = values[..., 0] < floor
    if not low.any():
        return covariances
    raised = (vectors * np.maximum(values, floor)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return np.where(low[..., None, None], raised, covariances)


def maximised(
    statistics: Statistics, previous: Mixture, constraints: Constraints, covariances: np.ndarray
) -> tuple[Any, ...]:
    """Weights, log-weights, means, n_k, rounding, the array of covariances, overwritten, and the result of `matrices.m_step`."""
    counts, means = statistics.counts, np.ascontiguousarray(previous.means)
    weights, log_weights, rounding = np.empty(counts.shape), np.empty(counts.shape), np.empty(means.shape)
    new, shifts, n_k = np.empty(means.shape), np.empty(means.shape), np.empty(len(means))
    out = weights, log_weights, new, shifts, n_k, rounding, covariances
    limits = float(constraints.least), statistics.eps, float(constraints.ridge), float(constraints.floor)
    narrow = np.zeros(len(means), dtype=bool) if statistics.narrow is None else statistics.narrow
    result = compiled.matrices().m_step(
        (counts, statistics.offsets), statistics.scatter, means, narrow, limits, out
    )
    return weights, log_weights, new, n_k, rounding, covariances, *result


class Diagonal(CovarianceType):
    """One variance per component and feature, (K, m)."""

    name: ClassVar[str] = "diag"
    diagonal: ClassVar[bool] = True

    def n_products(self, m: int) -> int:
        return 1 + 2 * m

    def gaussians(self, means: np.ndarray, covariances: np.ndarray) -> Gaussians:
        deviations = np.sqrt(covariances.reshape(len(means), -1) * np.ones(means.shape[1]))
        if not (deviations > 0).all():
            raise np.linalg.LinAlgError("a variance is not positive")
        whiteners, m = 1.0 / deviations, means.shape[1]
        log_scales = -0.5 * m * LOG_2PI - logarithms(deviations).sum(axis=1)
        traces = (whiteners**2).sum(axis=1)
        sizes = np.abs(means) * whiteners + 4.0
        sensitivities = max(4.0, m**0.5) * np.hypot.reduce(sizes, axis=1)  # squares may overflow
        means, ones = np.ascontiguousarray(means), np.ones(len(means))
        return Gaussians(means, whiteners, whiteners * means, log_scales, traces, sensitivities, ones)

    def scatter_shape(self, K: int, m: int) -> tuple[int, ...]:
        return K, m

    def of_components(self, covariances: np.ndarray, K: int, m: int) -> np.ndarray:
        return np.broadcast_to(covariances.reshape(K, -1), (K, m))

    def identity(self, m: int) -> np.ndarray:
        return np.ones(m)

    def squares(self, vectors: np.ndarray) -> np.ndarray:
        return vectors**2

    def factors(self, components: np.ndarray) -> np.ndarray:
        if not (components > 0).all():
            raise np.linalg.LinAlgError("a variance is not positive")
        return np.sqrt(components)

    def variances(self, covariances: np.ndarray) -> np.ndarray:
        return covariances.reshape(len(covariances), -1)

    def m_step(self, statistics: Statistics, previous: Mixture, constraints: Constraints) -> Maximised:
        variances = previous.covariances.copy()
        weights, log_weights, means, *_, n_singular, exact = maximised(
            statistics, previous, constraints, self.variances(variances)
        )
        gaussians = self.gaussians(means, variances)
        return Maximised(Mixture(weights, means, variances), log_weights, gaussians, n_singular, exact)

    def regular(self, covariances: np.ndarray) -> bool:
        return bool((covariances > 0).all())

    def shapes(self, K: int, m: int) -> list[tuple[int, ...]]:
        return [(K, m)]

    def rescaled(self, covariances: np.ndarray, factor: np.ndarray) -> np.ndarray:
        # With a factor per feature balls become boxes, (K, m).
        return covariances.reshape(len(covariances), -1) * factor**2


class Spherical(Diagonal):
    """One variance per component."""

    name: ClassVar[str] = "spherical"

    def n_products(self, m: int) -> int:
        return m + 2

    def gaussians(self, means: np.ndarray, covariances: np.ndarray) -> Gaussians:
        if covariances.ndim == 2:
            return super().gaussians(means, covariances)
        means, variances = np.ascontiguousarray(means), np.ascontiguousarray(covariances)
        U, shifts = np.empty((2, *means.shape))
        log_scales, traces, sensitivities = np.empty((3, len(means)))
        out = U, shifts, log_scales, traces, sensitivities
        if not compiled.matrices().whiten_spherical(means, variances, out):
            raise np.linalg.LinAlgError("a variance is not positive")
        return Gaussians(means, *out, np.ones(len(means)))

    def scatter_shape(self, K: int, m: int) -> tuple[int, ...]:
        return K, 1

    def scatter(self, components: np.ndarray) -> np.ndarray:
        return components.mean(axis=1, keepdims=True)

    def compress(self, components: np.ndarray) -> np.ndarray:
        return components.mean(axis=1)

    def shapes(self, K: int, m: int) -> list[tuple[int, ...]]:
        return [(K,), (K, m)]

    def to_engine(self, covariances: np.ndarray, scale: np.ndarray) -> np.ndarray:
        return super().to_engine(covariances, scale).mean(axis=1)

    def to_input(self, covariances: np.ndarray, scale: np.ndarray, same_scale: bool) -> np.ndarray:
        boxes = super().to_input(covariances, scale, same_scale)
        return boxes[:, 0] if same_scale else boxes


COVARIANCE_TYPES: dict[str, CovarianceType] = {
    covariance_type.name: covariance_type
    for covariance_type in (CovarianceType(), Tied(), Diagonal(), Spherical())
}
"""By the name that users give."""
