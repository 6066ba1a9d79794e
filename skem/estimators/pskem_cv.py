"""How many components, how large a ridge and how many blocks: chosen on held-out rows along a path of splits."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils._param_validation import Interval

from skem.estimators._callbacks import Progress
from skem.estimators._checking import refuse_out_of_core
from skem.estimators._choosing import ChoosingClassifier, UserRows, log_posterior
from skem.estimators._discriminative import DiscriminativelyTrained
from skem.estimators._docstrings import documented
from skem.estimators._splitting import split_components
from skem.estimators._training import one_seed
from skem.estimators.mda import MDAClassifier
from skem.estimators.pskem import PSKEMClassifier
from skem.estimators.skem import SKEMClassifier

RIDGES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
PER_CLASS = (1, 2, 4, 8, 16, 32)

FEW_ROWS = 1000
"""One fifth of as many does not tell models apart."""

LEAST_GAIN = 1e-3
"""In a pass, in nats per row: what is compared differs by more."""


@documented
class PSKEMClassifierCV(ChoosingClassifier):
    """``PSKEMClassifier`` whose numbers of components and blocks, and ridge, are chosen by log-loss on held-out rows.

    For each number of blocks a path leads from the fewest components up. Each model starts from the best one before, whose
    heaviest components are split in two, and has its ridge; from it follow, in a third of the passes, models with the next
    ridges on either side. Only the first model of all is tried with every ridge. Where a split does not gain, the estimator's
    own start is tried; where that does not either, the path ends. The search ends with the first number of blocks whose path
    does not gain.

    Parameters
    ----------
    estimator : PSKEMClassifier, MDAClassifier, SKEMClassifier or None, default=None
        What is fitted, but for what is chosen here and its ``max_iter``; None is ``PSKEMClassifier()``. Its ``n_init`` is
        of the first model of each path. Its ``init`` must be a word, and ``sharing`` None: see ``PRBFClassifierCV``. A
        ``DiscriminativePSKEMClassifier`` is trained discriminatively once, in the last fit to all rows; the others have its temperature.
    n_components : int, sequence of int or None, default=None
        The numbers K to choose from; None is 1, 2, 4, 8, 16 and 32 per class.
    n_blocks : int or sequence of int, default=(1, 2, 4)
        The numbers R to choose from, in the order in which they are tried, those above the number of features left out.
        They play no part where the estimator has no such parameter, or lists of features as its blocks.
    reg_covar : float or sequence of float, default=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
        The ridges to choose from.
    max_iter : int, default=10
        Passes of each fit; fewer where one gains less than 1e-3 nats per row, or the estimator's ``tol`` if that is more.
    cv : int, splitter, iterable or None, default=None
        As in scikit-learn, but None holds out one fifth of the rows, stratified; of less than 1,000 rows, which say too
        little, each fifth in turn.
    %(n_jobs)s
    %(random_state)s
        None leaves it to the estimator's own.

    Attributes
    ----------
    best_estimator_ : PSKEMClassifier, MDAClassifier or SKEMClassifier
        Fitted to all rows along the path to what was chosen.
    best_params_ : dict
        Its "n_blocks", "n_components" and "reg_covar".
    best_score_ : float
        Its mean log posterior of the true class over held-out rows and splits, in nats: the log-loss with its sign changed.
        Before discriminative training, if any.
    results_ : dict of list
        By column, ready for a DataFrame, one entry per model in the order of fits: "n_blocks", "n_components", "reg_covar"
        and "held_out", the mean log posterior, NaN where a model cannot be fitted. See ``skem.plots.criterion_by_components``.
    n_iter_ : int
        Passes of the last fit, of ``best_estimator_``.
    classes_, class_prior_ : ndarray of shape (n_classes,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Raises
    ------
    ValueError
        From ``fit``: nothing to choose from, or nothing that can be fitted; an estimator with ``sharing`` or with arrays as
        its ``init``; beside what the estimator refuses.

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
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "n_blocks": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "reg_covar": [Interval(Real, 0, None, closed="left"), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "cv": ["cv_object"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: PSKEMClassifier | MDAClassifier | SKEMClassifier | None = None,
        *,
        n_components: int | Sequence[int] | None = None,
        n_blocks: int | Sequence[int] = (1, 2, 4),
        reg_covar: float | Sequence[float] = RIDGES,
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

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, progress: Progress) -> None:
        refuse_out_of_core(self, X)
        estimator = self._base()
        # What can be refused is refused here, not in the middle of a split.
        original = PSKEMClassifier() if self.estimator is None else self.estimator
        first = clone(estimator).set_params(max_iter=1, n_init=1)
        if isinstance(original, DiscriminativelyTrained):
            first.set_params(
                strength=original.strength, discriminative_iter=min(original.discriminative_iter, 1)
            )
        _quietly(first, X, y, sample_weight)
        doubled = [len(first.classes_) * k for k in PER_CLASS]
        sizes = _choices(
            "n_components", doubled if self.n_components is None else self.n_components, Integral
        )
        ridges = _choices("reg_covar", self.reg_covar)
        numbers = self._numbers_of_blocks(estimator, first.n_features_in_)
        rows = UserRows.of(X, y, sample_weight)
        splits = [(rows.take(train), rows.take(test)) for train, test in self._splits(rows.y, estimator)]

        search = _Search(estimator, splits, sizes, ridges, progress)
        for n_blocks in numbers:
            if not search.path(n_blocks):
                break
        if not search.best_steps:
            raise ValueError(
                f"none of the {len(search.entries)} candidates can be fitted; the last one failed with: {search.error}"
            ) from search.error
        self.results_ = {
            name: [entry[name] for entry in search.entries]
            for name in ("n_blocks", "n_components", "reg_covar", "held_out")
        }
        self.best_score_ = search.best_score
        *_, last = search.best_steps
        self.best_params_ = dict(last)
        model = None
        for step in search.best_steps:
            if step is last and isinstance(original, DiscriminativelyTrained):
                estimator.set_params(strength=original.strength)
            model = _fitted(estimator, step, model, rows)
        assert model is not None
        self.best_estimator_ = model.set_params(
            **{name: getattr(original, name) for name in ("init", "tol", "n_jobs", "warm_start")}
        )
        self.n_iter_ = model.n_iter_

    def _base(self) -> Any:
        estimator = PSKEMClassifier() if self.estimator is None else clone(self.estimator)
        name = type(estimator).__name__
        if not isinstance(estimator.init, str):
            raise ValueError(
                f"estimator: the init of {name} must be a word, since the number of components varies"
            )
        if estimator.sharing is not None:
            raise ValueError(
                f"estimator: {name} with sharing={estimator.sharing!r} must be without: components change hands"
            )
        if isinstance(estimator, DiscriminativelyTrained):
            estimator.set_params(strength=np.inf)  # no discriminative training, but the temperature
        return estimator.set_params(
            max_iter=self.max_iter,
            tol=max(estimator.tol, LEAST_GAIN),
            n_components=None,
            warm_start=False,
            n_jobs=self.n_jobs,
            random_state=one_seed(self.random_state, estimator.random_state),
        )

    def _numbers_of_blocks(self, estimator: Any, n_features: int) -> list[int]:
        if "n_blocks" not in estimator.get_params() or not isinstance(estimator.arrangement, str):
            return [estimator.n_blocks]
        numbers = _choices("n_blocks", self.n_blocks, Integral, in_order=True)
        if estimator.block_size is None:
            numbers = [n for n in numbers if n <= n_features] or [n_features]
        return numbers

    def _splits(self, labels: np.ndarray, estimator: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        if self.cv is not None:
            return list(check_cv(self.cv, labels, classifier=True).split(labels, labels))
        fifths = StratifiedKFold(5, shuffle=True, random_state=estimator.random_state)
        return list(fifths.split(labels, labels))[: None if len(labels) < FEW_ROWS else 1]


Step = dict[str, Any]
"""The n_blocks, n_components and reg_covar of a model."""


@dataclass(frozen=True)
class _Trial:
    """Models of one step, a split each, their mean score, and the steps that lead to them; without models if impossible."""

    score: float
    steps: list[Step]
    models: list[Any]


@dataclass
class _Search:
    """Paths over the number of components, one for each number of blocks, and the best model of them all."""

    estimator: Any
    splits: list[tuple[UserRows, UserRows]]
    sizes: list[int]
    ridges: list[float]
    progress: Progress

    def __post_init__(self) -> None:
        self.entries: list[Step] = []
        self.best_score = -np.inf
        self.best_steps: list[Step] = []
        self.error: ValueError | None = None

    def path(self, n_blocks: int) -> bool:
        """Follow the path of a number of blocks as long as it gains; whether it has the best model so far."""
        ridge = self.best_steps[-1]["reg_covar"] if self.best_steps else self.ridges[len(self.ridges) // 2]
        others = self._beside(ridge) if self.best_steps else [r for r in self.ridges if r != ridge]
        best: _Trial | None = None
        gained = False
        for K in self.sizes:
            step = {"n_blocks": n_blocks, "n_components": K, "reg_covar": ridge}
            trial = self._trial(step, best)
            if best is not None and trial.score <= best.score:
                trial = self._trial(step, None)  # a split can be an unlucky one
                if trial.score <= best.score:
                    break
            if not trial.models:
                continue
            trials = [self._trial({**step, "reg_covar": other}, trial) for other in others]
            best = max([trial, *trials], key=lambda trial: trial.score)
            ridge = best.steps[-1]["reg_covar"]
            others = self._beside(ridge)
            if best.score > self.best_score:
                self.best_score, self.best_steps, gained = best.score, best.steps, True
        return gained

    def _beside(self, ridge: float) -> list[float]:
        i = self.ridges.index(ridge)
        return self.ridges[max(i - 1, 0) : i] + self.ridges[i + 1 : i + 2]

    def _trial(self, step: Step, before: _Trial | None) -> _Trial:
        """The models of a step, each from the one before on its split; none, and a score of NaN, if one cannot be fitted."""
        with self.progress.task("model", len(self.entries)):
            try:
                models = [
                    _fitted(self.estimator, step, None if before is None else before.models[s], train)
                    for s, (train, _) in enumerate(self.splits)
                ]
            except ValueError as error:
                self.error, models = error, []
        if not models:
            self.entries.append(step | {"held_out": np.nan})
            return _Trial(-np.inf, [], [])
        scores = [
            test.score(log_posterior, model) for model, (_, test) in zip(models, self.splits, strict=True)
        ]
        score = float(np.mean(scores))
        self.entries.append(step | {"held_out": score})
        return _Trial(score, [*(before.steps if before else []), step], models)


def _fitted(estimator: Any, step: Step, before: Any, rows: UserRows) -> Any:
    """The model of a step, from the estimator's own start or from the model before, with components split if there are more."""
    model = clone(estimator)
    model.set_params(**{name: value for name, value in step.items() if name in model.get_params()})
    if before is not None:
        if before.n_components_ == step["n_components"]:
            model.set_params(max_iter=-(-estimator.max_iter // 3))
        mixtures = []
        for mixture, columns in zip(before.blocks_, before.block_indices_, strict=True):
            # In the engine's units, where features are of one size.
            larger = split_components(
                before._to_internal(mixture, columns), before._fitted_type, step["n_components"]
            )
            mixtures.append(before._to_input_units(larger, columns))
        model.set_params(init=[(each.weights, each.means, each.covariances) for each in mixtures])
    return _quietly(model, rows.X, rows.y, rows.weights)


def _quietly(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "n_components=.* distinct training samples", UserWarning)
        return model.fit(X, y, sample_weight)


def _choices(name: str, values: Any, kind: type = float, *, in_order: bool = False) -> list[Any]:
    """The values to choose from, each once; sorted unless their order says which comes first."""
    chosen = np.ravel(values).tolist()
    if not chosen:
        raise ValueError(f"{name} must have something to choose from")
    for value in chosen:
        if kind is Integral and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise ValueError(f"{name} must be whole numbers from 1 on, got {value!r}")
        if kind is float and (not isinstance(value, (int, float)) or not 0 <= value < np.inf):
            raise ValueError(f"{name} must be non-negative numbers, got {value!r}")
    distinct = list(dict.fromkeys(chosen))
    return distinct if in_order else sorted(distinct)
