"""``config/config.yaml`` with its overlays, as a typed object."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import prod
from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import AfterValidator, Field, NonNegativeInt, model_validator
from typing_extensions import TypedDict

from skem import datasets
from skem.repro.config.documents import ConfigurationError
from skem.repro.config.validation import Count, DataSetName, Distinct, Fraction, Strict, suggestion
from skem.repro.training.classifiers import entries

Baseline: TypeAlias = Literal[tuple(entries("baselines"))]  # type: ignore[valid-type]
Folds = Literal["stratified", "contiguous", "shuffled"]
Scale = Literal["none", "standard", "range"]
Dtype = Literal["float32", "float64"]
Runs = Annotated[int, Field(ge=0, le=10000)]


def _known(source: str) -> str:
    if source not in datasets.names():
        raise ValueError(f"is {source!r}; {suggestion(source, datasets.names())}")
    return source


Source = Annotated[str, AfterValidator(_known)]


class Table(TypedDict):
    source: Source
    recipe: Literal["table"]
    columns: NotRequired[Distinct[NonNegativeInt]]
    scale: Scale
    folds: Folds
    n_folds: Annotated[int, Field(ge=2)]
    validation_fraction: Fraction
    dtype: Dtype


class Images(TypedDict):
    """Features of images; ``redraw``: each run draws its own training images."""

    source: Source
    recipe: Literal["images"]
    deskew: bool
    half: bool
    standardize: Literal["global", "image"] | None
    move_test: NotRequired[bool]
    n_components: Count
    n_train: NotRequired[Count]
    n_validation: NotRequired[Count]
    validation_fraction: NotRequired[Fraction]
    dtype: Dtype
    redraw: NotRequired[bool]


def samples_trained(spec: Any, rows: str) -> int:
    """Fewest training samples: "all", or the "part" left once validation samples are set aside."""
    data = datasets.describe(spec["source"])
    n = data["shape"][0]
    n_train = n - -(-n // spec["n_folds"]) if "n_folds" in spec else spec.get("n_train", data["n_train"])
    return n_train - (round(spec.get("validation_fraction", 0) * n_train) if rows == "part" else 0)


def n_features(spec: Any) -> int:
    """Number of features that a recipe makes of its source."""
    if spec["recipe"] == "images":
        return spec["n_components"]
    return len(spec["columns"]) if "columns" in spec else datasets.describe(spec["source"])["shape"][1]


def _contradictions(spec: Any) -> Iterator[str]:
    source, data = spec["source"], datasets.describe(spec["source"])
    (n, *size), is_table = data["shape"], len(data["shape"]) == 2
    if is_table != (spec["recipe"] == "table"):
        yield f"recipe is {spec['recipe']!r}; {source} needs {'table' if is_table else 'images'!r}"
    elif is_table:
        most = n // data["n_classes"] if spec["folds"] == "stratified" else n
        if (last := max(spec.get("columns", [0]))) >= size[0]:
            yield f"columns names {last}; {source} has columns 0 to {size[0] - 1}"
        if spec["n_folds"] > most:
            yield f"n_folds is {spec['n_folds']}; {source} has samples for at most {most} folds"
    else:
        counts = spec.keys() & {"n_train", "n_validation"}
        wanted = sum(spec[key] for key in counts)
        if len(counts) == 1 or bool(counts) == ("validation_fraction" in spec):
            yield "either validation_fraction or both n_train and n_validation are needed"
        elif wanted > data["n_train"]:
            yield f"n_train and n_validation are {wanted} images; {source} has {data['n_train']}"
        if spec["deskew"] and len(size) > 2:
            yield f"deskew is True; {source} has colours, and only grey images are deskewed"
        most = min(prod(size) // (4 if spec["half"] else 1), samples_trained(spec, "part"))
        if spec["n_components"] > most:
            yield f"n_components is {spec['n_components']}; at most {most}: pixel values, or training images"


def _consistent(spec: Any) -> Any:
    if fault := next(_contradictions(spec), None):
        raise ValueError(fault)
    return spec


Features = Annotated[
    Annotated[Table, AfterValidator(_consistent)] | Annotated[Images, AfterValidator(_consistent)],
    Field(discriminator="recipe"),
]


class DataSet(Strict):
    """One data set of a run; ``config/config.yaml`` describes the keys."""

    runs: Runs
    runs_per_job: Count = 1
    candidate_runs: Runs | None = None
    validation_runs: Count | None = None
    baseline_runs: Runs = 0
    baseline_features: Count | None = None
    presets: list[Baseline] = Field(default_factory=list)
    features: Features

    @model_validator(mode="after")
    def _check(self) -> DataSet:
        if self.validation_runs and (self.features["recipe"] == "table" or "n_train" in self.features):
            raise ValueError(
                f"validation_runs is {self.validation_runs}; only images with a validation_fraction train a second time "
                "without their validation samples"
            )
        if (wanted := self.baseline_features or 0) > (n := n_features(self.features)):
            raise ValueError(f"baseline_features is {wanted}; there are {n} features")
        return self


TABLE = {
    "recipe": "table",
    "scale": "standard",
    "folds": "stratified",
    "n_folds": 5,
    "validation_fraction": 0.1,
    "dtype": "float64",
}
"""Recipe of the features of a table that the configuration says nothing about; such a table has five runs."""


def with_default_features(config: Mapping[str, Any], trained: Collection[str]) -> dict[str, Any]:
    """Add `TABLE` to the tables of the registry that experiments train on, where the configuration has no features."""
    entries = config.get("datasets")
    if not isinstance(entries, Mapping):
        return dict(config)
    found = dict(entries)
    for name in set(trained) & set(datasets.names()):
        own = found.get(name, {})
        try:
            is_table = len(datasets.shape(name)) == 2
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"data set {name}: {error}") from error
        if isinstance(own, Mapping) and "features" not in own and is_table:
            found[name] = {"runs": 5, **own, "features": {"source": name, **TABLE}}
    return {**config, "datasets": found}


class Baselines(Strict):
    """The scikit-learn baselines: their names, and limits to their samples."""

    names: Distinct[Baseline]
    preset_runs: dict[Baseline, Annotated[int, Field(ge=1, le=10000)]] = Field(default_factory=dict)
    max_rows: dict[Baseline, Count] = Field(default_factory=dict)
    select_rows: Annotated[int, Field(ge=10)]


class Timing(Strict):
    """Timed iterations."""

    iterations: Annotated[int, Field(ge=1, le=10000)]


class Config(Strict):
    """``config/config.yaml``, its overlays, and what ``--config`` gives."""

    seed: NonNegativeInt
    experiments: Distinct[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$", max_length=100)]]
    grids: Literal["all", "ends"]
    datasets: dict[DataSetName, DataSet]
    baselines: Baselines
    timing: Timing
    figure_columns: Literal[1, 2] | None = None
    papers: dict[str, dict[str, Any]] = Field(default_factory=dict)
    # Of one command each: regress, report, compare. An abbreviated commit can look like a number.
    base: str | int | None = None
    gate: Literal["accuracy", "timing"] | None = None
    undecided: Literal["allow"] | None = None
    of: Literal["reference"] | None = None
    table: str | None = None
    label: str | int | None = None
    drop: list[str] | None = None
    only: Distinct[str] | None = None
