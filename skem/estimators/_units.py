"""The units of the engine: features are centred and scaled, (X - shift) / scale. Everything public is in input units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skem.engine.covariances import CovarianceType
from skem.engine.linalg import logarithms, moments, weighted_sum
from skem.engine.parameters import Mixture
from skem.engine.parts import add, slices, tree
from skem.engine.rows import CHUNK_ROWS
from skem.engine.threads import single_threaded


@dataclass(frozen=True, eq=False)
class Units:
    """Shift and scale (M,) of the features of a fit, and their mean variance in the engine's units.

    Each feature of ``standardized`` ones has its own scale; otherwise ``scale`` is one number for all. ``limits`` (2, M) are those of
    `robust_limits`, and ``least_ridge`` is the least covariance regularisation in the engine's units.
    """

    shift: np.ndarray
    scale: np.ndarray
    standardized: bool
    mean_variance: float
    limits: np.ndarray | None = None
    least_ridge: float = 0.0

    @classmethod
    def of_samples(cls, samples: Any, standardize: bool) -> Self:
        shift, squares, constant = samples.moments()
        total = samples.total_weight()
        scale = np.sqrt(squares / total)
        if standardize:
            # A feature that is constant up to its last digits may have large last digits.
            if constant.any():
                lowest, highest = samples.range()
                far = np.maximum(highest - shift, shift - lowest)
                scale[constant] = far[constant].clip(min=1.0)
            scale[scale == 0] = 1.0
        else:
            scale = common_scale(np.where(constant, 0.0, scale))
        squares = np.where(constant, 0.0, squares)
        return cls(shift, scale, standardize, float(np.mean(squares / total / scale**2)))

    def ridge(self, reg_covar: float) -> float:
        return max(reg_covar if self.standardized else reg_covar / self.scale[0] ** 2, self.least_ridge)

    def log_volume(self, columns: np.ndarray) -> float:
        """Log of the volume that one unit of the engine has in input units."""
        return float(logarithms(self.scale[columns]).sum())

    def to_input(self, mixture: Mixture, columns: np.ndarray, covariance_type: CovarianceType) -> Mixture:
        scale = self.scale[columns]
        covariances = covariance_type.to_input(mixture.covariances, scale, same_scale=not self.standardized)
        return Mixture(mixture.weights, mixture.means * scale + self.shift[columns], covariances)

    def to_engine(self, mixture: Mixture, columns: np.ndarray, covariance_type: CovarianceType) -> Mixture:
        """A mixture of some features, from input units to the engine's units.

        Arrays must match: compiled loops rely on their shapes, and users assign fitted attributes.
        """
        scale, (K, m) = self.scale[columns], mixture.means.shape
        shapes = covariance_type.shapes(K, m)
        if mixture.covariances.shape not in shapes or len(mixture.weights) != K or len(scale) != m:
            raise ValueError(
                f"weights {mixture.weights.shape}, means {mixture.means.shape} and covariances {mixture.covariances.shape} "
                f"with covariance_type={covariance_type.name!r} and {len(scale)} features do not belong together: assign arrays "
                "of one number of components and of features"
            )
        covariances = covariance_type.to_engine(mixture.covariances, scale)
        means = (mixture.means - self.shift[columns]) / scale
        # A copy: compiled code takes writable arrays.
        return Mixture(np.array(mixture.weights), means, covariances)


LIMIT = 3.0
"""Robust standard deviations from the median to a limit: on 15 development tables it has a better accuracy than 4, 5, 8 and no limit."""

PERCENTILE, NORMAL_PERCENTILE = 90.0, 1.6449
"""Percentile of the distances from the median, and its value for a standard normal distribution; their ratio is the robust standard
deviation. The median of the distances would be too small for skewed features."""

QUANTILE_SAMPLES = 10_000
"""Largest number of samples that determine limits: the standard error of a limit is then about 2% of its distance to the median."""

ROUNDING = 2e-11
"""Relative error that a sum of the weights of up to a million samples may have."""

UNLIMITED = float(np.finfo(np.float64).max)


def robust_limits(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Smallest and largest value of each feature that are no outliers, (2, M): `LIMIT` robust standard deviations from the median.

    Distances of zero do not count, so the limits suit features that are zero for most samples. NaN is a missing value.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        median = weighted_percentile(X.astype(np.float64), weights, 50.0)
        distances = np.abs(X - median)
        distances[distances <= 4 * np.finfo(X.dtype).eps * np.abs(median)] = np.nan
        reach = LIMIT / NORMAL_PERCENTILE * weighted_percentile(distances, weights, PERCENTILE)
        limits = np.stack([median - reach, median + reach])
    unlimited = np.array([[-UNLIMITED], [UNLIMITED]])
    return np.where(np.isfinite(limits), limits, unlimited)


def weighted_percentile(X: np.ndarray, weights: np.ndarray, rank: float) -> np.ndarray:
    """Weighted percentile of each column, (M,); between two samples their mean, even if sums of weights are rounded.

    NaN is a missing value; a column without any value has the percentile NaN.
    """
    order = X.argsort(axis=0)  # NaN last
    totals = np.take_along_axis(np.where(np.isnan(X), 0.0, weights[:, None]), order, axis=0).cumsum(axis=0)
    shares = rank / 100 * np.array([1 - ROUNDING, 1 + ROUNDING])
    chosen = np.stack([(totals < share * totals[-1]).sum(axis=0) for share in shares])
    return np.take_along_axis(np.take_along_axis(X, order, axis=0), chosen, axis=0).mean(axis=0)


def winsorised(X: np.ndarray, limits: np.ndarray | None) -> np.ndarray:
    """Samples (n, M) with values beyond ``limits`` replaced by the nearest limit; ``X`` itself if there are none."""
    if limits is None or not len(X):
        return X
    with np.errstate(over="ignore"):
        lowest, highest = limits.astype(X.dtype)
    if (np.fmin.reduce(X) >= lowest).all() and (np.fmax.reduce(X) <= highest).all():
        return X
    return np.clip(X, lowest, highest)


def chosen_for_limits(n_samples: int) -> np.ndarray:
    """Indices, in increasing order, of the samples that determine limits: random ones, since classes may alternate."""
    rng, size = np.random.default_rng(0), min(n_samples, QUANTILE_SAMPLES)
    return np.sort(rng.choice(n_samples, size, replace=False, shuffle=False))


@dataclass(frozen=True, eq=False)
class Moments:
    """Total weight, mean (M,) and weighted sum of squared deviations from the mean (M,) of some samples."""

    weight: float
    mean: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, weights: np.ndarray) -> Self:
        """Moments of samples (n, M), in the order that they have."""
        chunks = [slice(begin, begin + CHUNK_ROWS) for begin in range(0, len(X), CHUNK_ROWS)]
        total = float(weights.sum())

        def sums_about(shift: np.ndarray) -> np.ndarray:
            return add([moments(weights[chunk], X[chunk], shift) for chunk in chunks])

        with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
            mean = sums_about(np.zeros(X.shape[1]))[0] / total
            # Of what rounding left of the mean: a large constant feature has no spread.
            rest, squares = sums_about(mean)
            rest = rest / total
            return cls(total, mean + rest, np.maximum(squares - total * rest**2, 0.0))

    @classmethod
    def combined(cls, parts: Sequence[Moments]) -> Moments:
        if len(parts) == 1:
            return parts[0]
        with np.errstate(over="ignore", invalid="ignore"):
            weight = add([part.weight for part in parts])
            mean = add([part.weight * part.mean for part in parts]) / weight
            squares = add([part.squares + part.weight * (part.mean - mean) ** 2 for part in parts])
        return cls(weight, mean, squares)


def feature_moments(X: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and weighted sum of squared deviations of each feature, and True where it is constant up to rounding: (M,) each."""
    spread = tree((Moments.of(X[p], weights[p]) for p in slices(len(X))), Moments.combined)
    if np.isnan(spread.mean).any():
        return _observed_moments(X, weights)

    def extremes() -> tuple[np.ndarray, np.ndarray]:
        return X.min(axis=0), X.max(axis=0)

    return checked_moments(spread, X[0], X.dtype, extremes)


