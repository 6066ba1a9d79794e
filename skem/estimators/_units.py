"""Between the user's units and the engine's: features there are centred and scaled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skem.engine import rows
from skem.engine.covariance_type import CovarianceType
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.parameters import Mixture
from skem.engine.threads import single_threaded
from skem.estimators._checking import check_features

LEAST_VARIANCE = 1e-200
"""Of a feature, relative to the features' mean variance: components a hundred digits narrower still have a precision."""


class Units:
    """For estimators whose parameters are in input units and whose engine works on (X - shift) / scale."""

    if TYPE_CHECKING:
        covariance_type: str
        standardize: bool
        reg_covar: float
        _shift: np.ndarray
        _scale: np.ndarray
        _mean_variance: float  # of the features, in the engine's units
        _fitted_type: str  # covariance_type may be set anew after a fit

    @property
    def _covariance_type(self) -> CovarianceType:
        return COVARIANCE_TYPES[self._fitted_type]

    # Whether NaN in new rows is a missing value, and whether a row may have no value at all.
    _takes_missing = False
    _takes_empty_rows = False

    def _features(self, X: ArrayLike | rows.Features, keep: bool = False) -> rows.Features:
        """Checked features of new rows, in the engine's units.

        What this made of rows is taken for rows anywhere: with ``keep``, for rows that are asked about again
        after each pass of a fit, it is not made anew.
        """
        if isinstance(X, rows.Features):
            return X
        check_is_fitted(self)
        checked = check_features(
            self, X, missing=self._takes_missing, empty_rows=self._takes_empty_rows, reset=False
        )
        return rows.Features(checked, None, self._shift, self._scale, keep)

    def _measure(self, X: np.ndarray, weights: np.ndarray) -> None:
        """Choose the shift and scale per feature; what is fitted from here on has the covariance type now asked for.

        Raises
        ------
        ValueError
            A feature that spreads so much, or so little, that float64 cannot hold its variance or the variance's square.
        """
        self._fitted_type = self.covariance_type
        shift, variance, constant = feature_moments(X, weights)
        scale = np.sqrt(variance / weights.sum())
        if self.standardize:
            # Of what is constant but for its last digits, those may be large.
            scale[constant] = np.nanmax(np.abs(X[:, constant] - shift[constant]), axis=0).clip(min=1.0)
            scale[scale == 0] = 1.0
        else:
            spread = np.where(constant, 0.0, scale)
            scale = common_scale(spread)
            _refuse_unequal(X, spread / scale, self.reg_covar / scale[0] ** 2)
        self._shift, self._scale = shift, scale
        variance = np.where(constant, 0.0, variance)
        self._mean_variance = float(np.mean(variance / weights.sum() / scale**2))

    def _internal_ridge(self) -> float:
        return self.reg_covar if self.standardize else self.reg_covar / self._scale[0] ** 2

    def _to_input_units(self, mixture: Mixture, columns: np.ndarray) -> Mixture:
        scale = self._scale[columns]
        covariances = self._covariance_type.to_input(
            mixture.covariances, scale, same_scale=not self.standardize
        )
        return Mixture(mixture.weights, mixture.means * scale + self._shift[columns], covariances)

    def _to_internal(self, mixture: Mixture, columns: np.ndarray) -> Mixture:
        scale = self._scale[columns]
        covariances = self._covariance_type.to_engine(mixture.covariances, scale)
        return Mixture(mixture.weights, (mixture.means - self._shift[columns]) / scale, covariances)

    def _rows_of(
        self, components: np.ndarray, mixture: Mixture, columns: np.ndarray, rng: np.random.RandomState
    ) -> np.ndarray:
        """A row drawn from each of these components, shape (n, m), in input units as ``mixture`` is."""
        internal = self._to_internal(mixture, columns)
        matrices = self._covariance_type.dense(internal.covariances, *internal.means.shape)
        factors = np.linalg.cholesky(matrices)
        noise = rng.standard_normal((len(components), len(columns)))
        drawn = internal.means[components] + np.einsum("nij,nj->ni", factors[components], noise)
        return drawn * self._scale[columns] + self._shift[columns]


