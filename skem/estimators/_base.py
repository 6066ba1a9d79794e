"""What the classifiers share: from parameters and rows to a fit, in the order of things."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets

from skem.engine import em, missing_em, partition, sharing
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.masked import refuse_masked
from skem.engine.parameters import Mixture
from skem.engine.parts import Parts
from skem.engine.problem import ACTIVE_ROWS
from skem.engine.rows import Features
from skem.engine.threads import single_threaded
from skem.estimators._array_api import fits_in_namespace, refuse_missing_on, to_host
from skem.estimators._blocks import is_out_of_core
from skem.estimators._callbacks import CallbackSupportMixin, Progress, follow, with_callbacks
from skem.estimators._checking import (
    CheckedParameters,
    check_features,
    has_missing,
    refuse_device,
    refuse_unknown_features,
)
from skem.estimators._classifier_files import ClassifierFiles
from skem.estimators._out_of_core import OutOfCoreRows, out_of_core_rows
from skem.estimators._starting import STARTS, Starting
from skem.estimators._training import (
    EarlyStopping,
    LabelledRows,
    Record,
    Training,
    seeds,
    warn_if_singular,
    warn_unless_converged,
)
from skem.estimators._units import all_or_nothing

OF_ONE_START = (
    *("blocks_", "log_likelihood_", "objective_", "n_iter_", "best_iter_", "converged_", "dtype_used_"),
    *("validation_scores_", "best_validation_score_", "_n_singular"),
)
"""What passes leave, and the best of several starts has."""


class SharedKernelClassifier(
    CheckedParameters, Starting, ClassifierFiles, CallbackSupportMixin, ClassifierMixin, BaseEstimator
):
    """What the four classifiers share: blocks of features, one shared-kernel mixture each.

    Inside, features are centred and scaled; everything public is in input units.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like", dict, None],
        "n_blocks": [Interval(Integral, 1, None, closed="left")],
        "block_size": [Interval(Integral, 1, None, closed="left"), None],
        "arrangement": [StrOptions(set(partition.ARRANGEMENTS)), list, tuple, np.ndarray],
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "init": [StrOptions(set(STARTS)), list, tuple, dict],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init_spread": [Interval(Real, 0, None, closed="left")],
        "init_scale": [Interval(Real, 0, None, closed="neither")],
        "standardize": ["boolean"],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "class_prior": [StrOptions({"uniform", "empirical"}), "array-like", dict],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "sharing": [Real, "array-like", None],
        "groups": ["array-like", None],
        "variance_floor": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    # What some of the classifiers do not offer as a parameter.
    n_blocks = 1
    arrangement: str | Sequence[Sequence[int]] = "sequential"
    block_size: int | None = None
    covariance_type = "full"
    variance_floor = 0.0

    _active_rows = ACTIVE_ROWS  # 0 for exact passes, to measure what active sets are worth

    @fits_in_namespace
    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> SharedKernelClassifier:
        """Train by supervised EM (Pulford 2022, eqs. 15-18; eq. 32 for one covariance).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Float32 input is computed in float32 as long as that is exact enough, see ``dtype_used_``. A ``numpy.memmap`` is
            read chunk by chunk. Dask arrays and data frames stay on their workers, and ``skem.datasets.ParquetRows`` are read
            one row group at a time, but not by ``DiscriminativePSKEMClassifier``. An array of another library is worked on where
            it is, on a GPU for example, under scikit-learn's ``array_api_dispatch``; what is fitted is there, too. NaN, in
            NumPy arrays, is a missing value, as is a masked entry: EM then uses the observed values, in float64 (Ghahramani and
            Jordan 1994), as if values were missing at random; starts from rows take the mean over the class.
        y : array-like of shape (n_samples,)
            Class labels, of at least two classes; with rows of Dask or of files, a column of the same or an array.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative; a row of weight two counts as two rows. Only their ratios matter. A row of weight zero, or up to
            1e-30 of the largest weight, counts as none: a class that has weights of zero only is not in ``classes_``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Infinite values; a row, or a feature in a class, with no value at all; one class only among rows with a weight; a
            class with next to no weight; blocks that do not fit the features; a start that needs more rows than there are;
            given arrays of the wrong shape; lambda that is NaN or outside [0, 1]; groups without ``sharing``, or that
            overlap, or leave out a component or a class.
        """
        self._validate_params()
        progress = Progress(self, self._most_passes(), X, y, sample_weight)
        with all_or_nothing(self), single_threaded():
            follow(self, self._fit_passes(X, y, sample_weight), progress)
        return self

    def fit_passes(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Generator[SharedKernelClassifier, bool | None, None]:
        """Fit, and yield the estimator itself after every pass, ready to predict: for learning curves.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.

        Yields
        ------
        self
            Fitted with the passes so far. Sending True into the generator ends the fit. With ``n_init`` starts their
            passes come one start after the other, ``n_iter_`` begins anew with each, and at the end the estimator is
            the best of them.
        """
        refuse_device(self, X)
        yield from self._fit_passes(X, y, sample_weight)

    def _fit_passes(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Generator[SharedKernelClassifier, bool | None, None]:
        self._validate_params()
        random_states = [
            np.random.RandomState(seed) for seed in seeds(self.random_state, self._n_starts() - 1)
        ]
        random_states.insert(0, check_random_state(self.random_state))
        goes_on = self._goes_on()
        rows, held_out = self._check_training_data(X, y, sample_weight), None
        if not goes_on:
            self.n_components_ = self._total_components() or max(20, 3 * len(self.classes_))
            self.block_indices_ = partition.blocks(
                rows.n_features, self.n_blocks, self.arrangement, random_states[0], self.block_size
            )
        self.n_blocks_ = len(self.block_indices_)
        if isinstance(rows, OutOfCoreRows):
            if self.early_stopping:
                raise ValueError(
                    "early_stopping holds out rows of an array in memory only: set early_stopping=False, and tol to stop by "
                    "the training rows"
                )
        elif self._holds_out(rows.codes):
            rows, held_out = rows.split(self.validation_fraction, random_states[0])
        self._measure(rows)
        known = self._known()
        requested = self._requested_components()
        if goes_on:
            requested = self._fitted_with.get("n_components", requested)
        self._fitted_with = self._structure() | {"n_components": requested}
        parts = rows.parts(self._shift, self._scale)
        log_sharing = self._log_sharing(self._reserve(parts))
        training = self._training(rows, parts, log_sharing)
        for name in ("validation_scores_", "best_validation_score_"):
            self.__dict__.pop(name, None)
        yield from self._passes(training, known, held_out, random_states)

    def _passes(
        self,
        training: Training,
        known: list[Mixture] | None,
        held_out: LabelledRows | None,
        random_states: list[np.random.RandomState],
    ) -> Generator[SharedKernelClassifier, bool | None, bool | None]:
        """The passes of EM, of one start after the other; returns whether the caller wants no more of them."""
        log_sharing, goes_on = training.options["log_sharing"], self._goes_on()
        best: tuple[float, dict[str, Any]] | None = None
        for random_state in random_states:
            with single_threaded():
                start = self._start(training.parts, known, random_state)
            if log_sharing is not None:
                start = [sharing.closed(mixture, log_sharing, refill=goes_on) for mixture in start]
            stopping = (
                self._early_stopping(held_out) if held_out is not None and self.early_stopping else None
            )
            stop = yield from self._follow(training.passes(start), stopping)
            worth = self.objective_[-1] if stopping is None else -stopping.go_back()
            if best is None or worth > best[0]:
                best = worth, {name: vars(self)[name] for name in OF_ONE_START if name in vars(self)}
            if stop:
                break
        assert best is not None
        self.__dict__.update(best[1])
        warn_if_singular(self, self.__dict__.pop("_n_singular"))
        if not stop:
            warn_unless_converged(self)
        return stop

    # How many passes there are, for callbacks

    def _n_phases(self) -> int:
        """Starts, and what else has passes of its own."""
        return self._n_starts()

    def _most_passes(self) -> int:
        return self._n_starts() * self.max_iter

    def _phase_ends(self) -> bool:
        """Whether the pass that the estimator is at is the last one of its phase."""
        return self.converged_ or self.n_iter_ == self.max_iter

    # Training, one step each

    def _holds_out(self, codes: np.ndarray) -> bool:
        """Whether some of the rows, whose classes are given, are not for EM."""
        return self.early_stopping

    def _check_training_data(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> LabelledRows | OutOfCoreRows:
        """The rows that have a weight; sets ``classes_`` and ``class_prior_``."""
        rows: LabelledRows | OutOfCoreRows
        if is_out_of_core(X):
            rows = out_of_core_rows(self, X, y, sample_weight)
        else:
            (X, y, sample_weight), device = to_host(X, y, sample_weight)
            checked, labels = check_features(self, X, missing=True, y=y)
            check_classification_targets(labels)
            rows = LabelledRows.of(checked, np.asarray(labels), sample_weight, device)
        if self._goes_on():
            self._refuse_changes(rows.n_features, rows.classes)
        self.classes_ = rows.classes
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, and the rows with a weight are of one class only: "
                f"{self.classes_.tolist()[0]!r}"
            )
        self.class_prior_ = self._resolve_class_prior(rows.class_weights(), rows.total_weight())
        return rows

    def _resolve_class_prior(self, class_weights: np.ndarray, total_weight: float) -> np.ndarray:
        n_classes = len(self.classes_)
        if isinstance(self.class_prior, str):
            if self.class_prior == "uniform":
                return np.full(n_classes, 1.0 / n_classes)
            return class_weights / total_weight
        given, order = self.class_prior, "in the order of classes_"
        if isinstance(given, dict):
            labels, order = self.classes_.tolist(), "one for each label"
            for label in [*labels, *given]:
                if label not in given:
                    raise ValueError(
                        f"class_prior has no probability for class {label!r}, only for {list(given)}: add it, even if it is 0"
                    )
                if label not in labels:
                    raise ValueError(
                        f"class_prior has a probability for {label!r}, which is no class of the training samples: leave it "
                        f"out; the classes are {labels}"
                    )
            given = [given[label] for label in labels]
        refuse_masked("class_prior", given)
        try:
            prior = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):  # words
            prior = np.empty(0)
        if prior.shape != (n_classes,) or not (prior >= 0).all() or not np.isclose(prior.sum(), 1.0):
            raise ValueError(
                f"class_prior must be {n_classes} non-negative numbers that sum to one, {order}; "
                f"got {self.class_prior!r}"
            )
        return prior / prior.sum()

    def _training(
        self, rows: LabelledRows | OutOfCoreRows, parts: Parts, log_sharing: np.ndarray | None
    ) -> Training:
        # Out-of-core samples with missing values have been refused.
        incomplete = isinstance(rows, LabelledRows) and has_missing(rows.X)
        if isinstance(rows, LabelledRows) and incomplete:
            refuse_missing_on(rows.device)
            refuse_unknown_features(rows.X, rows.codes, self.classes_)
        if not incomplete:
            self._regularise(parts, self.block_indices_)
        model = {
            "covariance_type": self._covariance_type,
            "ridge": self._internal_ridge(),
            "active_rows": self._active_rows,
            "log_sharing": log_sharing,
            "variance_floor": self.variance_floor * self._mean_variance,
        }
        return Training(
            parts,
            self.block_indices_,
            model,
            max_iter=self.max_iter,
            tol=self.tol,
            n_jobs=self.n_jobs,
            goes_on=self._goes_on(),
            em_passes=missing_em.iterations if incomplete else em.iterations,
        )

    def _early_stopping(self, held_out: LabelledRows) -> EarlyStopping:
        features = Features(held_out.X, None, self._shift, self._scale, keep=True)
        return EarlyStopping(self, features, held_out.codes, held_out.weights)

    def _follow(
        self, passes: Generator[Record, None, None], stopping: EarlyStopping | None
    ) -> Generator[SharedKernelClassifier, bool | None, bool | None]:
        """The passes from one start; returns whether the caller wants no more of them."""
        stop = None
        with closing(passes):
            for record in passes:
                self._keep(record)
                if stopping is not None and stopping.has_enough():
                    self.converged_ = True
                stop = yield self
                if stop or self.converged_:
                    break
        return stop

    def _keep(self, record: Record) -> None:
        """Make the estimator that of one pass; attributes are replaced, never changed in place."""
        self.n_iter_ = self.best_iter_ = record.n_passes
        self.blocks_ = [
            self._to_input_units(mixture, columns)
            for mixture, columns in zip(record.mixtures, self.block_indices_, strict=True)
        ]
        self.log_likelihood_, self.objective_ = record.log_likelihood, record.objective
        self.dtype_used_, self.converged_ = record.dtype, record.converged
        self._n_singular = record.n_singular

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags
