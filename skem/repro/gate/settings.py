"""Settings of ``config/regress.yaml``."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from skem.repro.config.documents import read_mapping, refuse
from skem.repro.config.validation import Count, Strict, parsed, unknown


class Mixture(TypedDict):
    n_components: Count
    n_features: Count


class Accuracy(TypedDict):
    seed: Annotated[int, Field(ge=0)]
    runs: dict[str, Annotated[int, Field(ge=2, le=10000)]]
    mixtures: dict[str, Mixture]


class Timing(TypedDict):
    rounds: Annotated[int, Field(ge=3)]
    pairs: Count
    minutes: Annotated[float, Field(ge=0)]


class Regress(Strict):
    """``config/regress.yaml``."""

    accuracy: Accuracy
    timing: Timing


def read(path: str | Path, data_sets: Collection[str]) -> dict[str, Any]:
    """Read and check the settings; ``data_sets`` are those of the configuration."""
    settings = read_mapping(path)
    parsed(Regress, settings, [path])
    named = [*settings["accuracy"]["runs"], *settings["accuracy"]["mixtures"]]
    refuse(unknown(named, data_sets, f"{path}: accuracy"))
    return settings
