"""Registry of classifiers: the models and baselines of Table 1 and of the classifier comparison.

A family is a module of this package, and its ``ENTRIES`` are classifiers by name. Code hashes do not follow `find`: a rule
has `skem.repro.code_hash.code_of_classifiers` among its ``params``, so that an entry concerns only the jobs that train it.
"""

from __future__ import annotations

import ast
import pkgutil
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skem.estimators._options import DISCRIMINATIVE, SHARED_KERNEL, nested
from skem.metrics import expected_calibration_error, scores

TABLES = ("tables", "test", "categories")
"""Parts of the comparison on tables; the first are the development tables."""


@dataclass(frozen=True)
class Classifier:
    """Entry of the registry. It names the estimator as "module:class", and imports nothing."""

    estimator: str
    title: str = field(default="", repr=False)
    # None: the estimator standardises by parameters of its own. Otherwise, true if a `StandardScaler` precedes it.
    standardize: bool | None = None
    params: Mapping[str, Any] = field(default_factory=dict)  # other than the estimator's defaults
    grid: Sequence[Mapping[str, Any]] = ()  # to choose from, the default first
    narrow: float | None = None  # multiple of 1/M that ``gamma`` also takes on small tables
    trees: Sequence[int] = ()  # numbers of leading trees that a fitted forest is reported for
    # Parameters in the comparison on tables, which leaves out an entry without them. Its jobs have them as params.
    comparison: Mapping[str, Any] | None = field(default=None, repr=False)
    tables: Sequence[str] = field(default=TABLES, repr=False)  # parts of the comparison

    def load(self) -> Any:
        """Import the class of the estimator."""
        return pkgutil.resolve_name(self.estimator)

    @property
    def is_installed(self) -> bool:
        """True if the package of the estimator, or of the one that a search varies, is there."""
        estimator = self.params.get("estimator", self.estimator)
        return find_spec(re.split("[.:]", estimator)[0]) is not None

    def build(self, **params: Any) -> Any:
        """The estimator with these parameters; names of rarely needed ones go into its ``options``."""
        estimator = self.load()
        return estimator(**(nested(params) if hasattr(estimator, "_OPTIONS") else params))

    def parameters(self) -> dict[str, str]:
        """Parameters of the estimator, and their annotations; instead of ``options``, its names."""
        return _parameters(*self.estimator.split(":"))

    def points(self, n_features: int | None = None) -> list[dict[str, Any]]:
        """Copies of the points of the grid; those for a small table if its number of features is given."""
        points = [dict(point) for point in self.grid]
        if self.narrow and n_features:
            gammas = ("scale", self.narrow / n_features)
            points = [{**point, "gamma": gamma} for gamma in gammas for point in points]
        return points


@cache
def _parameters(module: str, name: str) -> dict[str, str]:
    """Read a signature from the source: importing the library takes a second or two."""
    tree = ast.parse(Path(str(find_spec(module).origin)).read_text(encoding="utf-8"))  # type: ignore[union-attr]
    (cls,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    inits = [node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    if not inits:  # of the first base
        base = ast.unparse(cls.bases[0])
        imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
        (source,) = (node.module for node in imports if base in [alias.name for alias in node.names])
        return _parameters(str(source), base)
    args = inits[0].args
    found = {a.arg: ast.unparse(a.annotation) for a in [*args.args[1:], *args.kwonlyargs] if a.annotation}
    if "options" in found:
        rare = DISCRIMINATIVE if "discriminative_iter" in found else SHARED_KERNEL
        found = {**dict.fromkeys(rare, "float | None"), **found}
    return found


def entries(*families: str) -> dict[str, Classifier]:
    """Entries of some families by name, or of all, the models first."""
    found: dict[str, Classifier] = {}
    for family in families or sorted(
        (module.name for module in pkgutil.iter_modules(__path__)), reverse=True
    ):
        found |= pkgutil.resolve_name(f"{__name__}.{family}:ENTRIES")
    return found


def find(name: str) -> Classifier:
    """Look up an entry."""
    if name not in (known := entries()):
        raise ValueError(f"no classifier {name!r}; there are {', '.join(known)}")
    return known[name]


def make(name: str, *, random_state: int | None = None, **params: Any) -> Any:
    """Build the unfitted classifier of an entry.

    ``params`` replace those of the entry; ``standardize`` may be among them. A list, as a YAML file has it, becomes the tuple
    that scikit-learn requires. ``random_state`` is for estimators that have such a parameter.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    entry = find(name)
    params = {**entry.params, **params}
    standardize = entry.standardize is not None and params.pop("standardize", entry.standardize)
    params = {key: tuple(value) if isinstance(value, list) else value for key, value in params.items()}
    estimator = entry.build(**params)
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


def decide(estimator: Any, X: ArrayLike) -> tuple[NDArray[np.int16], NDArray[np.float64] | None]:
    """Predicted classes, as positions in ``classes_``, and `log_proba`."""
    posterior = log_proba(estimator, X)
    if posterior is None:
        return np.searchsorted(estimator.classes_, estimator.predict(X)).astype(np.int16), None
    return posterior.argmax(axis=1).astype(np.int16), posterior


def evaluate(
    codes: NDArray[Any], predicted: NDArray[Any], posterior: NDArray[Any] | None
) -> dict[str, float]:
    """Score the results of `decide` against true classes, as positions in ``classes_``.

    Without probabilities, as for an SVM, all but the accuracy is NaN: probabilities fitted afterwards would be the
    calibrator's, not the classifier's.
    """
    if posterior is None:
        accuracy = float(np.mean(predicted == codes))
        return {"accuracy": accuracy} | dict.fromkeys(("log_loss", "brier", "ece"), np.nan)
    return scores(codes, posterior) | {"ece": expected_calibration_error(codes, posterior)}
