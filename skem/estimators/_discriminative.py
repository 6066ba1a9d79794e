"""Discriminative training after EM: strengths, temperature, held-out samples, and the iterations of a fit."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from skem.engine.discriminative import Objective, TrainingState
from skem.engine.extended_baum_welch import Schedule, line_search, on_batches
from skem.engine.parameters import Mixture
from skem.engine.rows import Features, Rows, sort_by_class
from skem.engine.threads import Workers, single_threaded
from skem.estimators._array_api import device_of
from skem.estimators._base import SharedKernelClassifier
from skem.estimators._calibration import fitted_temperature
from skem.estimators._checking import has_missing, refuse_out_of_core
from skem.estimators._out_of_core import OutOfCoreRows
from skem.estimators._training import LabelledRows, Record, Training

STRENGTHS = (0.0, 0.03, 0.3)
"""Candidates of "auto"."""

UNGUARDED_STRENGTH = 0.1
"""Default without held-out samples: on breast cancer, iris and ionosphere it has about half the log-loss of strength 0."""

LEAST_HELD_OUT = 50
"""Least number of held-out samples that select a temperature and an iteration; without any, training samples count as so many."""

UNGUARDED_BACKGROUND = 1e-3
"""Background without held-out samples."""

OF_ONE_ITERATION = ("blocks_", "temperature_", "best_discriminative_iter_")
"""Attributes that are restored with the best iteration."""

OF_ONE_STRENGTH = (
    *OF_ONE_ITERATION,
    *("strength_", "n_discriminative_iter_", "conditional_log_likelihood_"),
)
"""Attributes that are restored with the best strength."""


class DiscriminativelyTrained(SharedKernelClassifier):
    """A shared-kernel classifier with iterations of EM, then of discriminative training."""

    discriminative_iter: int
    batch_size: int | None
    learning_rate: float
    feature_noise: float
    strength: float | str | None
    smoothing: float
    temperature: float | str
    generative_blocks_: list[Mixture]
    temperature_: float
    background_: float

    # Iterations

    def _trains_discriminatively(self) -> bool:
        return self.discriminative_iter > 0 and self.strength != np.inf

    def _strengths(self) -> tuple[float | None, ...]:
        """Strengths to try in turn; none without discriminative training."""
        if not self._trains_discriminatively():
            return ()
        return STRENGTHS if isinstance(self.strength, str) else (self.strength,)

    def _holds_out(self, codes: np.ndarray) -> bool:
        if super()._holds_out(codes) or len(self._strengths()) > 1:
            return True
        enough = self.validation_fraction * len(codes) >= max(LEAST_HELD_OUT, len(self.classes_))
        return self._fits_temperature() and enough and bool(np.bincount(codes).min() > 1)

    def _fits_temperature(self) -> bool:
        return self.discriminative_iter > 0 and self.temperature == "auto"

    def _n_phases(self) -> int:
        return (0 if self._skips_em() else self._n_starts()) + len(self._strengths())

    def _most_passes(self) -> int:
        em_passes = 0 if self._skips_em() else self._n_starts() * self.max_iter
        return em_passes + len(self._strengths()) * self.discriminative_iter

    def _skips_em(self) -> bool:
        """True if a warm start continues discriminative training, without EM."""
        return self._goes_on() and self._trains_discriminatively()

    def _phase_ends(self) -> bool:
        if self.n_discriminative_iter_ == 0:
            return super()._phase_ends()
        return self._tuned or self.n_discriminative_iter_ == self.discriminative_iter

    def _check_training_data(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> LabelledRows | OutOfCoreRows:
        refuse_out_of_core(self, X)
        if device_of(X) is not None:
            raise TypeError(f"{type(self).__name__} is computed in NumPy alone: give a NumPy array")
        rows = super()._check_training_data(X, y, sample_weight)
        if self._trains_discriminatively() and not self.class_prior_.all():
            raise ValueError(
                f"class_prior of class {self.classes_.tolist()[self.class_prior_.argmin()]!r} is zero, so discriminative "
                "training cannot raise p(c|x) of its samples: set discriminative_iter=0, or leave its samples out"
            )
        return rows

    def _passes(
        self,
        training: Training,
        known: list[Mixture] | None,
        held_out: LabelledRows | None,
        random_states: list[np.random.RandomState],
    ) -> Generator[SharedKernelClassifier, bool | None, bool | None]:
        stop = None
        if not self._skips_em():
            self.temperature_ = 1.0 if self.temperature == "auto" else float(self.temperature)
            self.background_ = 0.0
            self.n_discriminative_iter_ = self.best_discriminative_iter_ = 0
            self._tuned = False
            self.conditional_log_likelihood_, self.strength_ = np.empty(0), np.inf
            stop = yield from super()._passes(training, known, held_out, random_states)
            self.generative_blocks_ = self.blocks_
        self._fit_temperature(training, held_out)
        start = {name: vars(self)[name] for name in ("blocks_", "temperature_")}
        least, best = np.inf, {}
        for strength in () if stop else self._strengths():
            if strength is None:
                strength = UNGUARDED_STRENGTH if held_out is None else 0.0
            self.__dict__.update(start, strength_=strength)
            stop = yield from self._discriminative_iterations(training, held_out, random_states[0])
            if held_out is not None and len(self._strengths()) > 1:
                loss = self._log_loss(held_out)
                if loss < least:
                    least, best = loss, {name: vars(self)[name] for name in OF_ONE_STRENGTH}
            if stop:
                break
        self.__dict__.update(best)
        return stop

    def _complete(self, rows: Rows) -> Rows:
        """Samples without missing values, on which discriminative training runs."""
        features = rows.features
        if not has_missing(features.X):
            return rows
        X = features.X if features.order is None else features.X[features.order]
        complete = ~np.isnan(X).any(axis=1)
        codes = rows.codes[complete]
        counts = np.bincount(codes, minlength=len(self.classes_))
        if not counts.all():
            raise ValueError(
                f"discriminative training needs samples without missing values (NaN), and class {self.classes_.tolist()[counts.argmin()]!r} has none: "
                "set discriminative_iter=0, or fill them in"
            )
        return sort_by_class(X[complete], codes, rows.weights[complete], self._shift, self._scale)

    def _log_loss(self, held_out: LabelledRows) -> float:
        """Mean of -log p(c|x) over held-out samples, in nats."""
        features: Any = Features(held_out.X, None, self._shift, self._scale)
        log_proba = self.predict_log_proba(features)
        own = log_proba[np.arange(len(held_out.codes)), held_out.codes]
        return -float(np.average(own, weights=held_out.weights))

    def _keep(self, record: Record) -> None:
        super()._keep(record)
        self.generative_blocks_ = self.blocks_

    def _fit_temperature(self, training: Training, held_out: LabelledRows | None) -> None:
        """Fit the temperature if it is "auto": on held-out samples, or without any on the training samples."""
        if not self._fits_temperature():
            return
        rows = training.parts.all_rows
        features: Any = rows.features
        codes, weights = rows.codes, rows.weights
        if held_out is None:
            # The number of rows does not matter: a sample of weight two is two samples.
            self.background_ = UNGUARDED_BACKGROUND
            weights = weights * (LEAST_HELD_OUT / weights.sum())
        else:
            self.background_ = 1.0 / (
                1 + len(codes) + held_out.n_rows
            )  # one more, whose features say nothing
            features = Features(held_out.X, None, self._shift, self._scale)
            codes, weights = held_out.codes, held_out.weights
        temperature = fitted_temperature(
            *(self.predict_joint_log_proba(features), self._log_prior(), codes, weights, self.background_),
            # A feature in several blocks counts as often.
            expected=sum(map(len, self.block_indices_)) / len(np.unique(np.concatenate(self.block_indices_))),
        )
        # Training samples make a model look underconfident.
        self.temperature_ = temperature if held_out is not None else max(temperature, 1.0)

    def _log_prior(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_)

    def _discriminative_iterations(
        self, training: Training, held_out: LabelledRows | None, random_state: np.random.RandomState
    ) -> Generator[SharedKernelClassifier, bool | None, bool | None]:
        """Run the iterations of discriminative training; return true if the caller stopped early."""
        self.n_discriminative_iter_ = self.best_discriminative_iter_ = 0
        self.conditional_log_likelihood_ = np.empty(0)
        self._tuned, stop = False, None
        stopping = None if held_out is None else _LeastLogLoss(self, held_out)
        with (
            Workers(self.n_jobs) as workers,
            closing(self._states(training, workers, random_state)) as states,
        ):
            while True:
                with single_threaded():
                    state = next(states, None)
                if state is None:
                    break
                self._keep_state(state)
                self._fit_temperature(training, held_out)
                # Until the last iteration, steps on batches are too long to stop after.
                comparable = self.early_stopping or self.batch_size is None
                if stopping is not None and comparable and stopping.has_enough():
                    self._tuned = self._tuned or self.early_stopping
                stop = yield self
                if stop or self._tuned:
                    break
        if stopping is not None:
            stopping.has_enough()
            stopping.go_back()
        return stop

    def _states(
        self, training: Training, workers: Workers, random_state: np.random.RandomState
    ) -> Generator[TrainingState, None, None]:
        mixtures, start = self._internal_blocks(self.blocks_), self._internal_blocks(self.generative_blocks_)
        objective = Objective(
            rows=self._complete(training.parts.all_rows),
            columns=self.block_indices_,
            start=start,
            covariance_type=self._covariance_type,
            dtype=np.dtype(self.dtype_used_),
            beta=1.0 / self.temperature_,
            smoothing=self.smoothing,
            background=self.background_,
            strength=self.strength_,
            log_prior=self._log_prior(),
            workers=workers,
        )
        if self.batch_size is None:
            yield from line_search(objective, mixtures, self.discriminative_iter)
        else:
            options = self.batch_size, self.learning_rate, self.feature_noise, random_state
            yield from on_batches(objective, mixtures, Schedule(self.discriminative_iter, *options))

    def _internal_blocks(self, blocks: Sequence[Mixture]) -> list[Mixture]:
        return [
            self._to_internal(mixture, columns)
            for mixture, columns in zip(blocks, self.block_indices_, strict=True)
        ]

    def _keep_state(self, state: TrainingState) -> None:
        """Store the results of one iteration."""
        self.n_discriminative_iter_ += 1
        self.best_discriminative_iter_ = self.n_discriminative_iter_
        self._tuned = state.finished
        self.blocks_ = [
            self._to_input_units(mixture, columns)
            for mixture, columns in zip(state.mixtures, self.block_indices_, strict=True)
        ]
        self.conditional_log_likelihood_ = np.append(self.conditional_log_likelihood_, state.log_likelihood)
        if state.overflown:
            warnings.warn(
                f"{type(self).__name__}: the objective overflowed in iteration {self.n_discriminative_iter_} of discriminative training; "
                "the iteration before it was kept",
                ConvergenceWarning,
                stacklevel=3,
            )


class _LeastLogLoss:
    """The iteration of least log-loss on held-out samples, which may be the initialisation, and early stopping by it."""

    def __init__(self, model: DiscriminativelyTrained, held_out: LabelledRows) -> None:
        self._model, self._held_out = model, held_out
        self._least, self._without_gain = np.inf, 0
        self.has_enough()

    def has_enough(self) -> bool:
        """Score the present iteration; return true after more than ``n_iter_no_change`` without improvement."""
        log_loss = self._model._log_loss(self._held_out)
        self._without_gain += 1
        if log_loss < self._least:
            self._least, self._without_gain = log_loss, 0
            self._best = {name: vars(self._model)[name] for name in OF_ONE_ITERATION}
        return self._without_gain > self._model.n_iter_no_change

    def go_back(self) -> None:
        self._model.__dict__.update(self._best)
