"""``config/comparison.yaml``, checked before any job, and the jobs that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from skem.repro.config.documents import read_mapping, refuse
from skem.repro.config.models import Source
from skem.repro.config.validation import Count, DataSetName, Distinct, Strict, Text, parsed, unknown
from skem.repro.training.classifiers import TABLES, entries

SCORES = {
    "density": "log p(x)",
    "density_after": "log p(x) after discriminative training",
    "certainty": "largest p(c\\|x)",
    "margin": "margin",
}
"""Titles of the scores of outliers."""

SHARED = ("runs", "n_folds", "max_rows", "test_fraction", "n_features")
"""Keys of a part, or of a data set, that concern the jobs of all its methods."""

Part = Literal["images", "tables", "test", "categories", "outliers", "left_out"]
"""Parts of the comparison."""

Model: TypeAlias = Literal[tuple(entries())]  # type: ignore[valid-type]
Score: TypeAlias = Literal[tuple(SCORES)]  # type: ignore[valid-type]


Notes: TypeAlias = Annotated[list[Text], Field(min_length=1)]
"""How something was measured, in paragraphs of one subject each; the first one is what a reader has to know."""


class Blocks(TypedDict):
    """Blocks drawn at random beside one per window; probabilities grow with a power of the standard deviation."""

    n_blocks: Count
    block_size: Count
    power: Annotated[float, Field(ge=0)]


class Method(TypedDict):
    """A classifier; ``model`` is its name in the registry."""

    model: Model
    params: NotRequired[dict[str, Any]]
    n_features: NotRequired[Count]
    runs: NotRequired[Count]
    blocks: NotRequired[Blocks]


class Detector(Method):
    """A classifier, the scores that tell outliers, and most of its training samples."""

    scores: Distinct[Score]
    max_rows: NotRequired[Count]


class Windows(TypedDict):
    """Principal components of windows."""

    size: Count
    step: Count
    n_components: Count


class Features(TypedDict):
    """Features of images; ``flips`` adds a mirrored copy of the training images."""

    source: Source
    deskew: bool
    n_components: Count
    flips: NotRequired[bool]
    windows: NotRequired[Windows]


Methods = Annotated[dict[DataSetName, Method], Field(min_length=1)]
Detectors = Annotated[dict[DataSetName, Detector], Field(min_length=1)]


class ImageSet(TypedDict):
    """A data set of images; a line joins its ``steps``. A method has ``n_features`` unless it names its own number."""

    title: Text
    features: Features
    n_features: NotRequired[Count]
    steps: list[str]
    methods: Methods


class Images(TypedDict):
    """Classifiers on images."""

    notes: Notes
    timing_notes: Notes
    runs: Count
    data_sets: Annotated[dict[DataSetName, ImageSet], Field(min_length=1)]


class Tables(TypedDict):
    """A group of tables, their folds and samples; the registry says which classifiers take part."""

    notes: Notes
    group_notes: Notes
    n_folds: Annotated[int, Field(ge=2, le=100)]
    max_rows: Annotated[int, Field(ge=20)]
    data_sets: Annotated[Distinct[Source], Field(min_length=2)]


class OutlierSet(TypedDict):
    """A data set, and another whose test images are outliers."""

    title: Text
    outside: Source
    features: Features


class Outliers(TypedDict):
    """Recognition of outliers."""

    notes: Notes
    data_sets: Annotated[dict[DataSetName, OutlierSet], Field(min_length=1)]
    methods: Detectors


class LeftOut(TypedDict):
    """Recognition of a class that the training samples lack."""

    notes: Notes
    max_rows: Annotated[int, Field(ge=20)]
    test_fraction: Annotated[float, Field(gt=0, lt=1)]
    data_sets: Annotated[Distinct[Source], Field(min_length=1)]
    methods: Detectors


class Comparison(Strict):
    """``config/comparison.yaml``; ``names`` are titles of methods that have no entry in the registry."""

    names: dict[str, Text]
    images: Images
    tables: Tables
    test: Tables
    categories: Tables
    outliers: Outliers
    left_out: LeftOut

    @model_validator(mode="after")
    def _check(self) -> Comparison:
        for one, other in combinations(TABLES, 2):
            if common := {*getattr(self, one)["data_sets"]} & {*getattr(self, other)["data_sets"]}:
                raise ValueError(
                    f"{other}.data_sets and {one}.data_sets have {min(common)}; a table has one group"
                )
        return self

    def parameters(self, part: Part, dataset: str = "") -> dict[str, dict[str, Any]]:
        """Return the parameters of each method on a data set, besides its features; those of tables concern all data sets.

        The methods of the tables are the entries of the registry that take part.
        """
        section = getattr(self, part)
        entry = section["data_sets"][dataset] if part == "images" else {}
        shared = {key: place[key] for place in (section, entry) for key in SHARED if key in place}
        registered = {
            name: {"model": name, "params": dict(one.comparison)}
            for name, one in entries().items()
            if one.comparison is not None and part in one.tables
        }
        methods = (section | entry).get("methods", registered)
        return {name: shared | method for name, method in methods.items()}

    def jobs(self, part: Part) -> dict[str, dict[str, Any]]:
        """Jobs of a part: of each method its `parameters` by data set."""
        found: dict[str, dict[str, Any]] = {}
        for dataset in getattr(self, part)["data_sets"]:
            for method, params in self.parameters(part, dataset).items():
                found.setdefault(method, {})[dataset] = params
        return found

    def features(self, part: Part, dataset: str) -> dict[str, Any]:
        """Recipe of the features of images, and ``outside``, the data set of the outliers, if there is one."""
        entry = getattr(self, part)["data_sets"][dataset]
        return entry["features"] | {key: entry[key] for key in ("outside",) if key in entry}

    def titles(self) -> dict[str, str]:
        """Titles of methods."""
        return {name: entry.title or name for name, entry in entries().items()} | self.names


def read(path: str | Path) -> Comparison:
    """Read and check the file; `ConfigurationError` with all faults."""
    found = parsed(Comparison, read_mapping(path), [path])
    faults: list[str] = []
    for name, entry in found.images["data_sets"].items():
        where = f"{path}: images.data_sets.{name}"
        faults += unknown(entry["steps"], entry["methods"], f"{where}.steps")
        faults += _faults(entry["methods"], f"{where}.methods")
    for part in ("outliers", "left_out"):
        faults += _faults(getattr(found, part)["methods"], f"{path}: {part}.methods")
    refuse(faults)
    return found


def _faults(methods: Mapping[str, Any], where: str) -> list[str]:
    """Parameters that an estimator of this project does not have; those of others are checked when they are fitted."""
    faults: list[str] = []
    for name, method in methods.items():
        entry = entries()[method["model"]]
        if entry.estimator.startswith("skem.estimators."):
            faults += unknown(method.get("params", {}), entry.parameters(), f"{where}.{name}.params")
    return faults
