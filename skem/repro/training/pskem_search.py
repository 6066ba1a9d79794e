"""Choice of the numbers of components and feature blocks, and of the covariance regularisation, on held-out samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from skem.estimators._held_out import Data, collecting, held_out_splits, log_posterior, none_fitted, quiet
from skem.estimators._search import numbers_of_blocks, split
from skem.estimators._training import one_seed
from skem.estimators.pskem import PSKEMClassifier

REG_COVARS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
PER_CLASS = (1, 2, 4, 8, 16, 32)

N_FOLDS = {1000: 5}
"""Number of five folds that are held out in turn, below a number of samples: one fifth of few samples does not tell models apart."""

LEAST_GAIN = 1e-3
"""Least gain of an iteration, in nats per sample: the scores of candidates differ by more."""


class PSKEMClassifierCV(ClassifierMixin, BaseEstimator):
    """``PSKEMClassifier`` whose components, feature blocks and covariance regularisation minimise the held-out log-loss.

    For each number of blocks the search follows a path of models with more and more components. Each model starts from the best
    one before, with its heaviest components split in two, and has its ``reg_covar``. From that model start two more, with the
    next smaller and larger ``reg_covar`` and a third of the iterations. The first model of all is tried with every ``reg_covar``.
    If a split does not raise the score, the search tries the initialisation by class; if that does not either, the path
    ends. The search ends with the first number of blocks whose path does not raise the score.

    Parameters
    ----------
    n_components : sequence of int or None
        Candidates for K. None is 1, 2, 4, 8, 16 and 32 per class.
    n_blocks : sequence of int
        Candidates for R, tried in this order; numbers above that of the features are left out.
    reg_covar : sequence of float
    max_iter : int
        Maximum number of EM iterations of each fit, which ends earlier if an iteration gains less than 1e-3 nats per sample.
    cv : int, splitter, iterable or None
        None is five stratified folds; from 1,000 samples on, only the first of them is held out.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    best_estimator_ : PSKEMClassifier
        Model with ``best_params_``, fitted to all samples along the same path.
    best_params_ : dict
    best_score_ : float
        Mean over splits of the log posterior of the true class of held-out samples, in nats.
    """

    def __init__(
        self,
        *,
        n_components: Sequence[int] | None = None,
        n_blocks: Sequence[int] = (1, 2, 4),
        reg_covar: Sequence[float] = REG_COVARS,
        max_iter: int = 10,
        cv: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_blocks = n_blocks
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> PSKEMClassifierCV:
        seed = one_seed(self.random_state)
        estimator = PSKEMClassifier(max_iter=self.max_iter, tol=LEAST_GAIN, random_state=seed)
        with quiet():
            first = clone(estimator).set_params(max_iter=1).fit(X, y)
            per_class = [len(first.classes_) * k for k in PER_CLASS]
            data = Data.labelled(X, y, None)
            paths = _Paths(
                estimator,
                held_out_splits(data, self.cv, seed, N_FOLDS),
                sorted(per_class if self.n_components is None else self.n_components),
                sorted(self.reg_covar),
            )
            for R in numbers_of_blocks(self.n_blocks, first):
                if not paths.follow(R):
                    break
            if not paths.best_steps:
                raise none_fitted("candidates can be fitted in every split", paths.errors)
            model: Any = None
            for step in paths.best_steps:
                model = _initialised(estimator, step, model).fit(*data)
        self.best_estimator_ = model
        self.best_score_ = paths.best_score
        self.best_params_ = dict(paths.best_steps[-1])
        self.classes_ = self.best_estimator_.classes_
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        return self.best_estimator_.predict_proba(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        return self.best_estimator_.predict(X)


Step = dict[str, Any]
"""The n_blocks, n_components and reg_covar of a model."""


@dataclass(frozen=True)
class _Trial:
    """Models of one step, one per split, their mean score, and the steps to them; no models if one cannot be fitted."""

    score: float = -np.inf
    steps: Sequence[Step] = ()
    models: Sequence[Any] = ()


@dataclass
class _Paths:
    """Paths over the number of components, one for each number of blocks, and the steps to the best model."""

    estimator: Any
    splits: list[tuple[Data, Data]]
    sizes: list[int]
    reg_covars: list[float]

    def __post_init__(self) -> None:
        self.errors: list[ValueError] = []
        self.best_score = -np.inf
        self.best_steps: Sequence[Step] = ()

    def follow(self, n_blocks: int) -> bool:
        """Follow the path of a number of blocks while the score rises; return True if it has the best model so far."""
        if self.best_steps:
            reg_covar = self.best_steps[-1]["reg_covar"]
            others = self._beside(reg_covar)
        else:
            reg_covar = self.reg_covars[len(self.reg_covars) // 2]
            others = [other for other in self.reg_covars if other != reg_covar]
        best: _Trial | None = None
        gained = False
        for K in self.sizes:
            step = {"n_blocks": n_blocks, "n_components": K, "reg_covar": reg_covar}
            trial = self._trial(step, best)
            if best is not None and trial.score <= best.score:
                trial = self._trial(step, None)
                if trial.score <= best.score:
                    break
            if not trial.models:
                continue
            trials = [self._trial({**step, "reg_covar": other}, trial) for other in others]
            best = max([trial, *trials], key=lambda trial: trial.score)
            reg_covar = best.steps[-1]["reg_covar"]
            others = self._beside(reg_covar)
            if best.score > self.best_score:
                self.best_score, self.best_steps, gained = best.score, best.steps, True
        return gained

    def _beside(self, reg_covar: float) -> list[float]:
        i = self.reg_covars.index(reg_covar)
        return self.reg_covars[max(i - 1, 0) : i] + self.reg_covars[i + 1 : i + 2]

    def _trial(self, step: Step, before: _Trial | None) -> _Trial:
        """Fit the models of a step, each from the model of its split before, if any."""
        starts = before.models if before else [None] * len(self.splits)
        models: list[Any] = []
        with collecting(self.errors):
            models = [
                _initialised(self.estimator, step, start).fit(*train)
                for start, (train, _) in zip(starts, self.splits, strict=True)
            ]
        if not models:
            return _Trial()
        scores = [
            test.score(log_posterior, model) for model, (_, test) in zip(models, self.splits, strict=True)
        ]
        return _Trial(float(np.mean(scores)), [*(before.steps if before else ()), step], models)


def _initialised(estimator: Any, step: Step, before: Any) -> Any:
    """The unfitted model of a step, with the initialisation of the estimator or from a fitted model."""
    model = clone(estimator)
    model.set_params(**{name: value for name, value in step.items() if name in model.get_params()})
    if before is not None:
        K = step["n_components"]
        if before.reg_covar != step["reg_covar"]:
            # The same components, of which rare classes may have fewer than K asks for.
            K = before.n_components_
            model.set_params(n_components=K, max_iter=-(-estimator.max_iter // 3))
        model.set_params(init_params=split(before, K))
    return model
