"""Features in files: which trials read which, and which file has them."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from skem.repro.files import read_arrays, write_arrays
from skem.repro.training.settings import drawn

TOGETHER = 4
"""Runs whose training rows overlap, and whose features are made by one job: what they share takes most of the time."""


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
        images and validates on some of the others, "fixed" where all runs have those of the first; else "all", one for all runs, and "part<r>".
    """
    if spec["recipe"] == "table":
        return ["table"]
    if "n_train" in spec:
        return [drawn(spec, run) for run in runs] if spec.get("redraw", True) else [drawn(spec, 0)]
    return ["all"] * ("all" in rows) + [f"part{run}" for run in runs if "part" in rows]


def file_of(name: str, size: int, n_runs: int) -> str:
    """The name of the file that holds these features: with those of ``size`` runs, of the ``n_runs`` there usually are.

    With those of `TOGETHER` runs at least, where runs differ only in the rows left out.
    """
    kind = name.rstrip("0123456789")
    if kind == name:
        return name
    run = int(name.removeprefix(kind))
    if kind == "part":
        size = max(size, TOGETHER)
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


def write(path: str | PathLike[str], features: dict[str, dict[str, NDArray[Any]]]) -> None:
    """Write features by name; a file without any where there are no data."""
    arrays = {f"{name}/{key}": a for name, found in features.items() for key, a in found.items()}
    write_arrays(path, arrays)


def read(
    paths: Iterable[str | PathLike[str]], spec: dict[str, Any], rows: list[str], runs: list[int]
) -> dict[str, dict[str, NDArray[Any]]]:
    """The features that trials of these runs read, by name, from files with those of other runs beside them.

    Empty where there are no data.
    """
    wanted = names(spec, rows, runs)
    features: dict[str, dict[str, NDArray[Any]]] = {}
    for path in paths:
        arrays = read_arrays(path, [f"{name}/" for name in wanted])
        for key, array in arrays.items():
            name, part = key.split("/")
            features.setdefault(name, {})[part] = array
    return features
