"""Between the user's units and the engine's: features there are centred and scaled."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skem.engine import em, rows
from skem.engine.clusters import VARIANCE_FLOOR
from skem.engine.covariances import COVARIANCE_TYPES, CovarianceType
from skem.engine.density import Block
from skem.engine.given_start import checked_mixture
from skem.engine.linalg import linearly_dependent
from skem.engine.parameters import SINGULAR, Mixture
from skem.engine.parts import Parts, add, slices, tree
from skem.engine.problem import Problem
from skem.engine.threads import Workers, single_threaded
from skem.estimators._checking import check_features
from skem.estimators._declarations import POSITIVE, Array, word

LARGEST_SQUARE = 1e290
"""Largest covariance, and largest square of a mean over a variance, in a file: sums of such terms are finite."""

UNITS = {
    "_shift": Array("n_features"),
    "_scale": Array("n_features", least=POSITIVE),
    "_mean_variance": Array(least=0),
    "_fitted_type": word(*COVARIANCE_TYPES),
    "_least_ridge": Array(least=0, optional=True),
}
"""Declarations of the attributes of ``Units``."""

LEAST_VARIANCE = 1e-200
"""Of a feature, relative to the features' mean variance: components a hundred digits narrower still have a precision."""

MEASURED_SAMPLES = 1000
"""Samples, beyond the number of features, that show whether these are linearly dependent."""


class _FittedBlocks(NamedTuple):
    """The blocks of a fitted estimator, and their parameters: covariances with `_checksums`, and copies of the rest."""

    fitted_type: str
    covariances: list[np.ndarray]
    state: list[np.ndarray]
    blocks: list[Block]

    def are_of(self, fitted_type: str, covariances: list[np.ndarray], state: list[np.ndarray]) -> bool:
        """True if they are those of these parameters."""
        return (
            self.fitted_type == fitted_type
            and len(self.state) == len(state)
            and all(one is other for one, other in zip(self.covariances, covariances, strict=True))
            and all(map(np.array_equal, self.state, state))
        )


_last_blocks: WeakKeyDictionary[Any, _FittedBlocks] = WeakKeyDictionary()
"""By estimator. Apart from it, so that its copies, clones and pickles are without factors."""


