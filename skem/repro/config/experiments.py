"""``config/experiments/*.yaml``: data sets, and models with their settings, written out or as grids."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, NonNegativeFloat, PositiveFloat
from typing_extensions import TypedDict

from skem.repro.config.documents import read_mapping
from skem.repro.config.models import Folds, Scale
from skem.repro.config.validation import Count, Distinct, Name, Strict, Text, parsed
from skem.repro.training.classifiers import entries

MODELS = entries("shared_kernel")
"""Models trained in iterations."""

MaxIter = Annotated[int, Field(ge=1, le=1_000_000)]
Rows = Distinct[Literal["all", "part"]]


class Params(TypedDict, total=False):
    """Parameters whose values are checked before any job; `expansion` checks the names of all."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)  # type: ignore[misc]

    n_components: Count
    n_blocks: Count
    arrangement: Literal["sequential", "interleaved", "random"]
    covariance_type: Literal["full", "tied", "diag", "spherical"]
    init_params: Literal["uniform", "sample", "kmeans", "class", "class_kmeans"]
    init_spread: NonNegativeFloat
    init_scale: PositiveFloat
    sharing: Annotated[float, Field(ge=0, le=1)]
    standardize: bool
    reg_covar: NonNegativeFloat
    priors: Literal["uniform", "empirical"]
    tol: NonNegativeFloat


class OwnFeatures(TypedDict, total=False):
    """Differences from the features of the configuration."""

    folds: Folds
    scale: Scale
    recombine: bool


class Grid(TypedDict):
    """Lists whose every combination is a setting; ``max_iter`` and ``runs`` of partitions."""

    partition: Distinct[Annotated[str, Field(pattern="^[1-9][0-9]{0,5}x[1-9][0-9]{0,5}$")]]
    n_components: NotRequired[Distinct[Count]]
    reg_covar: NotRequired[Distinct[NonNegativeFloat]]
    folds: NotRequired[Distinct[Folds]]
    scale: NotRequired[Distinct[Scale]]
    rows: Rows
    max_iter: NotRequired[dict[str, MaxIter]]
    runs: NotRequired[dict[str, Count]]


class WrittenOut(TypedDict):
    n_features: Count
    params: Params
    rows: Rows
    runs: NotRequired[Count]


class Candidates(TypedDict):
    """Values of ``reg_covar`` beside a method's own: further candidates of nested at each written-out setting."""

    reg_covar: Distinct[NonNegativeFloat]


class Method(TypedDict):
    model: Literal[tuple(MODELS | entries("baselines"))]  # type: ignore[valid-type]
    params: Params
    features: NotRequired[OwnFeatures]
    max_iter: NotRequired[MaxIter]
    runs: NotRequired[Count]
    grid: NotRequired[Grid]
    settings: NotRequired[Annotated[dict[Name, WrittenOut], Field(min_length=1)]]
    candidates: NotRequired[Candidates]


class InPaper(TypedDict):
    """The paper's numbers for a data set: ids of claims. ``chosen_on_test`` are settings that it chose by test accuracy."""

    setting: Name
    chosen_on_test: Distinct[Name]
    accuracy: str
    seconds_per_pass: str
    best: str
    best_method: str


class Entry(TypedDict):
    max_iter: NotRequired[MaxIter]
    paper: NotRequired[InPaper]
    methods: Annotated[dict[Name, Method], Field(min_length=1)]


class Experiment(Strict):
    """``config/experiments/<name>.yaml``; ``params`` only holds YAML anchors."""

    title: Text
    params: Params | None = None
    data_sets: Annotated[dict[str, Entry], Field(min_length=1)]


def read(name: str, folder: str | Path) -> dict[str, Any]:
    """Read and check the file of an experiment; `ConfigurationError` if it is missing or has faults."""
    path = Path(folder) / f"{name}.yaml"
    document = read_mapping(path)
    parsed(Experiment, document, [path])
    return document
