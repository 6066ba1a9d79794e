"""Who trains, who chooses, who tests: the same rows for every method, whatever the order of jobs.

Every random choice has a seed of its own, derived from one root seed and the names of what it is for
through a fixed digest, so adding a data set, a method or a core changes no other number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skem.images import random_subset
from skem.repro.training.settings import drawn

Arrays = dict[str, NDArray[Any]]


def seed(root: int, *names: str | int) -> int:
    """A seed for one purpose: the first word of a SeedSequence keyed by ``names``.

    Parameters
    ----------
    root : int
        The root seed of the configuration.
    *names : str or int
        Data set, run, fold and what the seed is for. Not the method: all methods see the same splits.

    Returns
    -------
    int
        Between 0 and 2^32 - 1.
    """
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return int(np.random.SeedSequence([root, *words]).generate_state(1)[0])


@dataclass(frozen=True)
class Trial:
    """The rows of one fit.

    Attributes
    ----------
    run, fold : int
    rows : str
        "all": every training row of the paper; "part": those left once validation rows are set aside.
    X_train, y_train, X_validation, y_validation, X_test, y_test : ndarray
        The validation arrays have no rows where nothing is validated.
    """

    run: int
    fold: int
    rows: str
    X_train: NDArray[Any]
    y_train: NDArray[Any]
    X_validation: NDArray[Any]
    y_validation: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]

    def keys(self) -> dict[str, Any]:
        """What a row of the history says about its trial."""
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
    """Training and validation rows, stratified."""
    n_train = len(y) - round(fraction * len(y))
    if n_train == len(y):
        raise ValueError(
            f"features.{dataset}.validation_fraction = {fraction} leaves none of {len(y)} training rows to validate on"
        )
    return random_subset(y, n_train, random_state=seed(root, dataset, run, fold, "validation"), stratify=True)


def trials(
    dataset: str,
    spec: dict[str, Any],
    features: dict[str, Arrays],
    rows: list[str],
    runs: list[int],
    root: int,
) -> Iterator[Trial]:
    """All fits of some runs.

    Parameters
    ----------
    dataset : str
    spec : dict
        As for ``names``.
    features : dict
        From ``names`` to what ``prepare`` made of them.
    rows : list of {"all", "part"}
        Where each run draws its own training images, "part" is "all" with validation rows, and made once.
    runs : list of int
    root : int
        Root seed.

    Yields
    ------
    Trial
    """
    if spec["recipe"] == "table":
        yield from _table_trials(dataset, spec, features["table"], rows, runs, root)
        return
    for run in runs:
        files = {drawn(spec, run): "all"} if "n_train" in spec else {"all": "all", f"part{run}": "part"}
        for name, kind in files.items():
            if name in features and (kind in rows or "n_train" in spec):
                arrays = features[name]
                yield Trial(run, 0, kind, **arrays)


_FOLDS: dict[str, Callable[[int, int], Any]] = {
    "stratified": lambda n, seed: StratifiedKFold(n, shuffle=True, random_state=seed),
    "shuffled": lambda n, seed: KFold(n, shuffle=True, random_state=seed),
    # As the file has its rows, and so the same folds in every run.
    "contiguous": lambda n, seed: KFold(n),
}
_SCALERS: dict[str, Callable[[], Any]] = {
    "standard": StandardScaler,
    "range": lambda: MinMaxScaler((-1, 1)),
    # One score fewer than classes, with unit variance within a class.
    "discriminant": LinearDiscriminantAnalysis,
}


def _table_trials(
    dataset: str, spec: dict[str, Any], table: Arrays, rows: list[str], runs: list[int], root: int
) -> Iterator[Trial]:
    """Cross-validation: another assignment to folds for each run, unless the folds are contiguous."""
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