def _checksums(array: np.ndarray) -> np.ndarray:
    """Sums over the last axis, which show edits in place; the bits of numbers are summed as integers, so no digit is lost."""
    return np.ascontiguousarray(array, dtype=np.float64).view(np.uint64).sum(axis=-1)


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
        variance_floor: float
        n_jobs: int | None

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

    def _measure(self, training_rows: TrainingRows) -> None:
        """Choose the shift and scale per feature; what is fitted from here on has the covariance type now asked for.

        Raises
        ------
        ValueError
            A feature that spreads so much, or so little, that float64 cannot hold its variance or the variance's square.
        """
        self._fitted_type = self.covariance_type
        shift, variance, constant = training_rows.moments()
        total = training_rows.total_weight()
        scale = np.sqrt(variance / total)
        if self.standardize:
            # Of what is constant but for its last digits, those may be large.
            if constant.any():
                lowest, highest = training_rows.range()
                far = np.maximum(highest - shift, shift - lowest)
                scale[constant] = far[constant].clip(min=1.0)
            scale[scale == 0] = 1.0
        else:
            spread = np.where(constant, 0.0, scale)
            scale = common_scale(spread)
            _refuse_unequal(training_rows, spread / scale, self.reg_covar / scale[0] ** 2)
        self._shift, self._scale = shift, scale
        variance = np.where(constant, 0.0, variance)
        self._mean_variance = float(np.mean(variance / total / scale**2))

    def _internal_ridge(self) -> float:
        ridge = self.reg_covar if self.standardize else self.reg_covar / self._scale[0] ** 2
        return max(ridge, vars(self).get("_least_ridge", 0.0))

    def _regularise(self, parts: Parts, blocks: Sequence[np.ndarray]) -> None:
        """Raise the covariance regularisation, with a warning, where that of all samples is singular in a block.

        Otherwise each component would keep its first covariance.
        """
        self.__dict__.pop("_least_ridge", None)
        ridge, floor = self._internal_ridge(), self.variance_floor * self._mean_variance
        largest_variance = self._mean_variance * len(self._scale)
        with Workers(self.n_jobs) as workers:
            for columns in blocks:
                m = len(columns)
                # A pivot is no less than either.
                if max(ridge, floor) > m * SINGULAR * (largest_variance + ridge):
                    continue
                ball = self._covariance_type.of_groups(np.eye(m)[None], np.zeros(1, dtype=int))
                start = Mixture(np.ones((1, parts.n_classes)), np.zeros((1, m)), ball)
                problem = Problem(
                    parts,
                    columns,
                    start,
                    self._covariance_type,
                    workers,
                    ridge=ridge,
                    variance_floor=floor,
                )
                if em.is_singular(problem) and self._dependent(parts, columns):
                    # In the engine's units.
                    self._least_ridge = VARIANCE_FLOOR * (self._mean_variance or 1.0)
                    break
            else:
                return
        used = self._least_ridge if self.standardize else self._least_ridge * self._scale[0] ** 2
        warnings.warn(
            f"{type(self).__name__}: the covariance of the samples is singular with reg_covar={self.reg_covar:g}: features are "
            "constant or linear combinations of others, or more than there are samples. EM goes on with "
            f"reg_covar={used:.3g}, which is {VARIANCE_FLOOR:g} of the mean variance: leave such features out, or set reg_covar",
            stacklevel=2,
        )

    def _dependent(self, parts: Parts, columns: np.ndarray) -> bool:
        """True if features are linear combinations of others, as far as a part of the samples tells."""
        samples = parts.whole.features
        n = min(samples.n_samples, len(columns) + MEASURED_SAMPLES)
        x = samples.read(columns, np.arange(n) * samples.n_samples // n)
        shift = (self._shift / self._scale)[columns, None]
        return linearly_dependent(x, np.finfo(parts.dtype).eps * np.abs(x + shift).max(axis=1))

    def _to_input_units(self, mixture: Mixture, columns: np.ndarray) -> Mixture:
        scale = self._scale[columns]
        covariances = self._covariance_type.to_input(
            mixture.covariances, scale, same_scale=not self.standardize
        )
        return Mixture(mixture.weights, mixture.means * scale + self._shift[columns], covariances)

    def _to_internal(self, mixture: Mixture, columns: np.ndarray) -> Mixture:
        scale, (K, m) = self._scale[columns], mixture.means.shape
        # Compiled loops read as many covariances as there are means, and users assign fitted attributes.
        if mixture.covariances.shape not in self._covariance_type.shapes(K, m) or len(mixture.weights) != K:
            raise ValueError(
                f"weights {mixture.weights.shape}, means {mixture.means.shape} and covariances {mixture.covariances.shape} "
                f"of a fitted {type(self).__name__} do not belong together: the shapes do not match"
            )
        covariances = self._covariance_type.to_engine(mixture.covariances, scale)
        return Mixture(mixture.weights, (mixture.means - self._shift[columns]) / scale, covariances)

    def _refuse_mixture(self, mixture: Mixture, columns: np.ndarray, whose: str) -> None:
        """Raise ValueError if a mixture from a file has no density, or none in float64.

        ``whose`` is the name of an array in error messages, with {} for the last part of it.
        """
        arrays = mixture.weights, mixture.means, mixture.covariances
        sizes = len(mixture.means), len(columns), mixture.weights.shape[1]
        checked_mixture(arrays, sizes, self._covariance_type, whose)
        with np.errstate(over="ignore", under="ignore"):
            inside = self._to_internal(mixture, columns)
            covariances = inside.covariances
            if self._covariance_type.diagonal:
                variances = covariances.reshape(len(covariances), -1)
            else:
                variances = np.diagonal(covariances, axis1=-2, axis2=-1)
            if not (np.abs(covariances) <= LARGEST_SQUARE).all():
                raise ValueError(
                    f"{whose.format('covariances')} are too large, or _scale too small, for float64"
                )
            if not (inside.means**2 <= LARGEST_SQUARE * variances).all():
                raise ValueError(
                    f"{whose.format('means')} are too far from _shift, or covariances too small, for float64"
                )
        if self._covariance_type.name == "spherical":
            boxes = self._covariance_type.rescaled(covariances, self._scale[columns])
            if not np.allclose(boxes, mixture.covariances.reshape(len(boxes), -1)):
                raise ValueError(
                    f"{whose.format('covariances')} must be balls, or with standardize=True boxes of one shape"
                )

    def _blocks_of(self, mixtures: Sequence[Mixture], blocks: Sequence[np.ndarray]) -> list[Block]:
        """The fitted blocks in the engine's units; with unchanged parameters those of the last call, factors included."""
        covariances = [mixture.covariances for mixture in mixtures]
        small = [array for mixture in mixtures for array in (mixture.weights, mixture.means)]
        state = [self._shift, self._scale, *blocks, *small, *map(_checksums, covariances)]
        known = _last_blocks.get(self)
        if known is None or not known.are_of(self._fitted_type, covariances, state):
            made = [
                Block(columns, self._to_internal(mixture, columns), self._covariance_type)
                for columns, mixture in zip(blocks, mixtures, strict=True)
            ]
            known = _FittedBlocks(self._fitted_type, covariances, [np.array(array) for array in state], made)
            _last_blocks[self] = known
        return known.blocks

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


class TrainingRows(Protocol):
    """Rows with weights of mean one, as far as their units go."""

    def moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `feature_moments`."""

    def total_weight(self) -> float: ...
    def range(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and the largest value of each feature, (M,) each."""


@dataclass(frozen=True)
class Spread:
    """Weight, mean (M,) and sum of squared deviations from it (M,) of some rows; two of them add up."""

    weight: float
    mean: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, weights: np.ndarray) -> Self:
        """That of a part of the rows, in the order they have."""
        chunks = [slice(begin, begin + rows.CHUNK_ROWS) for begin in range(0, len(X), rows.CHUNK_ROWS)]
        mean, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
            for chunk in chunks:
                mean += weights[chunk] @ X[chunk].astype(np.float64, copy=False)
            mean /= weights.sum()
            for chunk in chunks:
                squares += weights[chunk] @ (X[chunk] - mean) ** 2
        return cls(float(weights.sum()), mean, squares)

    @classmethod
    def of_all(cls, parts: Sequence[Spread]) -> Spread:
        """That of some parts together; of one, as it is."""
        if len(parts) == 1:
            return parts[0]
        with np.errstate(over="ignore", invalid="ignore"):
            weight = add([part.weight for part in parts])
            mean = add([part.weight * part.mean for part in parts]) / weight
            squares = add([part.squares + part.weight * (part.mean - mean) ** 2 for part in parts])
        return cls(weight, mean, squares)


