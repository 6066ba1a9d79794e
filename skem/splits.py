"""Who trains, who chooses, who tests: the same rows for every method, whatever the order of jobs.

Every random choice has a seed of its own, derived from one root seed and the names of what it is for
through a fixed digest, so adding a data set, a method or a core changes no other number.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import FastICA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skem import datasets
from skem.files import read_arrays, write_arrays
from skem.images import move, pca_recipe, random_subset

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


def names(spec: dict[str, Any], rows: list[str], runs: list[int]) -> list[str]:
    """The features that trials of these runs read.

    Parameters
    ----------
    spec : dict
        The data set's entry under ``features`` in the configuration.
    rows : list of {"all", "part"}
    runs : list of int

    Returns
    -------
    list of str
        "table" for tables (folds are made when training); "run<r>" where each run draws its own training
        images and validates on some of the others; else "all", one for all runs, and "part<r>".
    """
    if spec["recipe"] == "table":
        return ["table"]
    if "n_train" in spec:
        return [f"run{run}" for run in runs]
    return ["all"] * ("all" in rows) + [f"part{run}" for run in runs if "part" in rows]


def file_of(name: str, size: int, n_runs: int) -> str:
    """The name of the file that holds these features: with those of ``size`` runs, of the ``n_runs`` there usually are."""
    kind = name.rstrip("0123456789")
    if kind == name:
        return name
    run = int(name.removeprefix(kind))
    first = run - run % size
    stop = min(first + size, n_runs) if run < n_runs else first + size
    return f"{kind}{first}-{stop - 1}"


def names_in(file: str) -> list[str]:
    """The features that a file of this name holds."""
    kind = file.rstrip("0123456789-")
    if kind == file:
        return [file]
    return [f"{kind}{run}" for run in runs_of(file.removeprefix(kind))]


def runs_of(block: str) -> list[int]:
    """The runs of a block, from its name, "first-last"."""
    first, last = map(int, block.split("-"))
    return list(range(first, last + 1))


def write(path: str | PathLike[str], features: dict[str, Arrays]) -> None:
    """Write features by name; a file without any where there are no data."""
    arrays = {f"{name}/{key}": a for name, found in features.items() for key, a in found.items()}
    write_arrays(path, arrays)


def read(
    paths: Iterable[str | PathLike[str]], spec: dict[str, Any], rows: list[str], runs: list[int]
) -> dict[str, Arrays]:
    """The features that trials of these runs read, by name, from files with those of other runs beside them.

    Empty where there are no data.
    """
    wanted = names(spec, rows, runs)
    features: dict[str, Arrays] = {}
    for path in paths:
        arrays = read_arrays(path, [f"{name}/" for name in wanted])
        for key, array in arrays.items():
            name, part = key.split("/")
            features.setdefault(name, {})[part] = array
    return features


def prepare(dataset: str, spec: dict[str, Any], name: str, root: int) -> Arrays:
    """The features of one of ``names``: learned from its training rows alone.

    Parameters
    ----------
    dataset : str
        What the splits are keyed by.
    spec : dict
        As for ``names``.
    name : str
        One of ``names``.
    root : int
        Root seed.

    Returns
    -------
    dict of ndarray
        X and y for a table, else X_train, y_train, X_validation, y_validation, X_test, y_test.

    Raises
    ------
    ValueError
        If the configuration asks for more rows, columns or components than there are.
    datasets.DatasetNotAvailable
        If no source has the data.
    """
    data = datasets.load(spec["source"])
    dtype = np.dtype(spec["dtype"])
    if spec["recipe"] == "table":
        X = data.data.astype(dtype)
        columns = spec.get("columns")
        if columns is not None:
            if max(columns) >= X.shape[1]:
                raise ValueError(
                    f"features.{dataset}.columns names column {max(columns)}, "
                    f"{spec['source']} has {X.shape[1]} (0 to {X.shape[1] - 1})"
                )
            X = X[:, columns]
        return {"X": X, "y": data.target}

    X, y = data.train
    X_test, y_test = data.test
    if "n_train" in spec:
        run = int(name.removeprefix("run"))
        wanted = spec["n_train"] + spec["n_validation"]
        if wanted > len(y):
            raise ValueError(
                f"features.{dataset}: n_train + n_validation = {wanted}, {spec['source']} has {len(y)} training rows"
            )
        train, rest = random_subset(
            y, spec["n_train"], random_state=seed(root, dataset, run, "training images")
        )
        chosen, _ = random_subset(
            y[rest], spec["n_validation"], random_state=seed(root, dataset, run, "validation")
        )
        validation = rest[chosen]
    elif name == "all":
        train, validation = np.arange(len(y)), np.arange(0)
    else:
        train, validation = _hold_out(
            y, spec["validation_fraction"], root, dataset, int(name.removeprefix("part")), 0
        )
    if spec["n_components"] > np.prod(X.shape[1:]):
        raise ValueError(
            f"features.{dataset}.n_components is {spec['n_components']}, an image has {np.prod(X.shape[1:])} values"
        )
    recipe = pca_recipe(
        spec["n_components"], deskew=spec["deskew"], half=spec["half"], standardize=spec["standardize"]
    )
    arrays = {"X_train": recipe.fit_transform(X[train]), "y_train": y[train]}
    if spec.get("move_test"):
        X_test = move(X_test, seed(root, dataset, name, "movement"))
    parts = {"validation": (X[validation], y[validation]), "test": (X_test, y_test)}
    for part, (images, labels) in parts.items():
        features = recipe.transform(images) if len(images) else np.empty((0, spec["n_components"]))
        arrays |= {f"X_{part}": features, f"y_{part}": labels}
    return {key: a.astype(dtype) if key.startswith("X") else a for key, a in arrays.items()}


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
        files = {f"run{run}": "all"} if "n_train" in spec else {"all": "all", f"part{run}": "part"}
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


def view(trial: Trial, n_features: int, n_blocks: int, features: dict[str, Any], random_state: int) -> Trial:
    """A trial with its first ``n_features`` features, rotated or recombined where that is asked for.

    Parameters
    ----------
    trial : Trial
    n_features : int
    n_blocks : int
        Of sequential blocks, for "recombine".
    features : dict
        rotate: "whiten" or "ica", learned from the training rows: principal or independent components, all of
        unit variance. recombine: rows of one class exchange their blocks at random, each part among itself,
        which makes blocks independent given the class and changes no block's distribution.
    random_state : int

    Raises
    ------
    ValueError
        If there are fewer features than asked for.
    """
    if n_features > trial.X_train.shape[1]:
        raise ValueError(f"n_features={n_features}, but there are {trial.X_train.shape[1]} features")
    X = {part: getattr(trial, f"X_{part}")[:, :n_features] for part in ("train", "validation", "test")}
    if "rotate" in features:
        X = _rotated(X, features["rotate"], random_state)
    if features.get("recombine"):
        rng = np.random.default_rng(random_state)
        X = {part: _recombined(a, getattr(trial, f"y_{part}"), n_blocks, rng) for part, a in X.items()}
    return replace(trial, **{f"X_{part}": a for part, a in X.items()})


def _rotated(X: Arrays, how: str, random_state: int) -> Arrays:
    if how == "whiten":
        # The features are principal components already: uncorrelated, by falling variance.
        scaler = StandardScaler().fit(X["train"])
    else:
        scaler = FastICA(
            whiten="unit-variance", whiten_solver="eigh", max_iter=500, tol=1e-3, random_state=random_state
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            scaler.fit(X["train"].astype(np.float64))
    return {part: scaler.transform(a).astype(a.dtype) if len(a) else a for part, a in X.items()}


def _recombined(X: NDArray[Any], y: NDArray[Any], n_blocks: int, rng: np.random.Generator) -> NDArray[Any]:
    mixed = X.copy()
    for columns in np.array_split(np.arange(X.shape[1]), n_blocks):
        for label in np.unique(y):
            rows = np.flatnonzero(y == label)
            mixed[np.ix_(rows, columns)] = X[np.ix_(rng.permutation(rows), columns)]
    return mixed
