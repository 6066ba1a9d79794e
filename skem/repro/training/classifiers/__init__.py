"""Registry of classifiers: the models and baselines of Table 1, and those of the classifier comparison.

A family is a module of this package, and its ``ENTRIES`` are classifiers by name. Code hashes do not follow `find`: a rule
has `skem.repro.code_hash.code_of_classifiers` among its ``params``, so that an entry concerns only the jobs that train it.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

OURS = "skem."
"""Prefix of the names of estimators of this library, which need no entry: "skem.PSKEMClassifier"."""


@dataclass(frozen=True)
class Classifier:
    """Entry of the registry. It names the estimator as "module:class", and imports nothing."""

    estimator: str
    title: str = ""
    # None: the estimator standardises by parameters of its own. Otherwise, true if a `StandardScaler` precedes it.
    standardize: bool | None = None
    params: Mapping[str, Any] = field(default_factory=dict)  # other than the estimator's defaults
    grid: Sequence[Mapping[str, Any]] = ()  # to choose from, the default first
    narrow: float | None = None  # multiple of 1/M that ``gamma`` also takes on small tables
    trees: Sequence[int] = ()  # numbers of leading trees that a fitted forest is reported for
    lacks: Sequence[str] = ()  # parameters of other models that this one does not have

    def load(self) -> Any:
        """Import the class of the estimator."""
        return pkgutil.resolve_name(self.estimator)

    def points(self, n_features: int | None = None) -> list[dict[str, Any]]:
        """Copies of the points of the grid; those for a small table if its number of features is given."""
        points = [dict(point) for point in self.grid]
        if self.narrow and n_features:
            gammas = ("scale", self.narrow / n_features)
            points = [{**point, "gamma": gamma} for gamma in gammas for point in points]
        return points


def entries(*families: str) -> dict[str, Classifier]:
    """Entries of some families by name, or of all."""
    found: dict[str, Classifier] = {}
    for family in families or sorted(module.name for module in pkgutil.iter_modules(__path__)):
        found |= pkgutil.resolve_name(f"{__name__}.{family}:ENTRIES")
    return found


def find(name: str) -> Classifier:
    """Look up an entry, or an estimator of this library."""
    if name.startswith(OURS):
        return Classifier(f"skem:{name.removeprefix(OURS)}")
    if name not in (known := entries()):
        raise ValueError(f"no classifier {name!r}; there are {', '.join(known)}")
    return known[name]


def make(name: str, *, random_state: int | None = None, **params: Any) -> Any:
    """Build the unfitted classifier that `find` knows by a name.

    ``params`` replace those of the entry; ``standardize`` may be among them. A list, as a YAML file has it, becomes the tuple
    that scikit-learn requires. ``random_state`` is for estimators that have such a parameter.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    entry = find(name)
    params = {**entry.params, **params}
    standardize = entry.standardize is not None and params.pop("standardize", entry.standardize)
    params = {key: tuple(value) if isinstance(value, list) else value for key, value in params.items()}
    estimator = entry.load()(**params)
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=random_state)
    return make_pipeline(StandardScaler(), estimator) if standardize else estimator


def log_proba(estimator: Any, X: ArrayLike) -> NDArray[np.float64] | None:
    """Log posterior in nats, shape (n, L), -inf for an exact zero; None without ``predict_proba``."""
    if not hasattr(estimator, "predict_proba"):
        return None
    with np.errstate(divide="ignore"):
        if hasattr(estimator, "predict_log_proba"):
            return estimator.predict_log_proba(X)
        return np.log(estimator.predict_proba(X))
