"""The training samples of a fit: checked, without those that have no weight, and with their classes as numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from skem.engine.masked import refuse_masked
from skem.engine.missing_em import IncompleteParts
from skem.engine.parts import PartsInMemory, slices, tree
from skem.engine.rows import Rows
from skem.estimators._array_api import device_of, raise_missing_on, to_numpy
from skem.estimators._checking import check_features, has_missing, is_dask, is_out_of_core, weighted_samples
from skem.estimators._units import chosen_for_limits, feature_moments, robust_limits, winsorised

if TYPE_CHECKING:
    from skem.engine.device import Device
    from skem.estimators._out_of_core import OutOfCoreSamples


@dataclass(frozen=True, eq=False)
class TrainingSamples:
    """Samples in memory (n, M), their classes as indices of ``classes``, and their weights, in input units.

    Unlabelled samples have no ``classes``, and indices of zero. The E-step runs on ``device``; None is the host.
    """

    X: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    classes: np.ndarray
    device: Device | None = None

    @classmethod
    def of(
        cls, X: np.ndarray, labels: Any, sample_weight: ArrayLike | None, device: Device | None = None
    ) -> Self:
        """The samples that have a weight, see `weighted_samples`; ``labels`` is None without classes."""
        used, weights = weighted_samples(X, sample_weight)
        classes: np.ndarray = np.zeros(0)
        codes: np.ndarray = np.zeros(len(weights), dtype=np.int8)
        if labels is not None:
            classes, codes = np.unique(np.asarray(labels)[used], return_inverse=True)
        return cls(X[used], codes, weights, classes, device)

    @property
    def n_samples(self) -> int:
        return len(self.X)

    @cached_property
    def incomplete(self) -> bool:
        return has_missing(self.X)

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    def moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return feature_moments(self.X, self.weights)

    def limits(self) -> np.ndarray:
        chosen = chosen_for_limits(self.n_samples)
        return robust_limits(self.X[chosen], self.weights[chosen])

    def winsorised(self, limits: np.ndarray | None) -> Self:
        """The samples with their values between limits; a copy of them if one is beyond."""
        X = winsorised(self.X, limits)
        return self if X is self.X else replace(self, X=X)

    def total_weight(self) -> float:
        return tree(float(self.weights[part].sum()) for part in slices(len(self.weights)))

    def known_in_each_class(self) -> Self:
        """The samples; a feature without any value in a class takes values of the other classes, see `borrowed`.

        EM has nothing to learn such a feature from, and ``reg_covar`` would enlarge its variance in each iteration.
        """
        if not self.incomplete:
            return self
        X, known = self.X, ~np.isnan(self.X).all(axis=0)
        for c in range(len(self.classes)):
            own = np.flatnonzero(self.codes == c)
            if (unknown := np.isnan(self.X[own]).all(axis=0) & known).any():
                X = np.array(X) if X is self.X else X
                X[np.ix_(own, unknown)] = borrowed(self.X[:, unknown], own)
        return self if X is self.X else replace(self, X=X)

    def range(self) -> tuple[np.ndarray, np.ndarray]:
        return np.nanmin(self.X, axis=0), np.nanmax(self.X, axis=0)

    def class_weights(self) -> np.ndarray:
        return tree(
            np.bincount(self.codes[part], weights=self.weights[part], minlength=len(self.classes))
            for part in slices(len(self.codes))
        )

    def parts(self, shift: np.ndarray, scale: np.ndarray) -> PartsInMemory:
        """The samples as the engine reads them, on the host or on the device."""
        L = len(self.classes)
        data = self.X, self.codes if L else None, self.weights, shift, scale, L or None
        if self.device is not None:
            from skem.engine.device import DeviceParts

            return DeviceParts(self.device, *data)
        return IncompleteParts(*data) if self.incomplete else PartsInMemory(*data)

    def split(
        self, fraction: float, random_state: np.random.RandomState
    ) -> tuple[TrainingSamples, TrainingSamples]:
        """Samples to train on, with weights of mean one, and a stratified ``fraction`` that is held out.

        The only sample of a class is trained on.
        """
        splitter = StratifiedShuffleSplit(1, test_size=fraction, random_state=random_state)
        several = np.flatnonzero(np.bincount(self.codes)[self.codes] > 1)
        try:
            train, held_out = next(splitter.split(several, self.codes[several]))
        except ValueError as error:
            raise ValueError(
                f"validation_fraction={fraction:g} of {len(several)} samples of {len(self.classes)} classes cannot be held "
                f"out: {error}; set another fraction, or early_stopping=False"
            ) from error
        train, held_out = several[train], several[held_out]
        if len(several) < len(self.codes):
            train = np.setdiff1d(np.arange(len(self.codes)), held_out)
        weights = self.weights[train] / self.weights[train].mean()
        return (
            TrainingSamples(self.X[train], self.codes[train], weights, self.classes, self.device),
            TrainingSamples(self.X[held_out], self.codes[held_out], self.weights[held_out], self.classes),
        )


def borrowed(X: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Copy samples, with missing values taken from samples of ``X`` that have them, at equal distances; shape (n, M).

    Features that miss the same values take them from the same samples, which preserves their joint distribution.
    """
    found = X[indices]
    missing = np.isnan(found)
    for j in np.flatnonzero(missing.any(axis=0)):
        values = X[~np.isnan(X[:, j]), j]
        places = np.linspace(0, len(values) - 1, np.count_nonzero(missing[:, j]))
        found[missing[:, j], j] = values[places.round().astype(int)]
    return found


