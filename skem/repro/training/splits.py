"""Splits into training, validation and test samples: the same for every method, whatever the order of jobs.

Every random choice has its own seed, derived from one root seed and the names of its purpose
through a fixed digest, so adding a data set, a method or a core changes no other number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skem.images import random_subset
from skem.repro.training.feature_store import drawn

Arrays = dict[str, NDArray[Any]]


def seed(root: int, *names: str | int) -> int:
    """A seed for one purpose, below 2^32: the first word of a SeedSequence keyed by ``names``.

    These are the data set, the run, the fold and the purpose. Not the method: all methods have the same splits.
    """
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return int(np.random.SeedSequence([root, *words]).generate_state(1)[0])


@dataclass(frozen=True, eq=False)
class Trial:
    """Samples of one fit; ``rows`` is "all", or "part" if validation samples are taken from the training samples."""

    run: int
    fold: int
    rows: str
    X_train: NDArray[Any]
    y_train: NDArray[Any]
    X_validation: NDArray[Any]
    y_validation: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]

    def raise_if_unseen(self) -> None:
        """Refuse validation and test samples of classes without training samples."""
        others = np.concatenate([self.y_validation, self.y_test])
        if unseen := np.setdiff1d(others, self.y_train).tolist():
            raise ValueError(f"classes without training samples: {unseen}")

    def keys(self) -> dict[str, Any]:
        """Columns of a history that describe the trial."""
        return {
            "run": self.run,
            "fold": self.fold,
            "rows": self.rows,
            "n_train": len(self.y_train),
            "n_validation": len(self.y_validation),
            "n_test": len(self.y_test),
        }


def _hold_out(
    y: NDArray[Any], fraction: float, root: int, dataset: str, run: int, fold: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of training and validation samples, stratified."""
    n_train = len(y) - round(fraction * len(y))
    if n_train == len(y):
        raise ValueError(
            f"features.{dataset}.validation_fraction = {fraction} leaves none of {len(y)} training samples to validate on"
        )
    return random_subset(y, n_train, random_state=seed(root, dataset, run, fold, "validation"), stratify=True)


def trials(
    dataset: str,
    spec: dict[str, Any],
    features: dict[str, Arrays],
    rows: Sequence[str],
    runs: Sequence[int],
    root: int,
) -> Iterator[Trial]:
    """Yield all fits of some runs, from arrays by the names of `feature_store.names`.

    If each run draws its own training images, "part" is "all" with validation samples, and made once.
    """
    if spec["recipe"] == "table":
        yield from _table_trials(dataset, spec, features["table"], rows, runs, root)
        return
    for run in runs:
        kinds = {drawn(spec, run): "all"} if "n_train" in spec else {"all": "all", f"part{run}": "part"}
        for name, kind in kinds.items():
            if name in features and (kind in rows or "n_train" in spec):
                yield Trial(run, 0, kind, **features[name])


_FOLDS: dict[str, Callable[[int, int], Any]] = {
    "stratified": lambda n, seed: StratifiedKFold(n, shuffle=True, random_state=seed),
    "shuffled": lambda n, seed: KFold(n, shuffle=True, random_state=seed),
    # In the order of the file, and so the same in every run.
    "contiguous": lambda n, seed: KFold(n),
}
_SCALERS: dict[str, Callable[[], Any]] = {
    "standard": StandardScaler,
    "range": lambda: MinMaxScaler((-1, 1)),
    # One score fewer than classes, with unit variance within a class.
    "discriminant": LinearDiscriminantAnalysis,
}


def _table_trials(
    dataset: str,
    spec: dict[str, Any],
    table: Arrays,
    rows: Sequence[str],
    runs: Sequence[int],
    root: int,
) -> Iterator[Trial]:
    """Cross-validation, with other folds for each run unless they are contiguous."""
    X, y = table["X"], table["y"]
    for run in runs:
        folds = _FOLDS[spec["folds"]](spec["n_folds"], seed(root, dataset, run, "folds"))
        for fold, (inside, test) in enumerate(folds.split(X, y)):
            for kind in rows:
                train, validation = inside, inside[:0]
                if kind == "part":
                    kept, held = _hold_out(y[inside], spec["validation_fraction"], root, dataset, run, fold)
                    train, validation = inside[kept], inside[held]
                parts = [X[train], X[validation], X[test]]
                if spec["scale"] != "none":
                    scaler = _SCALERS[spec["scale"]]().fit(parts[0], y[train])
                    parts = [scaler.transform(part) if len(part) else part for part in parts]
                yield Trial(run, fold, kind, parts[0], y[train], parts[1], y[validation], parts[2], y[test])


def view(trial: Trial, n_features: int, n_blocks: int, features: dict[str, Any], random_state: int) -> Trial:
    """A trial with its first ``n_features`` features, recombined if ``features`` asks so.

    ``recombine``: samples of one class exchange their blocks at random, each part among itself, which makes
    the ``n_blocks`` sequential blocks independent given the class and changes no block's distribution.
    """
    X = {part: getattr(trial, f"X_{part}")[:, :n_features] for part in ("train", "validation", "test")}
    if features.get("recombine"):
        rng = np.random.default_rng(random_state)
        X = {part: _recombined(a, getattr(trial, f"y_{part}"), n_blocks, rng) for part, a in X.items()}
    return replace(trial, **{f"X_{part}": a for part, a in X.items()})


def _recombined(X: NDArray[Any], y: NDArray[Any], n_blocks: int, rng: np.random.Generator) -> NDArray[Any]:
    mixed = X.copy()
    for columns in np.array_split(np.arange(X.shape[1]), n_blocks):
        for label in np.unique(y):
            rows = np.flatnonzero(y == label)
            mixed[np.ix_(rows, columns)] = X[np.ix_(rng.permutation(rows), columns)]
    return mixed
