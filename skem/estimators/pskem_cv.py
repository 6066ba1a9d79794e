"""Choice of the numbers of components and feature blocks, and of the covariance regularisation, on held-out samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from skem.estimators._callbacks import Progress
from skem.estimators._checking import integers, refuse_out_of_core
from skem.estimators._docstrings import documented
from skem.estimators._held_out import Data, collecting, held_out_splits, log_posterior, none_fitted, quiet
from skem.estimators._search import Search, candidates, numbers_of_blocks, refuse_init_arrays, split
from skem.estimators._training import warn_unless_converged
from skem.estimators.discriminative_pskem import DiscriminativePSKEMClassifier
from skem.estimators.mda import MDAClassifier
from skem.estimators.pskem import PSKEMClassifier
from skem.estimators.skem import SKEMClassifier

REG_COVARS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
PER_CLASS = (1, 2, 4, 8, 16, 32)

N_FOLDS = {1000: 5}
"""Number of five folds that are held out in turn, below a number of samples: one fifth of few samples does not tell models apart."""

LEAST_GAIN = 1e-3
"""Least gain of an iteration, in nats per sample: the scores of candidates differ by more."""


@documented
class PSKEMClassifierCV(Search, ClassifierMixin, BaseEstimator, model=PSKEMClassifier):
    """``PSKEMClassifier`` whose components, feature blocks and covariance regularisation minimise the held-out log-loss.

    For each number of blocks the search follows a path of models with more and more components. Each model starts from the best
    one before, with its heaviest components split in two, and has its ``reg_covar``. From that model start two more, with the
    next smaller and larger ``reg_covar`` and a third of the iterations. The first model of all is tried with every ``reg_covar``.
    If a split does not raise the score, the search tries the initialisation of ``estimator``; if that does not either, the path
    ends. The search ends with the first number of blocks whose path does not raise the score.

    Parameters
    ----------
    estimator : PSKEMClassifier, MDAClassifier, SKEMClassifier or None
        Model to fit; None is ``PSKEMClassifier()``. The search sets its ``max_iter`` and the parameters below. Its ``n_init`` is
        used for the first model of each path. Its ``init`` must be a string, and its ``sharing`` None: ``PRBFClassifierCV`` chooses
        that. For a ``DiscriminativePSKEMClassifier`` there is ``DiscriminativePSKEMClassifierCV``.
    n_components : int, sequence of int or None
        Candidates for K. None is 1, 2, 4, 8, 16 and 32 per class.
    n_blocks : int or sequence of int
        Candidates for R, tried in this order; numbers above that of the features are left out. Unused if the estimator has no
        such parameter, or lists of features as its blocks.
    reg_covar : float or sequence of float
        Candidates for the covariance regularisation.
    max_iter : int
        Maximum number of EM iterations of each fit. A fit ends earlier if an iteration gains less than 1e-3 nats per sample, or
        than the ``tol`` of the estimator if that is larger.
    cv : int, splitter, iterable or None
        Splits as in scikit-learn. None is five stratified folds; from 1,000 samples on, only the first of them is held out.
        Stratified folds, which a number stands for, do not hold out a class of one or two samples.
    random_state
        None uses the random state of the estimator.

    Attributes
    ----------
    best_estimator_ : PSKEMClassifier, MDAClassifier or SKEMClassifier
        Model with ``best_params_``, fitted to all samples along the same path.
    best_params_ : dict
        Chosen "n_blocks", "n_components" and "reg_covar".
    best_score_ : float
        Score of ``best_params_``: the mean over splits of the log posterior of the true class of held-out samples, in nats. It is
        the negative log-loss.
    results_ : dict of list
        Columns of a table of all models in the order of fits, ready for a DataFrame: "n_blocks", "n_components", "reg_covar" and
        "held_out", the score, NaN if a model cannot be fitted. See ``skem.plots.criterion_by_components``.
    n_iter_ : int
        Iterations of the last fit, of ``best_estimator_``.
    classes_, class_prior_, n_features_in_

    Raises
    ------
    ValueError
        From ``fit``: no candidates, or none that can be fitted; an estimator with ``sharing``, or with arrays as its ``init``;
        beside the errors of the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from skem import PSKEMClassifierCV
    >>> X, y = load_wine(return_X_y=True)
    >>> sorted(PSKEMClassifierCV(random_state=0).fit(X, y).best_params_)
    ['n_blocks', 'n_components', 'reg_covar']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [PSKEMClassifier, MDAClassifier, SKEMClassifier, None],
        "n_components": [integers(1), "array-like", None],
        "n_blocks": [integers(1), "array-like"],
        "reg_covar": [*PSKEMClassifier._parameter_constraints["reg_covar"], "array-like"],
        "max_iter": [integers(1)],
        "cv": ["cv_object"],
        "n_jobs": [integers(), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: PSKEMClassifier | MDAClassifier | SKEMClassifier | None = None,
        *,
        n_components: int | Sequence[int] | None = None,
        n_blocks: int | Sequence[int] = (1, 2, 4),
        reg_covar: float | Sequence[float] = REG_COVARS,
        max_iter: int = 10,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_components = n_components
        self.n_blocks = n_blocks
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any, progress: Progress) -> None:
        refuse_out_of_core(self, X)
        original = self._base()
        refuse_init_arrays(original)
        if isinstance(original, DiscriminativePSKEMClassifier):
            raise ValueError(
                "estimator: DiscriminativePSKEMClassifier is selected after its training by DiscriminativePSKEMClassifierCV: "
                "use that, or a PSKEMClassifier"
            )
        if original.sharing is not None:
            raise ValueError(
                f"estimator: sharing of {type(original).__name__} must be None, got {original.sharing!r}: a split component "
                "has no group; see PRBFClassifierCV for a choice of sharing"
            )
        estimator = clone(original).set_params(
            max_iter=self.max_iter,
            tol=max(original.tol, LEAST_GAIN),
            n_components=None,
            warm_start=False,
            n_jobs=self.n_jobs,
        )
        # Invalid samples raise here, not in the middle of a split.
        first = clone(estimator).set_params(max_iter=1, n_init=1)
        with quiet():
            first.fit(X, y, sample_weight)
            per_class = [len(first.classes_) * k for k in PER_CLASS]
            given = per_class if self.n_components is None else self.n_components
            sizes = candidates("n_components", given, integers(1))
            reg_covars = candidates("reg_covar", self.reg_covar, self._parameter_constraints["reg_covar"][0])
            n_blocks = numbers_of_blocks(self.n_blocks, first)
            data = Data.labelled(X, y, sample_weight)
            splits = held_out_splits(data, self.cv, original.random_state, N_FOLDS)

            paths = _Paths(estimator, splits, sizes, reg_covars, progress)
            for R in n_blocks:
                if not paths.follow(R):
                    break
            if not paths.best_steps:
                raise none_fitted(
                    f"{len(paths.entries)} candidates can be fitted in every split", paths.errors
                )
            model = None
            for step in paths.best_steps:
                model = _initialised(estimator, step, model).fit(*data)
        assert model is not None
        if original.tol < LEAST_GAIN:  # which ended the fit instead
            model._converged = None
        warn_unless_converged(model)
        names = "init", "tol", "n_jobs", "warm_start"
        self.best_estimator_ = model.set_params(**{name: getattr(original, name) for name in names})
        self.n_iter_ = model.n_iter_
        self.best_score_ = paths.best_score
        self.best_params_ = dict(paths.best_steps[-1])
        self.results_ = {name: [entry[name] for entry in paths.entries] for name in paths.entries[0]}


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
    progress: Progress

    def __post_init__(self) -> None:
        self.entries: list[Step] = []
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
        entry = step | {"held_out": np.nan}
        starts = before.models if before else [None] * len(self.splits)
        models: list[Any] = []
        with self.progress.task("model", len(self.entries)), collecting(self.errors):
            models = [
                _initialised(self.estimator, step, start).fit(*train)
                for start, (train, _) in zip(starts, self.splits, strict=True)
            ]
        self.entries.append(entry)
        if not models:
            return _Trial()
        scores = [
            test.score(log_posterior, model) for model, (_, test) in zip(models, self.splits, strict=True)
        ]
        entry["held_out"] = float(np.mean(scores))
        return _Trial(entry["held_out"], [*(before.steps if before else ()), step], models)


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
        model.set_params(init=split(before, K))
    return model
