"""PSKEM trained to decide: blocks fine-tuned for p(c|x), from a generative start."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from contextlib import closing
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from skem.engine.fine_tuning import FineTuning, Schedule
from skem.engine.parameters import Mixture
from skem.engine.rows import Features
from skem.engine.threads import Workers, single_threaded
from skem.estimators._base import SharedKernelClassifier
from skem.estimators._calibration import fitted_temperature
from skem.estimators._docstrings import documented
from skem.estimators._training import LabelledRows, Training
from skem.estimators.pskem import PSKEMClassifier

LEAST_HELD_OUT = 50
"""Rows that say enough about one temperature."""


@documented
class DiscriminativePSKEMClassifier(PSKEMClassifier):
    """PSKEM, fine-tuned to maximise log p(c|x)."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PSKEMClassifier._parameter_constraints,
        "discriminative_iter": [Interval(Integral, 0, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "strength": [Interval(Real, 0, None, closed="left")],
        "smoothing": [Interval(Real, 0, 1, closed="left")],
        "feature_noise": [Interval(Real, 0, None, closed="left")],
        "temperature": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_blocks: int = 1,
        block_size: int | None = None,
        arrangement: str | Sequence[Sequence[int]] = "sequential",
        covariance_type: str = "full",
        sharing: float | ArrayLike | None = None,
        groups: Sequence[Sequence[int]] | None = None,
        init: str | tuple | list = "class",
        n_init: int = 1,
        init_spread: float = 2.0,
        init_scale: float = 2.0,
        standardize: bool = True,
        reg_covar: float = 0.1,
        class_prior: str | ArrayLike = "empirical",
        max_iter: int = 30,
        tol: float = 0.0,
        discriminative_iter: int = 6,
        batch_size: int = 500,
        learning_rate: float = 0.01,
        strength: float = 0.001,
        smoothing: float = 0.05,
        feature_noise: float = 0.0,
        temperature: float | str = "auto",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_components,
            n_blocks=n_blocks,
            block_size=block_size,
            arrangement=arrangement,
            covariance_type=covariance_type,
            sharing=sharing,
            groups=groups,
            init=init,
            n_init=n_init,
            init_spread=init_spread,
            init_scale=init_scale,
            standardize=standardize,
            reg_covar=reg_covar,
            class_prior=class_prior,
            max_iter=max_iter,
            tol=tol,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.discriminative_iter = discriminative_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.strength = strength
        self.smoothing = smoothing
        self.feature_noise = feature_noise
        self.temperature = temperature

    # Decisions

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(c|x) of the tempered product, in proportion to p(c) p(x|c)^(1/T), shape (n_samples, n_classes)."""
        return log_softmax(self._logits(X), axis=1)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of largest posterior, shape (n_samples,)."""
        logits = self._logits(X)
        return self.classes_[logits.argmax(axis=1)]

    def _logits(self, X: ArrayLike) -> np.ndarray:
        return self.class_log_density(X) / self.temperature_ + self._log_prior()

    # Passes

    def _tunes(self) -> bool:
        return self.discriminative_iter > 0 and self.strength < np.inf

    def _holds_out(self, codes: np.ndarray) -> bool:
        if super()._holds_out(codes):
            return True
        enough = self.validation_fraction * len(codes) >= max(LEAST_HELD_OUT, len(self.classes_))
        return self._fits_temperature() and enough and bool(np.bincount(codes).min() > 1)

    def _fits_temperature(self) -> bool:
        return self.discriminative_iter > 0 and self.temperature == "auto"

    def _n_phases(self) -> int:
        return (0 if self._only_tunes() else self._n_starts()) + self._tunes()

    def _most_passes(self) -> int:
        em_passes = 0 if self._only_tunes() else self._n_starts() * self.max_iter
        return em_passes + self._tunes() * self.discriminative_iter

    def _only_tunes(self) -> bool:
        """Whether a warm start goes on where fine-tuning ended, without EM."""
        return self._goes_on() and self._tunes()

    def _phase_ends(self) -> bool:
        if self.n_discriminative_iter_ == 0:
            return super()._phase_ends()
        return self._tuned or self.n_discriminative_iter_ == self.discriminative_iter

    def _passes(
        self,
        training: Training,
        known: list[Mixture] | None,
        held_out: LabelledRows | None,
        random_states: list[np.random.RandomState],
    ) -> Generator[SharedKernelClassifier, bool | None, bool | None]:
        stop = None
        if not self._only_tunes():
            self.temperature_ = 1.0 if self.temperature == "auto" else float(self.temperature)
            self.n_discriminative_iter_, self._tuned = 0, False
            self.conditional_log_likelihood_ = np.empty(0)
            stop = yield from super()._passes(training, known, held_out, random_states)
            self.generative_blocks_ = self.blocks_
        self._temper(training, held_out)
        if self._tunes() and not stop:
            stop = yield from self._tuning_passes(training, held_out, random_states[0])
        return stop

    def _keep(self, record: Any) -> None:
        super()._keep(record)
        self.generative_blocks_ = self.blocks_

    def _temper(self, training: Training, held_out: LabelledRows | None) -> None:
        """Fit the temperature, if that is asked for: on the rows held out, or where there are none on those of the training."""
        if not self._fits_temperature():
            return
        rows, smoothing = training.rows, self.smoothing
        features, codes, weights = rows.features, rows.codes, rows.weights
        if held_out is not None:
            features = Features(held_out.X, None, self._shift, self._scale)
            codes, weights = held_out.codes, held_out.weights
            smoothing = 1.0 / (1 + len(codes))  # one row more, which may be of any class
        self.temperature_ = fitted_temperature(
            self.class_log_density(features), self._log_prior(), codes, weights, smoothing
        )

    def _log_prior(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_)

    def _tuning_passes(
        self, training: Training, held_out: LabelledRows | None, random_state: np.random.RandomState
    ) -> Generator[SharedKernelClassifier, bool | None, bool | None]:
        self.n_discriminative_iter_, self._tuned = 0, False
        schedule = Schedule(
            self.discriminative_iter, self.batch_size, self.learning_rate, self.strength, self.feature_noise
        )
        mixtures, start = (
            [self._to_internal(mixture, columns) for mixture, columns in zip(blocks, self.block_indices_, strict=True)]
            for blocks in (self.blocks_, self.generative_blocks_)
        )
        stop = None
        with single_threaded(), Workers(self.n_jobs) as workers:
            tuning = FineTuning(
                training.rows,
                self.block_indices_,
                self._covariance_type,
                np.dtype(self.dtype_used_),
                1.0 / self.temperature_,
                self.smoothing,
                self._log_prior(),
                workers,
            )
            with closing(tuning.passes(mixtures, start, schedule, random_state)) as passes:
                for state in passes:
                    self.n_discriminative_iter_ += 1
                    self.blocks_ = [
                        self._to_input_units(mixture, columns)
                        for mixture, columns in zip(state.mixtures, self.block_indices_, strict=True)
                    ]
                    self.conditional_log_likelihood_ = np.append(
                        self.conditional_log_likelihood_, state.log_likelihood
                    )
                    self._temper(training, held_out)
                    if state.overflown:
                        warnings.warn(
                            f"{type(self).__name__}: the criterion overflowed in pass {self.n_discriminative_iter_} of "
                            "fine-tuning, which is undone: set a lower learning_rate",
                            ConvergenceWarning,
                            stacklevel=2,
                        )
                        self._tuned = True
                    stop = yield self
                    if stop:
                        break
        return stop
