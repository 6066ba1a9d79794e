"""Mixtures learned one batch of rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from skem.engine import stepwise
from skem.engine.parameters import Mixture
from skem.engine.problem import Problem
from skem.engine.threads import Workers, single_threaded
from skem.estimators._checking import check_features
from skem.estimators._mixture_starts import MixtureStarts
from skem.estimators._training import LabelledRows
from skem.estimators._units import all_or_nothing


class MixtureBatches(MixtureStarts):
    """Stepwise EM."""

    if TYPE_CHECKING:
        learning_decay: float
        log_likelihood_: np.ndarray
        objective_: np.ndarray

        def _internal_floor(self) -> float: ...
        def _check_previous(self, previous: Mixture, n_features: int, cause: str, fix: str) -> None: ...

    def partial_fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from one batch of rows, and forget them: stepwise EM (Cappe and Moulines 2009).

        A batch of n samples counts for a share of t^-``learning_decay`` of what is known after it. t is 1 +
        ``n_samples_seen_`` / n: the number of the batch, if all have the same size. The samples of ``fit`` count as
        batches of that size too. With ``learning_decay=1`` each sample has the same share. The first batch is where EM
        starts, as ``fit`` does, unless the mixture is fitted, loaded or given already.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The first batch chooses the units, so it should be like the others. Values may not be missing.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            As in ``fit``; batches count alike, whatever the sum of their weights.

        Returns
        -------
        self
            Entry t - 1 of ``log_likelihood_`` and ``objective_`` belongs to batch t under the parameters before it, so they
            say how well rows are known that were not seen before; ``n_iter_`` counts the batches.

        Raises
        ------
        ValueError
            As from ``fit``; fewer rows than components in the first batch.
        """
        self._validate_params()
        with all_or_nothing(self), single_threaded():
            self._partial_fit(X, sample_weight)
        return self

    def _partial_fit(self, X: ArrayLike, sample_weight: ArrayLike | None) -> None:
        first = not hasattr(self, "means_")
        checked = check_features(self, X, reset=first)
        data = LabelledRows.without_classes(checked, sample_weight)
        rows = data.X
        if first:
            if len(rows) < self.n_components:
                raise ValueError(
                    f"n_components={self.n_components} components from n_samples={len(rows)} rows: the first batch must "
                    "have as many rows as there are components"
                )
            self._measure(data)
        else:
            fix = "set it back, or begin with a clone"
            self._check_previous(self._mixture(), rows.shape[1], "partial_fit", fix)
        floor = self._internal_floor()
        parts = data.parts(self._shift, self._scale)
        if first:
            self._regularise(parts, [np.arange(rows.shape[1])])
        random_state = check_random_state(self.random_state)
        labels = self._given_labels(len(checked), sample_weight) if first else None
        start = self._start(parts.whole, None if first else self._mixture(), random_state, labels)
        if not hasattr(self, "_in_batches"):
            self._in_batches, self.log_likelihood_, self.objective_ = True, np.empty(0), np.empty(0)
        # Given parameters count as one batch.
        seen = 0 if first else getattr(self, "n_samples_seen_", len(rows))
        n_batches = 1 + seen / len(rows)
        columns, log_volume = np.arange(rows.shape[1]), float(np.log(self._scale).sum())
        with Workers(self.n_jobs) as workers:
            problem = Problem(
                parts,
                columns,
                start,
                self._covariance_type,
                workers,
                ridge=self._internal_ridge(),
                variance_floor=floor,
            )
            mixture, log_likelihood, objective = stepwise.step(problem, n_batches**-self.learning_decay)
        fitted = self._to_input_units(mixture, columns)
        self.weights_, self.means_, self.covariances_ = fitted.weights[:, 0], fitted.means, fitted.covariances
        self.log_likelihood_ = np.append(self.log_likelihood_, log_likelihood - log_volume)
        self.objective_ = np.append(self.objective_, objective - log_volume)
        self.lower_bound_ = float(self.objective_[-1])
        self.n_iter_, self.converged_ = len(self.objective_), False
        self.dtype_used_ = rows.dtype.name
        self.n_samples_seen_ = seen + len(rows)
