"""Features in files: which trials read which, and which file has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from skem.repro.files import read_arrays, write_arrays

TOGETHER = 4
"""Fewest runs per file where runs share most training samples: the shared part takes most of the time."""


def drawn(spec: dict[str, Any], run: int) -> str:
    """Name of the features whose training images a run has drawn: "fixed" where all runs have those of the first."""
    return f"run{run}" if spec.get("redraw", True) else "fixed"


def names(spec: dict[str, Any], rows: Sequence[str], runs: Sequence[int]) -> list[str]:
    """Name the features that trials read.

    They are "table" for tables (folds are made when training), and `drawn` where each run draws training and validation
    images. Otherwise "all", one for all runs, and "part<r>", with validation images held out.
    """
    if spec["recipe"] == "table":
        return ["table"]
    if "n_train" in spec:
        return list(dict.fromkeys(drawn(spec, run) for run in runs))
    return ["all"] * ("all" in rows) + [f"part{run}" for run in runs if "part" in rows]


def file_of(name: str, size: int, n_runs: int, n_parts: int = 0) -> str:
    """Name the file that holds some features: those of ``size`` runs, of the usual ``n_runs`` or of later ones.

    ``n_parts`` is the number of runs with "part" if there are fewer: one file has them and "all".
    """
    kind = name.rstrip("0123456789")
    if 0 < n_parts < TOGETHER and kind in ("all", "part"):
        return f"all-part0-{n_parts - 1}"
    if kind == name:
        return name
    run = int(name.removeprefix(kind))
    if kind == "part":
        size, n_runs = max(size, TOGETHER), n_parts or n_runs
    first = run - run % size
    stop = min(first + size, n_runs) if run < n_runs else first + size
    return f"{kind}{first}-{stop - 1}"


def names_in(file: str) -> list[str]:
    """Name the features that a file holds."""
    if file.startswith("all-"):
        return ["all", *names_in(file.removeprefix("all-"))]
    kind = file.rstrip("0123456789-")
    return [file] if kind == file else [f"{kind}{run}" for run in runs_of(file.removeprefix(kind))]


def runs_of(block: str) -> list[int]:
    """List the runs of a batch, from its name, "first-last"."""
    first, last = map(int, block.split("-"))
    return list(range(first, last + 1))


def write(path: str | PathLike[str], features: dict[str, dict[str, NDArray[Any]]]) -> None:
    """Write features by name; a file without arrays if the data are unavailable."""
    write_arrays(path, {f"{name}/{key}": a for name, arrays in features.items() for key, a in arrays.items()})


def read(
    paths: Iterable[str | PathLike[str]], spec: dict[str, Any], rows: Sequence[str], runs: Sequence[int]
) -> dict[str, dict[str, NDArray[Any]]]:
    """Read the features of `names` from files; empty if the data are unavailable."""
    features: dict[str, dict[str, NDArray[Any]]] = {}
    for path in paths:
        for key, array in read_arrays(path, [f"{name}/" for name in names(spec, rows, runs)]).items():
            name, part = key.split("/")
            features.setdefault(name, {})[part] = array
    return features