def feature_moments(X: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean of each feature, its sum of squared deviations from it, and whether it is constant but for rounding: (M,) each.

    Raises
    ------
    ValueError
        A feature that spreads so much, or so little, that float64 cannot hold its variance or the variance's square.
    """
    parts = slices(len(X))
    if len(parts) == 1:
        spread = Spread.of(X, weights)
    else:
        # Sums of columns that are contiguous have other last bits, and rows come in any layout.
        spread = tree((Spread.of(np.ascontiguousarray(X[p]), weights[p]) for p in parts), Spread.of_all)
    if np.isnan(spread.mean).any():
        return _observed_moments(X, weights)

    def extremes() -> tuple[np.ndarray, np.ndarray]:
        return X.min(axis=0), X.max(axis=0)

    return checked_moments(spread, X[0], X.dtype, extremes)


def checked_moments(
    spread: Spread,
    first_row: np.ndarray,
    dtype: np.dtype,
    extremes: Callable[[], tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `feature_moments` returns, of rows of some type whose smallest and largest values ``extremes`` looks up."""
    refuse_extreme(spread.squares, extremes)
    # Rounding of the mean leaves a constant column with a spread that is not zero.
    constant = np.sqrt(spread.squares / spread.weight) <= 4 * np.finfo(dtype).eps * np.abs(spread.mean)
    return np.where(constant, first_row, spread.mean), spread.squares, constant


def _observed_moments(X: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of the values that are there: NaN is a missing one. Sums of squares are as of all rows."""
    for j in np.flatnonzero(np.isnan(X).all(axis=0)):
        raise ValueError(f"feature {j} has no value at all: leave it out")
    observed = ~np.isnan(X)
    totals = weights @ observed
    with np.errstate(over="ignore", invalid="ignore"):
        shift = weights @ np.where(observed, X, 0.0) / totals
        variance = weights @ np.where(observed, X - shift, 0.0) ** 2 * (weights.sum() / totals)
    refuse_extreme(variance, lambda: (np.nanmin(X, axis=0), np.nanmax(X, axis=0)))
    constant = np.nanmax(X, axis=0) == np.nanmin(X, axis=0)
    return np.where(constant, np.nanmax(X, axis=0), shift), variance, constant


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
        estimator.__dict__ = before  # In one step, which nothing can interrupt.
        raise


def refuse_extreme(variance: np.ndarray, extremes: Callable[[], tuple[np.ndarray, np.ndarray]]) -> None:
    """Raise ValueError where sums of squares of a feature, ``variance``, overflow, or underflow though it varies."""
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


def _refuse_unequal(training_rows: TrainingRows, spread: np.ndarray, ridge: float) -> None:
    """Raise ValueError where a feature's ``spread`` is nothing in float64 beside that of the others, nor is the ridge."""
    small = (spread > 0) & (spread**2 + ridge < LEAST_VARIANCE)
    for j in np.flatnonzero(small):
        lowest, highest = training_rows.range()
        raise ValueError(
            f"feature {j}, from {lowest[j]:.3g} to {highest[j]:.3g}, spreads too little beside the others for its "
            "square in float64: set standardize=True, or multiply it by a constant"
        )
