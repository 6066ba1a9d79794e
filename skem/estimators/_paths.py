"""Choice of the parameters of discriminative training: models that are trained stage by stage, and compared on held-out samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, islice
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array

from skem.engine.masked import with_nan
from skem.engine.rows import Rows
from skem.engine.threads import Workers
from skem.estimators._calibration import fitted_temperature, tempered
from skem.estimators._callbacks import Progress
from skem.estimators._checking import check_features, distinct_samples
from skem.estimators._discriminative import UNGUARDED_BACKGROUND
from skem.estimators._held_out import Data, collecting, held_out_splits, none_fitted, quiet
from skem.estimators._options import nested
from skem.estimators._quantiles import STANDARDIZE, of_classifier, quantiles_to_normal
from skem.estimators._samples import TrainingSamples, training_samples

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

PER_COMPONENT = 4
"""Least samples per component on average; thrice as many are needed in EM."""


class Choice(NamedTuple):
    """The best model of a search, its parameters for the classifier and "scaling", the table of all models, and the checked samples."""

    best: dict[str, Any]
    params: dict[str, Any]
    entries: list[dict[str, Any]]
    data: Data


def choose(
    original: Any,
    data: Data,
    grid: Callable[[Any, Data], dict[str, list[Any]]],
    *,
    max_doublings: int,
    n_folds: Mapping[int, int],
    cv: Any = None,
    n_jobs: int | None = None,
    progress: Progress,
) -> Choice:
    """Choose parameters by the log-loss of held-out samples.

    ``original`` is a classifier with an int as ``random_state``. ``grid`` returns the candidates of each parameter, the initial one
    first, for a fitted classifier and the checked samples. See `held_out_splits` for ``n_folds``.
    """
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
            max_iter=1, n_init=1, discriminative_iter=iterations, n_components=1
        )
        first.fit(*data)
        data = Data.labelled(*data)
        if cv is None or isinstance(cv, Integral):  # others may be indices of all samples
            data = data.weighted()
        estimator.set_params(
            max_iter=original.max_iter if em_alone else min(original.max_iter, MAX_EM_ITERATIONS),
            discriminative_iter=ITERATIONS * iterations,
            batch_size=max(LEAST_BATCH, -(-len(data.y) // STEPS)),
            options=estimator.options | {"n_doublings": max_doublings, "learning_rate": LEARNING_RATE},
        )
        candidates = grid(first, data)
        if em_alone:
            del candidates["training_temperature"][1:]
        splits = held_out_splits(data, cv, original.random_state, n_folds)
        with Workers(n_jobs) as workers:
            search = Paths(estimator, splits, first, workers, progress)
            path = search.over(candidates)
    best = max(path.entries, key=lambda entry: entry["held_out"])
    params = {name: value for name, value in best.items() if name != "held_out"}
    params |= {"standardize": STANDARDIZE[best["scaling"]]}
    fixed = "max_iter", "tol", "early_stopping", "discriminative_iter", "batch_size", "random_state"
    params |= {name: getattr(estimator, name) for name in fixed}
    return Choice(best, nested(params, estimator.options), search.entries, data)


@dataclass
class Path:
    """Models of one configuration, one per split, and their scores: after EM, then after each stage."""

    params: dict[str, Any]
    models: list[Any]
    runs: list[Iterator[Any]]
    held_out: list[Rows] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)

    @property
    def score(self) -> float:
        return max(entry["held_out"] for entry in self.entries)

    @property
    def rises(self) -> bool:
        """True if the last stage has raised the score."""
        return self.entries[-1]["held_out"] > max(e["held_out"] for e in self.entries[:-1]) + LEAST_GAIN

    def is_hopeless(self, best: Path, grows: bool) -> bool:
        """True if the score after the last stage is far below that of the best path after the same stage."""
        stage = min(len(self.entries), len(best.entries)) - 1
        limit = HOPELESS_EM if stage == 0 else HOPELESS_GROWN if grows else HOPELESS
        return self.entries[-1]["held_out"] < limit * best.entries[stage]["held_out"]


class Paths:
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
        check = {"dtype": np.float64, "ensure_all_finite": False}
        X = np.concatenate([check_array(with_nan(test.X), **check) for _, test in splits])
        # A sample of weight two is two samples, and both are one piece of evidence for the temperature.
        self._weights *= len(distinct_samples(X[self._weights > 0])) / self._weights.sum()
        self._scaled: dict[str, list[tuple[Any, np.ndarray]]] = {}

    def over(self, grid: dict[str, list[Any]]) -> Path:
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

    def _path(self, params: dict[str, Any], best: Path | None, grows: bool) -> Path | None:
        """Models of a configuration, trained as far as they are promising; None if one cannot be fitted."""
        with self.progress.task("model", next(self._numbers)), collecting(self.errors):
            data = self._data(params["scaling"])
            options = self.estimator.options
            models = [clone(self.estimator).set_params(**of_classifier(params, options)) for _ in data]
            runs = [_run(model, train) for model, (train, _) in zip(models, data, strict=True)]
            path = Path(params, models, runs)
            self._train(path)
            self._follow(path, best, grows)
            return path
        return None

    def _follow(self, path: Path, best: Path | None, grows: bool) -> None:
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

    def _train(self, path: Path) -> None:
        """Train the models of a path by EM, or by the next stage of discriminative training, and score them."""
        stage = len(path.entries) - 1
        model = path.models[0]
        number = model.discriminative_iter if stage >= 0 else model.n_init * model.max_iter

        def run(iterations: Iterator[Any]) -> None:
            for _ in islice(iterations, number):
                pass

        self.workers.map(run, path.runs)
        if stage < 0:  # The units are those of all stages.
            data = zip(path.models, self._data(path.params["scaling"]), strict=True)
            path.held_out = [model._fitted.features(X, keep=True) for model, (_, X) in data]
        entry = path.params | {"n_doublings": max(stage, 0), "strength": np.inf if stage < 0 else 0.0}
        path.entries.append(entry | self._score(path))
        self.entries.append(path.entries[-1])

    @np.errstate(over="ignore")  # at a low temperature, of a class that is impossible in a split
    def _score(self, path: Path) -> dict[str, float]:
        """The temperature that minimises the log-loss of all held-out samples, and their mean log posterior."""
        joint = np.full((len(self._codes), len(self.classes)), -np.inf)
        begin = 0
        for model, features in zip(path.models, path.held_out, strict=True):
            values = model._limited_joint(features)
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

    def _data(self, scaling: str) -> list[tuple[Any, np.ndarray]]:
        """Checked training samples and held-out features of each split, scaled."""
        if scaling not in self._scaled:
            pairs = []
            for train, test in self.splits:
                X, X_test = train.X, test.X
                if scaling == "quantile":
                    transform = quantiles_to_normal(len(train.y)).fit(X)
                    X, X_test = transform.transform(X), transform.transform(X_test)
                model = clone(self.estimator)
                samples = training_samples(model, X, train.y, train.sample_weight, labelled=True)
                checked = check_features(model, X_test, missing=True, empty_rows=True, reset=False)
                pairs.append((samples, checked))
            self._scaled[scaling] = pairs
        return self._scaled[scaling]


def _run(model: Any, samples: TrainingSamples) -> Iterator[Any]:
    """Iterations of a model on checked samples."""
    return (yield from model._train(model._prepare(samples, None, None), Progress(), eager=True))
