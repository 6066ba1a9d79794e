"""The settings of ``config/peers.yaml``."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from skem.repro.config.documents import read_mapping, refuse
from skem.repro.config.validation import Count, Distinct, Strict, parsed, unknown

Engine = Literal[
    "skem", "skem, diag", "scikit-learn", "oneDAL", "Armadillo", "Armadillo, diag", "mlpack", "mclust"
]
_Passes = Annotated[list[Count], Field(min_length=2, max_length=2)]
_Kernels = Distinct[Literal["default", "AVX2"]]


class Size(TypedDict):
    """Samples, features and components."""

    N: Count
    m: Count
    K: Count
    clusters: NotRequired[Count]
    threads: NotRequired[Distinct[Count]]


class Group(TypedDict):
    """Engines that take turns."""

    engines: Distinct[Engine]
    rounds: Count
    passes: _Passes
    kernels: NotRequired[_Kernels]
    sizes: NotRequired[Distinct[str]]


class Scaling(TypedDict):
    """One of N, m and K at a time."""

    engines: Distinct[Engine]
    rounds: Count
    passes: _Passes
    N: Distinct[Count]
    m: Distinct[Count]
    K: Distinct[Count]


class Supervised(TypedDict):
    """The models of Table 1."""

    data_sets: list[str]
    rounds: Count
    passes: Count


class Beside(TypedDict):
    """One block of such models, beside an engine without classes."""

    data_sets: Distinct[str]
    starts: Annotated[
        list[Literal["uniform", "sample", "kmeans", "class", "class_kmeans"]], Field(min_length=1)
    ]
    engine: Engine
    rounds: Count
    passes: _Passes


# "scaling", "supervised" and "beside" are files beside those of the sizes.
_SizeName = Annotated[str, Field(pattern="^[A-Za-z0-9]+$", max_length=100)]


class Peers(Strict):
    """``config/peers.yaml``."""

    sizes: Annotated[dict[_SizeName, Size], Field(min_length=1)]
    threads: Distinct[Count]
    kernels: _Kernels
    groups: Annotated[list[Group], Field(min_length=1)]
    scaling: Scaling
    supervised: Supervised
    beside: Beside


def read(path: str | Path, data_sets: Collection[str]) -> dict[str, Any]:
    """Read and check the settings; ``data_sets`` are those of the configuration.

    Raises
    ------
    ConfigurationError
    """
    settings = read_mapping(path)
    parsed(Peers, settings, [path])
    faults: list[str] = []
    for key in ("supervised", "beside"):
        faults += unknown(settings[key]["data_sets"], data_sets, f"{path}: {key}.data_sets")
    refuse(faults)
    return settings