def checked_moments(
    spread: Moments,
    first_sample: np.ndarray,
    dtype: np.dtype,
    extremes: Callable[[], tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The result of `feature_moments` for samples of a type, whose least and largest values are ``extremes()``."""
    refuse_extreme(spread.squares, extremes)
    # Rounding of the mean leaves a constant feature with a variance above zero.
    constant = np.sqrt(spread.squares / spread.weight) <= 4 * np.finfo(dtype).eps * np.abs(spread.mean)
    return np.where(constant, first_sample, spread.mean), spread.squares, constant


def _observed_moments(X: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Moments of the observed values, scaled as if no value, which is NaN, were missing."""
    for j in np.flatnonzero(np.isnan(X).all(axis=0)):
        raise ValueError(f"feature {j} has no value at all: leave it out")
    observed = ~np.isnan(X)
    totals = weighted_sum(weights, observed)
    with np.errstate(over="ignore", invalid="ignore"):
        shift = weighted_sum(weights, np.where(observed, X, 0.0)) / totals
        squares = weighted_sum(weights, np.where(observed, X - shift, 0.0) ** 2)
        variance = squares * (weights.sum() / totals)
    refuse_extreme(variance, lambda: (np.nanmin(X, axis=0), np.nanmax(X, axis=0)))
    constant = np.nanmax(X, axis=0) == np.nanmin(X, axis=0)
    return np.where(constant, np.nanmax(X, axis=0), shift), variance, constant


def common_scale(spread: np.ndarray) -> np.ndarray:
    """One power of two for all features of some spread (M,), shape (M,).

    Squares neither overflow nor underflow, nothing is rounded, and a ball stays a ball.
    """
    overall = np.sqrt(np.mean(spread**2))
    return np.full(len(spread), 2.0 ** np.round(np.log2(overall)) if overall > 0 else 1.0)


def refuse_extreme(variance: np.ndarray, extremes: Callable[[], tuple[np.ndarray, np.ndarray]]) -> None:
    """Raise ValueError for a feature whose sum of squares, ``variance``, overflows, or underflows although it varies."""
    limits = np.finfo(np.float64)
    # Room for the mean over the features, and for its square root rounded to a power of two.
    large = ~(variance < limits.max / (4 * len(variance)))
    small = variance < np.sqrt(limits.tiny)
    if not (large | small).any():
        return
    lowest, highest = extremes()
    for j in np.flatnonzero(large | small):
        if large[j] or lowest[j] < highest[j]:
            raise ValueError(
                f"feature {j}, from {lowest[j]:.3g} to {highest[j]:.3g}, spreads too {'far' if large[j] else 'little'} for "
                "its square in float64: multiply it by a constant that brings it near one"
            )


# Distances of clusters

METRICS = ("euclidean", "mahalanobis")
"""Distances of features in input units, or in units of their standard deviations (Sanderson and Curtin 2017, eq. 20)."""


def metric_units(X: np.ndarray, weights: np.ndarray, metric: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Shift and scale (m,) of units in which the metric is Euclidean, and the mean variance in them.

    For "euclidean" distances differ by the factor ``scale[0]``.
    """
    shift, squares, constant = feature_moments(X, weights)
    spread = np.where(constant, 0.0, np.sqrt(squares / weights.sum()))
    if metric == "euclidean":
        scale = common_scale(spread)
        return shift, scale, float(np.mean((spread / scale) ** 2))
    # With many samples the rounding of the mean may reach more than a few digits.
    for j in np.flatnonzero(spread <= 1e-6 * np.abs(shift)):
        if not constant[j] and X[:, j].min() < X[:, j].max():
            continue
        raise ValueError(
            f'metric="mahalanobis" divides by the standard deviation of each feature, and feature {j} is constant: '
            'leave it out, or set metric="euclidean"'
        )
    return shift, spread, 1.0
