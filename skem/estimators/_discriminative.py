"""Discriminative training after EM: strengths, temperature, and the iterations of a fit."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skem.engine.discriminative import Objective, TrainingState
from skem.engine.extended_baum_welch import line_search, on_batches
from skem.engine.rows import Rows, sort_by_class
from skem.engine.threads import Workers, single_threaded
from skem.engine.warn import warn
from skem.estimators._calibration import fitted_temperature
from skem.estimators._callbacks import Progress
from skem.estimators._fitted import FittedMixture
from skem.estimators._samples import borrowed
from skem.estimators._splitting import double_components
from skem.estimators._training import Selection, Training

STRENGTHS = (0.0, 0.03, 0.3)
"""Candidates of "auto"."""

UNGUARDED_STRENGTH = 0.1
"""Default without held-out samples: on breast cancer, iris and ionosphere it has about half the log-loss of strength 0."""

LEAST_HELD_OUT = 50
"""Least number of held-out samples that select a temperature and an iteration; without any, training samples count as so many."""

UNGUARDED_BACKGROUND = 1e-3
"""Background without held-out samples."""

OF_ONE_ITERATION = ("_fitted", "n_components_", "temperature_", "best_discriminative_iter_")
"""Attributes that are restored with the best iteration."""

OF_ONE_STRENGTH = (
    *OF_ONE_ITERATION,
    *("strength_", "n_discriminative_iter_", "conditional_log_likelihood_"),
)
"""Attributes that are restored with the best strength."""


def train_discriminatively(
    model: Any, training: Training, progress: Progress
) -> Generator[Any, bool | None, None]:
    """Train a model after EM with each of its strengths, and leave it as the best; yield it after each iteration.

    Held-out samples of the training, if any, select an iteration and a strength. Sending True into the generator ends the fit.
    """
    held_out, strengths = training.held_out, training.model._strengths()
    start = {name: vars(model)[name] for name in ("_fitted", "n_components_", "temperature_")}
    least, best = np.inf, {}
    for strength in strengths:
        if strength is None:
            strength = UNGUARDED_STRENGTH if held_out is None else 0.0
        vars(model).update(start, strength_=strength, conditional_log_likelihood_=np.empty(0))
        model.n_discriminative_iter_ = model.best_discriminative_iter_ = 0
        stop = yield from _train(model, training, progress)
        if held_out is not None and len(strengths) > 1 and (loss := held_out.log_loss(model)) < least:
            least, best = loss, {name: vars(model)[name] for name in OF_ONE_STRENGTH}
        if stop:
            break
    vars(model).update(best)
    K = start["n_components_"]
    copies = range(model.n_components_ // K)
    if hasattr(model, "groups_"):
        model.groups_ = [np.concatenate([group + i * K for i in copies]) for group in model.groups_]


def _train(model: Any, training: Training, progress: Progress) -> Generator[Any, bool | None, bool]:
    """Train with one strength, to the best iteration; return True if a callback, or the caller by sending True, ended the fit."""
    parameters, held_out, selection = training.model, training.held_out, None
    if held_out is not None:
        log_score, patience = lambda: -held_out.log_loss(model), parameters._option("n_iter_no_change")
        selection = Selection(model, log_score, OF_ONE_ITERATION, patience)
        selection.add()  # the initialisation
    with Workers(model.n_jobs) as workers:
        states, finished, stop = _iterations(model, training, workers), False, False
        while not (finished or stop):
            with progress.task(), single_threaded():
                state, finished = next(states)
                _store(model, training, state)
                fit_temperature(model, training)
                finished |= state.overflown
                # Steps on batches are too long to stop after, until the last iteration.
                if selection is not None and (parameters.early_stopping or not parameters.batch_size):
                    finished |= selection.add() and parameters.early_stopping
            stop = bool((yield model)) or progress.stop
    if selection is not None:
        selection.add()
        selection.restore_best()
    return stop


def _iterations(model: Any, training: Training, workers: Workers) -> Iterator[tuple[TrainingState, bool]]:
    """Yield each iteration of all stages, and True with the last one; components double before each stage but the first."""
    parameters, initial = training.model, model._generative
    n_doublings = parameters._option("n_doublings")
    if len(initial.mixtures[0].weights) < len(model._fitted.mixtures[0].weights):
        initial, n_doublings = model._fitted, 0  # Components doubled in the fit that a warm start continues.
    for stage in range(n_doublings + 1):
        if stage:
            initial = model._fitted = model._fitted.enlarged(double_components)
        states = _stage(model, training, initial, workers)
        for number in range(1, parameters.discriminative_iter + 1):
            state = next(states)
            ends = state.finished or number == parameters.discriminative_iter
            yield state, ends and stage == n_doublings
            if ends:
                break


def _stage(
    model: Any, training: Training, initial: FittedMixture, workers: Workers
) -> Iterator[TrainingState]:
    """The iterations of one stage, with the divergence from ``initial``."""
    parameters = training.model
    objective = Objective(
        rows=_complete(training),
        columns=training.columns,
        start=training.to_engine(initial.mixtures),
        covariance_type=training.covariance_type,
        dtype=np.dtype(model.dtype_used_),
        beta=1.0 / (parameters._option("training_temperature") or model.temperature_),
        smoothing=parameters._option("smoothing"),
        background=model.background_,
        strength=model.strength_,
        log_prior=model._log_prior(),
        workers=workers,
    )
    mixtures = model._fitted.internal()
    if parameters.batch_size is None:
        return line_search(objective, mixtures, parameters.discriminative_iter)
    return on_batches(
        objective,
        mixtures,
        max_iter=parameters.discriminative_iter,
        batch_size=parameters.batch_size,
        learning_rate=parameters._option("learning_rate"),
        random_state=training.random_states[0],
    )


def _complete(training: Training) -> Rows:
    """Samples without missing values, on which discriminative training runs.

    Those of a class that has none borrow missing values. Features that are in no block do not count.
    """
    rows, used = training.parts.whole, np.unique(np.concatenate(training.columns))
    if not rows.is_incomplete:
        return rows
    X = rows.X if rows.order is None else rows.X[rows.order]
    complete = ~np.isnan(X[:, used]).any(axis=1)
    lacking = ~np.isin(rows.codes, rows.codes[complete])
    if lacking.any():
        X, complete = np.array(X), complete | lacking
        X[lacking] = borrowed(X, np.flatnonzero(lacking))
    return sort_by_class(X[complete], rows.codes[complete], rows.weights[complete], rows.shift, rows.scale)


def _store(model: Any, training: Training, state: TrainingState) -> None:
    model.n_discriminative_iter_ += 1
    model.best_discriminative_iter_ = model.n_discriminative_iter_
    model._fitted = training.fitted(state.mixtures)
    model.n_components_ = len(state.mixtures[0].means)
    model.conditional_log_likelihood_ = np.append(model.conditional_log_likelihood_, state.log_likelihood)
    if state.overflown:
        warn(
            f"{type(model).__name__}: the objective overflowed in iteration {model.n_discriminative_iter_} of discriminative "
            "training; the iteration before it was kept",
            ConvergenceWarning,
        )


def fit_temperature(model: Any, training: Training) -> None:
    """Fit the temperature if it is "auto": on held-out samples, or without any on the training samples."""
    parameters, held_out = training.model, training.held_out
    background = parameters._option("background")
    if not parameters._fits_temperature():
        model.temperature_, model.background_ = parameters._given_temperature(), background or 0.0
        return
    if held_out is None:
        rows = training.parts.whole
        features, codes, model.background_ = rows, rows.codes, UNGUARDED_BACKGROUND
        # The number of samples does not matter: a sample of weight two is two samples.
        weights = rows.weights * (LEAST_HELD_OUT / rows.weights.sum())
    else:
        features, codes, weights = held_out.features, held_out.codes, held_out.weights
        # One more sample, whose features say nothing.
        model.background_ = 1.0 / (1 + training.parts.n_samples + len(codes))
    if background is not None:
        model.background_ = background
    columns = training.columns
    temperature = fitted_temperature(
        *(model._limited_joint(features), model._log_prior(), codes, weights, model.background_),
        # A feature in several blocks counts as often.
        expected=sum(map(len, columns)) / len(np.unique(np.concatenate(columns))),
    )
    # Training samples make a model look underconfident.
    model.temperature_ = temperature if held_out is not None else max(temperature, 1.0)
