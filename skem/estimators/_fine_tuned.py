"""Fine-tuning after EM: what of a fit is its own, pass by pass."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from skem.engine import adam, extended_baum_welch
from skem.engine.fine_tuning import FineTuning, TunedState
from skem.engine.parameters import Mixture
from skem.engine.rows import Features, Rows, sort_by_class
from skem.engine.threads import Workers, single_threaded
from skem.estimators._array_api import e_step_of
from skem.estimators._base import SharedKernelClassifier
from skem.estimators._calibration import fitted_temperature
from skem.estimators._checking import has_missing, refuse_elsewhere
from skem.estimators._elsewhere import RowsElsewhere
from skem.estimators._training import LabelledRows, Record, Training

STRENGTHS = (0.0, 0.03, 0.3)
"""Those that "auto" chooses from."""

UNGUARDED_STRENGTH = 0.1
"""Default without held-out samples: on breast cancer, iris and ionosphere it has about half the log-loss of strength 0."""

LEAST_HELD_OUT = 50
"""Held-out samples that say enough about a temperature and an iteration; without any, training samples count as so many."""

UNGUARDED_BACKGROUND = 1e-3
"""Background without held-out samples."""

OF_ONE_ITERATION = ("blocks_", "temperature_", "best_discriminative_iter_")
"""Attributes that the best iteration of one strength has."""

OF_ONE_STRENGTH = (
    *OF_ONE_ITERATION,
    *("strength_", "n_discriminative_iter_", "conditional_log_likelihood_"),
)
"""What passes of fine-tuning leave, and the best of several strengths has."""


class FineTuned(SharedKernelClassifier):
    """A shared-kernel classifier whose passes of EM are followed by passes of fine-tuning."""

    discriminative_iter: int
    optimizer: str
    batch_size: int
    learning_rate: float
    feature_noise: float
    strength: float | str | None
    smoothing: float
    temperature: float | str
    generative_blocks_: list[Mixture]
    temperature_: float
    background_: float

    # Passes

    def _tunes(self) -> bool:
        return self.discriminative_iter > 0 and self.strength != np.inf

    def _strengths(self) -> tuple[float | None, ...]:
        """One after the other to be tried, if there is fine-tuning."""
        if not self._tunes():
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
        return (0 if self._only_tunes() else self._n_starts()) + len(self._strengths())

    def _most_passes(self) -> int:
        em_passes = 0 if self._only_tunes() else self._n_starts() * self.max_iter
        return em_passes + len(self._strengths()) * self.discriminative_iter

    def _only_tunes(self) -> bool:
        """Whether a warm start goes on where fine-tuning ended, without EM."""
        return self._goes_on() and self._tunes()

    def _phase_ends(self) -> bool:
        if self.n_discriminative_iter_ == 0:
            return super()._phase_ends()
        return self._tuned or self.n_discriminative_iter_ == self.discriminative_iter

    def _check_training_data(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> LabelledRows | RowsElsewhere:
        refuse_elsewhere(self, X)
        rows = super()._check_training_data(X, y, sample_weight)
        if self._tunes() and not self.class_prior_.all():
            raise ValueError(
                f"class_prior of class {self.classes_.tolist()[self.class_prior_.argmin()]!r} is zero, and so is p(c|x) of its rows, which "
                "fine-tuning is to raise: set discriminative_iter=0, or leave its rows out"
            )
        return rows

    def _passes(
        self,
        training: Training,
        known: list[Mixture] | None,
        held_out: LabelledRows | None,
        random_states: list[np.random.RandomState],
    ) -> Generator[SharedKernelClassifier, bool | None, bool | None]:
        if e_step_of(self) is not None:
            raise TypeError(f"{type(self).__name__} is computed in NumPy alone: give a NumPy array")
        stop = None
        if not self._only_tunes():
            self.temperature_ = 1.0 if self.temperature == "auto" else float(self.temperature)
            self.background_ = 0.0
            self.n_discriminative_iter_ = self.best_discriminative_iter_ = 0
            self._tuned = False
            self.conditional_log_likelihood_, self.strength_ = np.empty(0), np.inf
            stop = yield from super()._passes(training, known, held_out, random_states)
            self.generative_blocks_ = self.blocks_
        self._temper(training, held_out)
        start = {name: vars(self)[name] for name in ("blocks_", "temperature_")}
        least, best = np.inf, {}
        for strength in () if stop else self._strengths():
            if strength is None:
                strength = UNGUARDED_STRENGTH if held_out is None else 0.0
            self.__dict__.update(start, strength_=strength)
            stop = yield from self._tuning_passes(training, held_out, random_states[0])
            if held_out is not None and len(self._strengths()) > 1:
                loss = self._log_loss(held_out)
                if loss < least:
                    least, best = loss, {name: vars(self)[name] for name in OF_ONE_STRENGTH}
            if stop:
                break
        self.__dict__.update(best)
        return stop

    def _complete(self, rows: Rows) -> Rows:
        """The rows that miss no value, which fine-tuning goes by."""
        features = rows.features
        if not has_missing(features.X):
            return rows
        X = features.X if features.order is None else features.X[features.order]
        complete = ~np.isnan(X).any(axis=1)
        codes = rows.codes[complete]
        counts = np.bincount(codes, minlength=len(self.classes_))
        if not counts.all():
            raise ValueError(
                f"fine-tuning goes by rows without missing values (NaN), and class {self.classes_.tolist()[counts.argmin()]!r} has none: "
                "set discriminative_iter=0, or fill them in"
            )
        return sort_by_class(X[complete], codes, rows.weights[complete], self._shift, self._scale)

    def _log_loss(self, held_out: LabelledRows) -> float:
        """Mean of -log p(c|x) over rows held out, in nats."""
        features: Any = Features(held_out.X, None, self._shift, self._scale)
        log_proba = self.predict_log_proba(features)
        own = log_proba[np.arange(len(held_out.codes)), held_out.codes]
        return -float(np.average(own, weights=held_out.weights))

    def _keep(self, record: Record) -> None:
        super()._keep(record)
        self.generative_blocks_ = self.blocks_

    def _temper(self, training: Training, held_out: LabelledRows | None) -> None:
        """Fit the temperature, if that is asked for: on the rows held out, or where there are none on those of the training."""
        if not self._fits_temperature():
            return
        rows = training.parts.all_rows
        features: Any = rows.features
        codes, weights = rows.codes, rows.weights
        if held_out is None:
            # Their number has no say: a sample of weight two is two samples.
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
        # Rows trained on are told apart too well to say that a model is not sure enough.
        self.temperature_ = temperature if held_out is not None else max(temperature, 1.0)

    def _log_prior(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_)

    def _tuning_passes(
        self, training: Training, held_out: LabelledRows | None, random_state: np.random.RandomState
    ) -> Generator[SharedKernelClassifier, bool | None, bool | None]:
        """The passes of fine-tuning; returns whether the caller wants no more of them."""
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
                self._keep_tuned(state)
                self._temper(training, held_out)
                # Until its last iteration, "adam" takes steps too long to stop after.
                comparable = self.early_stopping or self.optimizer == "ebw"
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
    ) -> Generator[TunedState, None, None]:
        mixtures, start = self._internal_blocks(self.blocks_), self._internal_blocks(self.generative_blocks_)
        tuning = FineTuning(
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
        if self.optimizer == "ebw":
            yield from extended_baum_welch.passes(tuning, mixtures, self.discriminative_iter)
        else:
            schedule = adam.Schedule(
                self.discriminative_iter,
                self.batch_size,
                self.learning_rate,
                self.feature_noise,
                random_state,
            )
            yield from adam.passes(tuning, mixtures, schedule)

    def _internal_blocks(self, blocks: Sequence[Mixture]) -> list[Mixture]:
        return [
            self._to_internal(mixture, columns)
            for mixture, columns in zip(blocks, self.block_indices_, strict=True)
        ]

    def _keep_tuned(self, state: TunedState) -> None:
        """Make the estimator that of one pass of fine-tuning."""
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
                f"{type(self).__name__}: the criterion overflowed in pass {self.n_discriminative_iter_} of fine-tuning; "
                f"the pass before it was kept{': set a lower learning_rate' if self.optimizer == 'adam' else ''}",
                ConvergenceWarning,
                stacklevel=3,
            )


class _LeastLogLoss:
    """The iteration of least log-loss on held-out samples, which may be the initialisation, and when to stop by it."""

    def __init__(self, model: FineTuned, held_out: LabelledRows) -> None:
        self._model, self._held_out = model, held_out
        self._least, self._without_gain = np.inf, 0
        self.has_enough()

    def has_enough(self) -> bool:
        """Score the pass the model is at; whether too many passes have been worse than the best one."""
        log_loss = self._model._log_loss(self._held_out)
        self._without_gain += 1
        if log_loss < self._least:
            self._least, self._without_gain = log_loss, 0
            self._best = {name: vars(self._model)[name] for name in OF_ONE_ITERATION}
        return self._without_gain > self._model.n_iter_no_change

    def go_back(self) -> None:
        self._model.__dict__.update(self._best)
