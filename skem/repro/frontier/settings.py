"""The settings of ``config/frontier.yaml``, checked before any job."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

import skem
from skem.repro.config.documents import read_mapping, refuse
from skem.repro.config.validation import Count, DataSetName, Distinct, Strict, Text, parsed, unknown
from skem.repro.training.classifiers import OURS, entries

BUNDLED = ("iris", "wine", "breast_cancer", "digits")
"""Data sets that scikit-learn carries with it."""


class Blocks(TypedDict):
    """Blocks drawn at random beside one per window; chances grow with a power of the standard deviation."""

    n_blocks: Count
    block_size: Count
    power: Annotated[float, Field(ge=0)]


class Method(TypedDict):
    """A classifier: its name in the registry, or skem.NAME. ``scores`` are those of outliers."""

    model: str
    params: NotRequired[dict[str, Any]]
    n_features: NotRequired[Count]
    runs: NotRequired[Count]
    blocks: NotRequired[Blocks]
    scores: NotRequired[Distinct[Literal["density", "density_after", "certainty", "margin"]]]


class Windows(TypedDict):
    """Principal components of windows."""

    size: Count
    step: Count
    n_components: Count


class Features(TypedDict):
    """Features of images; ``shifts``: [down, right] in pixels, a copy of the training images each."""

    source: str
    deskew: bool
    n_components: Count
    shifts: NotRequired[list[Annotated[list[int], Field(min_length=2, max_length=2)]]]
    flips: NotRequired[bool]
    windows: NotRequired[Windows]


Methods = Annotated[dict[DataSetName, Method], Field(min_length=1)]


class ImageSet(TypedDict):
    """A data set of images; a line joins its ``steps``."""

    title: Text
    features: Features
    steps: list[str]
    methods: Methods


class Images(TypedDict):
    """Classifiers on images."""

    notes: str
    timing_notes: str
    runs: Count
    data_sets: Annotated[dict[DataSetName, ImageSet], Field(min_length=1)]


class Tables(TypedDict):
    """Classifiers on tables."""

    notes: str
    n_folds: Annotated[int, Field(ge=2, le=100)]
    max_rows: Annotated[int, Field(ge=20)]
    data_sets: Annotated[Distinct[str], Field(min_length=2)]
    methods: Methods


class OutlierSet(TypedDict):
    """A data set, and another whose test images are outliers."""

    title: Text
    outside: str
    features: Features


class Outliers(TypedDict):
    """Recognition of outliers."""

    notes: str
    data_sets: Annotated[dict[str, OutlierSet], Field(min_length=1)]
    methods: Methods


class Frontier(Strict):
    """``config/frontier.yaml``; ``names`` are those of methods in tables."""

    names: dict[str, Text]
    images: Images
    tables: Tables
    outliers: Outliers


def read(path: str | Path, sources: Collection[str]) -> dict[str, Any]:
    """Read and check the settings; ``sources`` are the entries of ``config/datasets.yaml``.

    Raises
    ------
    ConfigurationError
        With all faults: unknown keys, models, data sets and names.
    """
    settings = read_mapping(path)
    parsed(Frontier, settings, [path])
    tables, outliers, known = settings["tables"], settings["outliers"], [*sources, *BUNDLED]
    faults = unknown(tables["data_sets"], known, f"{path}: tables.data_sets")
    for part in ("images", "outliers"):
        for dataset, entry in settings[part]["data_sets"].items():
            named = [entry["features"]["source"], *([entry["outside"]] if "outside" in entry else [])]
            faults += unknown(named, sources, f"{path}: {part}.data_sets.{dataset}")
    listed = {"tables.methods": tables["methods"], "outliers.methods": outliers["methods"]}
    listed |= {
        f"images.data_sets.{n}.methods": e["methods"] for n, e in settings["images"]["data_sets"].items()
    }
    models = [*entries(), *(f"{OURS}{name}" for name in skem.__all__)]
    for place, methods in listed.items():
        faults += unknown(methods, settings["names"], f"{path}: {place}, unlike names,")
        for label, how in methods.items():
            faults += unknown([how["model"]], models, f"{path}: {place}.{label}.model")
    faults += [
        f"{path}: outliers.methods.{label} has no scores"
        for label, how in outliers["methods"].items()
        if "scores" not in how
    ]
    refuse(faults)
    return settings