def feature_moments(X: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean of each feature, its sum of squared deviations from it, and whether it is constant but for rounding: (M,) each.

    Raises
    ------
    ValueError
        A feature that spreads so much, or so little, that float64 cannot hold its variance or the variance's square.
    """
    chunks = [slice(begin, begin + rows.CHUNK_ROWS) for begin in range(0, len(X), rows.CHUNK_ROWS)]
    shift, variance = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        for chunk in chunks:
            shift += weights[chunk] @ X[chunk].astype(np.float64, copy=False)
        shift /= weights.sum()
        for chunk in chunks:
            variance += weights[chunk] @ (X[chunk] - shift) ** 2
    if np.isnan(shift).any():
        return _observed_moments(X, weights)
    _refuse_extreme(X, variance)
    # Rounding of the mean leaves a constant column with a spread that is not zero.
    constant = np.sqrt(variance / weights.sum()) <= 4 * np.finfo(X.dtype).eps * np.abs(shift)
    return np.where(constant, X[0], shift), variance, constant


def _observed_moments(X: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of the values that are there: NaN is a missing one. Sums of squares are as of all rows."""
    for j in np.flatnonzero(np.isnan(X).all(axis=0)):
        raise ValueError(f"feature {j} has no value at all: leave it out")
    observed = ~np.isnan(X)
    totals = weights @ observed
    with np.errstate(over="ignore", invalid="ignore"):
        shift = weights @ np.where(observed, X, 0.0) / totals
        variance = weights @ np.where(observed, X - shift, 0.0) ** 2 * (weights.sum() / totals)
    _refuse_extreme(X, variance)
    constant = np.nanmax(X, axis=0) == np.nanmin(X, axis=0)
    return np.where(constant, np.nanmax(X, axis=0), shift), variance, constant


def check_units(shift: np.ndarray, scale: np.ndarray, shape: tuple[int, ...]) -> None:
    """Raise ValueError where these are no shift and scale of features."""
    for name, array in (("shift", shift), ("scale", scale)):
        if array.shape != shape:
            raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
    if not (np.isfinite(shift).all() and np.isfinite(scale).all() and (scale > 0).all()):
        raise ValueError("scale must be positive, and shift finite")


def common_scale(spread: np.ndarray) -> np.ndarray:
    """One power of two for all features of some spread (M,), shape (M,).

    Squares neither overflow nor underflow, nothing is rounded, and a ball stays a ball.
    """
    overall = np.sqrt(np.mean(spread**2))
    return np.full(len(spread), 2.0 ** np.round(np.log2(overall)) if overall > 0 else 1.0)


@contextmanager
def all_or_nothing(estimator: object) -> Iterator[None]:
    """Give an estimator its attributes back where a fit fails or is interrupted."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def _refuse_extreme(X: np.ndarray, variance: np.ndarray) -> None:
    """Raise ValueError where sums of squares of a feature, ``variance``, overflow, or underflow though it varies."""
    limits = np.finfo(np.float64)
    # Room for the mean over the features, and for its square root rounded to a power of two.
    large = ~(variance < limits.max / (4 * X.shape[1]))
    small = variance < np.sqrt(limits.tiny)
    for j in np.flatnonzero(large | small):
        lowest, highest = np.nanmin(X[:, j]), np.nanmax(X[:, j])
        if large[j] or lowest < highest:
            raise ValueError(
                f"feature {j}, from {lowest:.3g} to {highest:.3g}, spreads too {'far' if large[j] else 'little'} for its "
                "square in float64: multiply it by a constant that brings it near one"
            )


def _refuse_unequal(X: np.ndarray, spread: np.ndarray, ridge: float) -> None:
    """Raise ValueError where a feature's ``spread`` is nothing in float64 beside that of the others, nor is the ridge."""
    small = (spread > 0) & (spread**2 + ridge < LEAST_VARIANCE)
    for j in np.flatnonzero(small):
        raise ValueError(
            f"feature {j}, from {np.nanmin(X[:, j]):.3g} to {np.nanmax(X[:, j]):.3g}, spreads too little beside the others for its "
            "square in float64: set standardize=True, or multiply it by a constant"
        )
