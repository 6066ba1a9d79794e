"""Choice of all parameters of discriminative training by the log-loss of held-out samples after training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from skem.engine.masked import with_nan
from skem.engine.threads import Workers
from skem.estimators._calibration import fitted_temperature, tempered
from skem.estimators._callbacks import Progress
from skem.estimators._checking import integers, refuse_out_of_core
from skem.estimators._discriminative import UNGUARDED_BACKGROUND
from skem.estimators._held_out import Data, collecting, held_out_splits, none_fitted, quiet
from skem.estimators._options import nested
from skem.estimators._quantiles import STANDARDIZE, of_classifier, quantiles_to_normal, scaled_classifier
from skem.estimators._search import Search, candidates, numbers_of_blocks, refuse_init_arrays
from skem.estimators._sklearn import StrOptions
from skem.estimators.discriminative_pskem import DiscriminativePSKEMClassifier

CONSTRAINTS = DiscriminativePSKEMClassifier._parameter_constraints

PER_CLASS = (1, 4, 16)
"""Default components per class in EM. More grow by doubling, so these are three different initialisations of the growth."""

SCREENED = 2
"""Stages of training after which configurations are compared, except those that differ in a parameter of `GROWN`."""

GROWN = ("n_components", "training_temperature")
"""Parameters whose candidates double their components until the log-loss rises: few stages prefer a large n_components."""

HOPELESS, HOPELESS_GROWN, HOPELESS_EM = 1.03, 1.1, 1.3
"""Log-loss, relative to the best configuration after the same stage, at which a configuration is abandoned. The second is for
parameters of `GROWN`, the third for EM, which says less about the end of training: it changed no choice on 12 tables."""

LEAST_GAIN = 1e-3
"""Least gain of another configuration, or of another stage, in nats per sample: smaller ones are chance."""

MAX_EM_ITERATIONS = 5
"""Iterations of EM, which only initialises the training."""

ITERATIONS, STEPS, LEAST_BATCH, LEARNING_RATE = 3, 15, 64, 0.2
"""Iterations per stage, steps per iteration, least samples of a step, and its length. Twice the steps at half the length cost twice
the time and have the same log-loss (vehicle, segment), and so have five iterations (18 tables)."""

N_FOLDS = {1000: 5, 3000: 3}
"""Number of five folds that are held out in turn, below a number of samples; from the last number on, one is."""

PER_COMPONENT = 4
"""Least samples per component on average; thrice as many are needed in EM."""


class DiscriminativePSKEMClassifierCV(Search, ClassifierMixin, BaseEstimator):
    """``DiscriminativePSKEMClassifier`` whose parameters minimise the held-out log-loss after discriminative training.

    Each parameter below is varied in turn, from the best configuration so far; its first candidate is the initial one. Models of
    a configuration are trained by EM, then discriminatively in two stages, between which their components double. The best
    configuration is trained further, with twice the components in each stage, until the log-loss rises. Mixtures after EM are
    candidates, too. The temperature minimises the log-loss of all held-out samples, and costs no training samples.

    Parameters
    ----------
    estimator : DiscriminativePSKEMClassifier or None, default=None
        Model to fit; None is ``DiscriminativePSKEMClassifier()``. The search sets the parameters in ``best_params_``. ``init_params``
        must be a string, and the option ``sharing`` None. With its ``discriminative_iter=0`` all models are trained by EM alone.
    covariance_type : str or sequence of str, default=('full', 'tied')
        Candidates for the structure of the covariances.
    scaling : {"standard", "robust", "quantile"} or sequence of these, default=('robust', 'standard', 'quantile')
        Candidates for the scale of the features. "standard" is ``standardize=True`` of the estimator, and "robust" limits
        outliers. "quantile" maps the quantiles of each feature to those of a normal distribution, for outliers and skewed
        features. Densities are then those of the transformed features. Fits with sample weights leave out "quantile"; if it is the
        only candidate, "robust" replaces it.
    reg_covar : float or sequence of float, default=(0.1, 0.01, 1.0)
        Candidates for the covariance regularisation.
    n_components : int, sequence of int or None, default=None
        Candidates for the number of components in EM. None is 1, 4 and 16 per class.
    n_blocks : int or sequence of int, default=(1, 2)
        Candidates for R; numbers above that of the features are left out. Unused if the estimator has lists of features as its
        blocks.
    training_temperature : float or sequence of float, default=(2.0, 5.0)
        Candidates for the temperature during discriminative training, at least 1e-6. Larger ones regularise more.
    max_doublings : int, default=6
        Maximum number of times that components double.
    cv : int, splitter, iterable or None, default=None
        Splits as in scikit-learn. None is five stratified folds for fewer than 1,000 samples, and three for fewer than 3,000;
        otherwise one fifth of the samples is held out. Stratified folds do not hold out a class of one or two samples.
    n_jobs : int or None, default=None
        Number of threads that share the splits, without effect on results. None is one thread, -1 is one per core.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices. Set an int for reproducible results.
        None uses the random state of the estimator.

    Attributes
    ----------
    best_estimator_ : DiscriminativePSKEMClassifier or Pipeline
        Model with ``best_params_``, fitted to all samples. With ``scaling="quantile"`` it is a pipeline of a
        ``QuantileTransformer`` and the classifier. ``DiscriminativePSKEMClassifier.load`` reads either from a file of ``save``.
    best_params_ : dict
        "scaling", and the chosen parameters of ``DiscriminativePSKEMClassifier``, its "options" among them, which rebuild the classifier to the last bit.
        An infinite "strength" keeps the mixtures of EM.
    best_score_ : float
        Mean over held-out samples of the log posterior of the true class, in nats: the negative log-loss.
    cv_results_ : dict of list
        Columns of a table of all models: the parameters of the search, "n_doublings", "strength", "temperature", and "held_out",
        the score.
    classes_ : ndarray of shape (n_classes,)
        Class labels. A class needs one sample of positive weight; other classes are left out.
    priors_ : ndarray of shape (n_classes,)
        Class prior p(c).
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of features, and their names if the input has them.

    Raises
    ------
    ValueError
        From ``fit``: no candidates, or none that can be fitted; an estimator with ``sharing``, or with arrays as its ``init_params``;
        beside the errors of the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from skem import DiscriminativePSKEMClassifierCV
    >>> X, y = load_wine(return_X_y=True)
    >>> model = DiscriminativePSKEMClassifierCV(n_components=3, random_state=0).fit(X, y)
    >>> model.best_score_ > -0.1
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [DiscriminativePSKEMClassifier, None],
        "covariance_type": [str, "array-like"],
        "scaling": [str, "array-like"],
        "reg_covar": [*CONSTRAINTS["reg_covar"], "array-like"],
        "n_components": [integers(1), "array-like", None],
        "n_blocks": [integers(1), "array-like"],
        "training_temperature": [CONSTRAINTS["training_temperature"][0], "array-like"],
        "max_doublings": [integers(0)],
        "cv": ["cv_object"],
        "n_jobs": [integers(), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: DiscriminativePSKEMClassifier | None = None,
        *,
        covariance_type: str | Sequence[str] = ("full", "tied"),
        scaling: str | Sequence[str] = ("robust", "standard", "quantile"),
        reg_covar: float | Sequence[float] = (0.1, 0.01, 1.0),
        n_components: int | Sequence[int] | None = None,
        n_blocks: int | Sequence[int] = (1, 2),
        training_temperature: float | Sequence[float] = (2.0, 5.0),
        max_doublings: int = 6,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.covariance_type = covariance_type
        self.scaling = scaling
        self.reg_covar = reg_covar
        self.n_components = n_components
        self.n_blocks = n_blocks
        self.training_temperature = training_temperature
        self.max_doublings = max_doublings
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def classes_(self) -> np.ndarray:
        return self._model.classes_

    @property
    def priors_(self) -> np.ndarray:
        return self._model.priors_

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(c|x) by ``best_estimator_``, shape (n_samples, n_classes)."""
        return self._model.predict_log_proba(X)

    def predict_joint_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log p(x, c) by ``best_estimator_``, shape (n_samples, n_classes)."""
        return self._model.predict_joint_log_proba(X)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Log-odds by ``best_estimator_``, shape (n_samples,) for two classes, else (n_samples, n_classes)."""
        return self._model.decision_function(X)

    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """log p(x|c) by ``best_estimator_``, in nats, shape (n_samples, n_classes)."""
        return self._model.class_log_density(X)

    def _default(self) -> DiscriminativePSKEMClassifier:
        return DiscriminativePSKEMClassifier()

    def _fit(self, X: Any, y: Any, sample_weight: Any, progress: Progress) -> None:
        refuse_out_of_core(self, X)
        original = self._base()
        refuse_init_arrays(original)
        if (sharing := original._option("sharing")) is not None:
            raise ValueError(
                f"estimator: sharing must be None, got {sharing!r}: components that double have no groups"
            )
        estimator = clone(original).set_params(
            temperature=1.0,
            strength=0.0,
            tol=0.0,
            early_stopping=False,
            warm_start=False,
            options=(original.options or {}) | {"background": UNGUARDED_BACKGROUND},
            n_jobs=None,
        )
        em_alone = original.discriminative_iter == 0
        iterations = 0 if em_alone else 1
        with quiet():
            # Invalid samples raise here, not in the middle of a split.
            first = clone(estimator).set_params(
                max_iter=1, n_init=1, discriminative_iter=iterations, n_components=None
            )
            first.fit(X, y, sample_weight)
            data = Data.labelled(X, y, sample_weight)
            estimator.set_params(
                max_iter=original.max_iter if em_alone else min(original.max_iter, MAX_EM_ITERATIONS),
                discriminative_iter=ITERATIONS * iterations,
                batch_size=max(LEAST_BATCH, -(-len(data.y) // STEPS)),
                options=estimator.options
                | {"n_doublings": self.max_doublings, "learning_rate": LEARNING_RATE},
            )
            grid = self._grid(first, len(data.y), weighted=sample_weight is not None)
            if em_alone:
                del grid["training_temperature"][1:]
            splits = held_out_splits(data, self.cv, original.random_state, N_FOLDS)
            with Workers(self.n_jobs) as workers:
                search = _Paths(estimator, splits, first, workers, progress)
                best = search.over(grid)
        chosen = max(best.entries, key=lambda entry: entry["held_out"])
        self.cv_results_ = {name: [entry[name] for entry in search.entries] for name in chosen}
        self.best_score_ = chosen["held_out"]
        params = {name: value for name, value in chosen.items() if name != "held_out"}
        params |= {"standardize": STANDARDIZE[chosen["scaling"]]}
        fixed = "max_iter", "tol", "early_stopping", "discriminative_iter", "batch_size", "random_state"
        params |= {name: getattr(estimator, name) for name in fixed}
        self.best_params_ = nested(params, estimator.options)
        classifier = clone(original).set_params(**of_classifier(self.best_params_, original.options))
        self.best_estimator_ = scaled_classifier(classifier, chosen["scaling"], len(data.y))
        self.best_estimator_.fit(*data[: 2 if sample_weight is None else 3])

    def _grid(self, first: Any, n_samples: int, weighted: bool) -> dict[str, list[Any]]:
        """Candidates of each parameter, the initial one first."""
        L = len(first.classes_)
        few = [L * k for k in PER_CLASS if k == 1 or 3 * PER_COMPONENT * L * k <= n_samples]
        grid = {
            "covariance_type": self.covariance_type,
            "scaling": self.scaling,
            "reg_covar": self.reg_covar,
            "n_blocks": numbers_of_blocks(self.n_blocks, first),
            "n_components": few if self.n_components is None else self.n_components,
            "training_temperature": self.training_temperature,
        }
        allowed = CONSTRAINTS | {"scaling": [StrOptions(set(STANDARDIZE))]}
        lists = {
            name: candidates(name, values, allowed[name][0], in_order=True) for name, values in grid.items()
        }
        if weighted:  # quantiles have no weights
            lists["scaling"] = [scaling for scaling in lists["scaling"] if scaling != "quantile"] or [
                "robust"
            ]
        return lists


@dataclass
class _Path:
    """Models of one configuration, one per split, and their scores: after EM, then after each stage."""

    params: dict[str, Any]
    models: list[Any]
    runs: list[Iterator[Any]]
    entries: list[dict[str, Any]] = field(default_factory=list)

    @property
    def score(self) -> float:
        return max(entry["held_out"] for entry in self.entries)

    @property
    def rises(self) -> bool:
        """True if the last stage has raised the score."""
        return self.entries[-1]["held_out"] > max(e["held_out"] for e in self.entries[:-1]) + LEAST_GAIN

    def is_hopeless(self, best: _Path, grows: bool) -> bool:
        """True if the score after the last stage is far below that of the best path after the same stage."""
        stage = min(len(self.entries), len(best.entries)) - 1
        limit = HOPELESS_EM if stage == 0 else HOPELESS_GROWN if grows else HOPELESS
        return self.entries[-1]["held_out"] < limit * best.entries[stage]["held_out"]


class _Paths:
    """Paths of configurations on common splits."""

    def __init__(
        self,
        estimator: Any,
        splits: list[tuple[Data, Data]],
        first: Any,
        workers: Workers,
        progress: Progress,
    ) -> None:
        self.estimator, self.splits, self.workers, self.progress = estimator, splits, workers, progress
        self.classes, self.log_prior = first.classes_, first._log_prior()
        self.max_doublings = estimator._option("n_doublings")
        self.entries: list[dict[str, Any]] = []
        self._n_samples = len(splits[0][0].y) + len(splits[0][1].y)
        self._numbers = count()
        self.errors: list[ValueError] = []
        y = np.concatenate([test.y for _, test in splits])
        # A class without any weight is in no model.
        self._codes = np.searchsorted(self.classes, y).clip(max=len(self.classes) - 1)
        weights = [
            np.ones(len(test.y)) if test.sample_weight is None else test.sample_weight for _, test in splits
        ]
        self._weights = np.concatenate(weights).astype(np.float64)
        X = np.concatenate([np.asarray(with_nan(test.X), dtype=np.float64) for _, test in splits])
        # A sample of weight two is two samples, and both are one piece of evidence for the temperature.
        self._weights *= len(np.unique(X[self._weights > 0], axis=0)) / self._weights.sum()
        self._scaled: dict[str, list[tuple[Data, Any]]] = {}

    def over(self, grid: dict[str, list[Any]]) -> _Path:
        """Vary one parameter after the other; return the best path."""
        params, best = {name: values[0] for name, values in grid.items()}, None
        for name, values in grid.items():
            grows = name in GROWN
            if best is not None and grows:
                self._follow(best, None, grows)
            for value in values if best is None else values[1:]:
                path = self._path((best.params if best else params) | {name: value}, best, grows)
                if path is not None and (best is None or path.score > best.score + LEAST_GAIN):
                    best = path
        if best is None:
            raise none_fitted(f"{len(self.errors)} candidates can be fitted in every split", self.errors)
        return best

    def _path(self, params: dict[str, Any], best: _Path | None, grows: bool) -> _Path | None:
        """Models of a configuration, trained as far as they are promising; None if one cannot be fitted."""
        with self.progress.task("model", next(self._numbers)), collecting(self.errors):
            data = self._data(params["scaling"])
            options = self.estimator.options
            models = [clone(self.estimator).set_params(**of_classifier(params, options)) for _ in data]
            runs = [model.fit_iterations(*train) for model, (train, _) in zip(models, data, strict=True)]
            path = _Path(params, models, runs)
            self._train(path)
            self._follow(path, best, grows)
            return path
        return None

    def _follow(self, path: _Path, best: _Path | None, grows: bool) -> None:
        """Train the models of a path stage by stage: all stages that raise the score if it ``grows``, else a few."""
        largest = self._n_samples / (PER_COMPONENT * path.params["n_components"])
        stages = self.max_doublings + 1 if self.estimator.discriminative_iter else 0
        for stage in range(len(path.entries) - 1, stages):
            if stage >= SCREENED:
                ends = not (grows and path.rises)
            else:
                ends = best is not None and path.is_hopeless(best, grows)
            if ends or (stage > 0 and 2**stage > largest):
                break
            self._train(path)

    def _train(self, path: _Path) -> None:
        """Train the models of a path by EM, or by the next stage of discriminative training, and score them."""
        stage = len(path.entries) - 1
        model = path.models[0]
        number = model.discriminative_iter if stage >= 0 else model.n_init * model.max_iter

        def run(iterations: Iterator[Any]) -> None:
            for _ in islice(iterations, number):
                pass

        self.workers.map(run, path.runs)
        entry = path.params | {"n_doublings": max(stage, 0), "strength": np.inf if stage < 0 else 0.0}
        path.entries.append(entry | self._score(path))
        self.entries.append(path.entries[-1])

    def _score(self, path: _Path) -> dict[str, float]:
        """The temperature that minimises the log-loss of all held-out samples, and their mean log posterior."""
        joint = np.full((len(self._codes), len(self.classes)), -np.inf)
        begin = 0
        for model, (_, X) in zip(path.models, self._data(path.params["scaling"]), strict=True):
            values = model._limited_joint(model._features(X))
            columns = np.searchsorted(self.classes, model.classes_)
            joint[begin : begin + len(values), columns] = values
            begin += len(values)
        # A class without training samples in a split is impossible there, up to the background.
        joint = joint.clip(min=np.finfo(float).min / 4)
        temperature = fitted_temperature(
            joint, self.log_prior, self._codes, self._weights, UNGUARDED_BACKGROUND
        )
        log_proba = tempered(joint, self.log_prior, temperature, UNGUARDED_BACKGROUND)
        true = log_proba[np.arange(len(joint)), self._codes]
        return {"temperature": temperature, "held_out": float(np.average(true, weights=self._weights))}

    def _data(self, scaling: str) -> list[tuple[Data, Any]]:
        """Training samples and held-out features of each split, scaled."""
        if scaling not in self._scaled:
            self._scaled[scaling] = pairs = []
            for train, test in self.splits:
                X = test.X
                if scaling == "quantile":
                    transform = quantiles_to_normal(len(train.y)).fit(train.X)
                    train, X = train._replace(X=transform.transform(train.X)), transform.transform(X)
                pairs.append((train, X))
        return self._scaled[scaling]
