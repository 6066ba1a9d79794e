"""``partial_fit``: stepwise EM on batches of samples (Cappe and Moulines 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from skem.engine import stepwise
from skem.engine.parameters import Mixture
from skem.engine.threads import Workers, single_threaded
from skem.estimators._array_api import to_numpy
from skem.estimators._callbacks import all_or_nothing
from skem.estimators._checking import check_features, refuse_missing_labels
from skem.estimators._samples import TrainingSamples
from skem.estimators._training import Iteration, Training

LEARNING_DECAY = 0.7
"""Exponent of the decay of shares in ``partial_fit``: below one, early batches are forgotten (Cappe and Moulines 2009)."""


def training_on(model: Any, batch: TrainingSamples) -> Training:
    """Training of a fitted model on one batch, as it is, in the units and with the regularisation of its fit."""
    fitted, units = model._fitted, model._fitted.units
    return Training(
        model,
        batch.parts(units.shift, units.scale),
        fitted.columns,
        units,
        fitted.covariance_type,
        units.ridge(model.reg_covar),
        model.variance_floor * units.mean_variance,
    )


def advance(
    model: Any, training: Training, start: Sequence[Mixture], n_seen: float, shares: np.ndarray
) -> None:
    """Take the step of a batch from parameters in the engine's units, and set the fitted attributes.

    ``n_seen`` is the number of samples before this batch, and ``shares`` (L,) are those of the classes among them.
    """
    gamma = (1 + n_seen / training.parts.n_samples) ** -LEARNING_DECAY
    with Workers(model.n_jobs) as workers:
        states = [
            stepwise.step(training.problem(r, each, workers), gamma, shares) for r, each in enumerate(start)
        ]
    log_volume = sum(map(training.units.log_volume, training.columns))
    log_likelihood, objective = (
        [
            *(getattr(model, f"{name}_") if model._in_batches else ()),
            sum([getattr(state, name) for state in states]) - log_volume,
        ]
        for name in ("log_likelihood", "objective")
    )
    model._store(training, Iteration(states, log_likelihood, objective, None, True))
    model._in_batches = True
    vars(model).pop("_anchor", None)  # Batches are NumPy arrays, whatever an earlier fit had.


def _is_available(model: Any) -> bool:
    if model._no_batches:
        raise AttributeError(f"{type(model).__name__} has no partial_fit: {model._no_batches}; use fit")
    return True


class BatchesMixin:
    """``partial_fit`` of the shared-kernel classifiers."""

    _no_batches = ""
    """Reason of a class without ``partial_fit``."""

    @available_if(_is_available)
    def partial_fit(
        self: Any,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any:
        """Train on one batch of samples by stepwise EM, which does not store them (Cappe and Moulines 2009).

        Share of a batch, units and initialisation are those of ``GaussianMixture.partial_fit``: a batch of n samples has a share of
        t^-0.7 in the new parameters, where t is 1 + (number of earlier samples) / n. The first batch determines the units and
        initialises EM once, unless the classifier is fitted. With ``priors="empirical"`` the class prior is the share of
        each class in all samples so far.

        A class that is new in a later batch shares the components there are. Its first mixing proportions are the mean
        responsibilities of its samples, Pr(z = k | x) under all earlier classes together. The number of components stays, so
        classes that are known from the first batch are fitted better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A batch in memory, without missing values. The first batch should resemble the others.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), optional
            Labels that later batches have. Until it has samples, such a class has the density of all classes together, and with
            ``priors="empirical"`` the prior zero. Required if the first batch has one class only, or if ``priors`` are given for
            classes that are not in it.
        sample_weight : array-like of shape (n_samples,), optional
            As in ``fit``: only ratios within a batch matter.

        Returns
        -------
        self
            Entry t - 1 of ``log_likelihood_`` and ``objective_`` belongs to batch t under the parameters before it. ``n_iter_`` is
            the number of batches.
        """
        self._validate_params()
        if self.early_stopping or self._option("sharing") is not None:
            name = "early_stopping" if self.early_stopping else "sharing"
            raise ValueError(f"partial_fit: {name} needs all samples at once: use fit, or leave {name} out")
        with all_or_nothing(self), single_threaded():
            first = not hasattr(self, "_fitted")
            checked, labels = check_features(self, X, y=y, reset=first)
            check_classification_targets(labels)
            batch = TrainingSamples.of(checked, labels, sample_weight)
            if first:
                self.classes_, self.class_count_ = batch.classes, np.zeros(len(batch.classes))
                training = self._with_components(batch, None, [check_random_state(self.random_state)])
                self._fitted = training.fitted(self._initial(training, training.random_states[0]))
            else:
                self._check_unchanged("partial_fit")
            known, joined = self.classes_, _joined(self.classes_, batch.classes, classes)
            if len(joined) < 2:
                raise ValueError(
                    f"partial_fit: the first batch is of one class only, {joined.tolist()[0]!r}: give the labels of all "
                    "classes as classes"
                )
            outdated = ["validation_scores_", "best_validation_score_"]
            if len(joined) > len(known):
                outdated.append("groups_")
            for name in outdated:
                self.__dict__.pop(name, None)
            codes, places = (np.searchsorted(joined, labels) for labels in (batch.classes, known))
            batch = replace(batch, codes=codes[batch.codes], classes=joined)
            before, after = np.zeros(len(joined)), batch.class_weights()
            before[places] = to_numpy(self.class_count_)
            after += before
            self._set_classes(joined, after, after.sum())
            start = []
            for mixture in self._fitted.internal():
                weights = np.zeros((len(mixture.weights), len(joined)))
                weights[:, places] = mixture.weights
                start.append(replace(mixture, weights=weights))
            counts = before if before.any() else after
            batch = batch.winsorised(self._fitted.units.limits)
            advance(self, training_on(self, batch), start, before.sum(), counts / counts.sum())
        return self


def _joined(known: np.ndarray, *others: ArrayLike | None) -> np.ndarray:
    """The labels of all these classes, sorted; ValueError for labels that cannot be compared, such as text and numbers."""
    for labels in others:
        if labels is not None:
            if np.ndim(labels) != 1:
                raise ValueError(f"partial_fit: classes must be a sequence of labels, got {labels!r}")
            refuse_missing_labels(labels, name="classes")
            labels = np.asarray(labels)
            unique_labels(known, labels)
            known = np.union1d(known, labels)
    return known