@dataclass(frozen=True, eq=False)
class HeldOutSamples:
    """Samples that select an iteration, in the engine's units, their classes (n,) and their weights (n,)."""

    features: Rows
    codes: np.ndarray
    weights: np.ndarray

    def accuracy(self, model: Any) -> float:
        return model.score(self.features, model.classes_[self.codes], sample_weight=self.weights)

    def log_loss(self, model: Any) -> float:
        """Weighted mean of -log p(c|x), in nats."""
        log_proba = model.predict_log_proba(self.features)
        true = log_proba[np.arange(len(self.codes)), self.codes]
        return -float(np.average(true, weights=self.weights))


def training_samples(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, labelled: bool, **checks: Any
) -> TrainingSamples | OutOfCoreSamples:
    """Check the arguments of ``fit``, wherever they are; unless ``labelled``, ``y`` is ignored.

    ``checks`` are options of ``sklearn.utils.validation.validate_data``.
    """
    y = y if labelled else None
    if is_out_of_core(X):
        return _out_of_core_samples(estimator, X, y, sample_weight)
    device = device_of(X)
    if device is not None:
        X, y, sample_weight = to_numpy((X, y, sample_weight))
    if labelled:
        checks |= {"y": y}
    checked: Any = check_features(estimator, X, missing=True, **checks)
    labels = None
    if labelled:
        checked, labels = checked
        check_classification_targets(labels)
    samples = TrainingSamples.of(checked, labels, sample_weight, device)
    if device is not None and samples.incomplete:
        raise_missing_on(device)
    return samples


def _out_of_core_samples(estimator: Any, X: Any, y: Any, sample_weight: Any) -> OutOfCoreSamples:
    """Check the samples of a fit; ``y`` is None for unlabelled samples."""
    from skem.estimators._out_of_core import FileReaders, OutOfCoreSamples

    executor: Any
    if is_dask(X):
        from skem.estimators._dask import DaskWorkers, dask_array

        executor, empty_table = DaskWorkers(type(estimator).__name__), getattr(X, "_meta", None)
        X = dask_array(X, "X")
    else:
        executor, empty_table = FileReaders(estimator.n_jobs), X.empty_table
    refuse_masked("y", y)
    refuse_masked("sample_weight", sample_weight)
    if len(X.shape) != 2 or 0 in X.shape:
        raise ValueError(f"X must have samples and features, got shape {X.shape}")
    validate_data(estimator, empty_table, skip_check_array=True, ensure_2d=False)
    estimator.n_features_in_ = X.shape[1]
    blocks = executor.blocks(X, y, sample_weight)
    return OutOfCoreSamples(type(estimator).__name__, executor, blocks, X.shape[1], X.dtype)
