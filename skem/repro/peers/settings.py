"""Schema of ``config/peers.yaml``."""

from __future__ import annotations

from collections.abc import Collection
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from skem.repro.config.documents import read_mapping, refuse
from skem.repro.config.validation import Count, Distinct, Strict, parsed, unknown

# Names of `skem.repro.peers.engines.ENGINES`, which takes long to import.
Engine = Literal[
    "skem", "skem, diag", "scikit-learn", "oneDAL", "Armadillo", "Armadillo, diag", "mlpack", "mclust"
]
Part = Annotated[str, Field(pattern="^[A-Za-z0-9]+$", max_length=100)]  # of a path


class Size(TypedDict):
    """Samples, features and components."""

    N: Count
    m: Count
    K: Count
    clusters: NotRequired[Count]
    threads: NotRequired[Distinct[Count]]


class Rounds(TypedDict):
    """Rounds, and iterations of a short and a long fit."""

    rounds: Count
    iterations: Annotated[Distinct[Count], Field(min_length=2, max_length=2)]


class Group(Rounds):
    """Engines that take turns."""

    engines: Distinct[Engine]
    instructions: NotRequired[Distinct[str]]
    sizes: NotRequired[Distinct[str]]


class Scaling(Rounds):
    """One of N, m and K varies, the others are those of the base."""

    engines: Distinct[Engine]
    base: Size
    N: Distinct[Count]
    m: Distinct[Count]
    K: Distinct[Count]


class Supervised(Rounds):
    """Models of Table 1, and their first feature blocks beside an engine."""

    data_sets: Distinct[str]
    init: Distinct[Literal["uniform", "sample", "kmeans", "class", "class_kmeans"]]
    engine: Engine


class Peers(Strict):
    """``config/peers.yaml``."""

    sizes: Annotated[dict[Part, Size], Field(min_length=1)]
    threads: Distinct[Count]
    instructions: Annotated[dict[Part, dict[str, str]], Field(min_length=1)]
    groups: Annotated[list[Group], Field(min_length=1)]
    scaling: Scaling
    supervised: Supervised


def read(path: str | Path, data_sets: Collection[str]) -> dict[str, Any]:
    """Read and check the settings; ``data_sets`` are those of the configuration."""
    settings = read_mapping(path)
    parsed(Peers, settings, [path])
    faults = unknown(settings["supervised"]["data_sets"], data_sets, f"{path}: supervised.data_sets")
    for key, group in product(("sizes", "instructions"), settings["groups"]):
        faults += unknown(group.get(key, []), settings[key], f"{path}: groups")
    refuse(faults)
    return settings
