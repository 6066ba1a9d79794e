"""The settings of ``config/frontier.yaml``, checked before any job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skem.repro.config.documents import read_mapping, refuse
from skem.repro.config.schemas import check
from skem.repro.frontier import contestants
from skem.repro.frontier.tabular import BUNDLED


def read(path: str | Path, schema: str | Path, sources: set[str]) -> dict[str, Any]:
    """The settings.

    Parameters
    ----------
    path, schema : path
    sources : set of str
        The entries of ``config/datasets.yaml``.

    Raises
    ------
    ConfigurationError
        With all faults: what the schema refuses, models, data sets and names that are not known.
    """
    settings = read_mapping(path)
    check(settings, schema, [path])
    images, tables, names = settings["images"], settings["tables"], settings["names"]
    outliers = settings["outliers"]
    named = {
        f"{part}.data_sets.{dataset}.features.source": entry["features"]["source"]
        for part in ("images", "outliers")
        for dataset, entry in settings[part]["data_sets"].items()
    }
    named |= {
        f"outliers.data_sets.{dataset}.outside": entry["outside"]
        for dataset, entry in outliers["data_sets"].items()
    }
    faults = [
        f"{path}: {place}: no data set is called so in config/datasets.yaml"
        for place, source in named.items()
        if source not in sources
    ]
    for dataset, entry in images["data_sets"].items():
        faults += _of_methods(path, f"images.data_sets.{dataset}.methods", entry["methods"], names)
    faults += [
        f"{path}: tables.data_sets: {name!r} is neither in config/datasets.yaml nor one of {', '.join(BUNDLED)}"
        for name in tables["data_sets"]
        if name not in sources and name not in BUNDLED
    ]
    faults += _of_methods(path, "tables.methods", tables["methods"], names)
    faults += _of_methods(path, "outliers.methods", outliers["methods"], names)
    faults += [
        f"{path}: outliers.methods.{label} has no scores"
        for label, method in outliers["methods"].items()
        if "scores" not in method
    ]
    refuse(faults)
    return settings


def _of_methods(path: str | Path, place: str, methods: dict[str, Any], names: dict[str, str]) -> list[str]:
    faults = [
        f"{path}: {place}.{label}: {fault}"
        for label, how in methods.items()
        if (fault := contestants.faults(how["model"]))
    ]
    return faults + [
        f"{path}: {place}.{label} has no entry under names" for label in methods if label not in names
    ]
