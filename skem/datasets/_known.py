"""What is known of each data set before it is there: ``config/datasets.yaml``."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any


def names() -> tuple[str, ...]:
    """The data sets there are."""
    return tuple(entries())


def shape(name: str) -> tuple[int, ...]:
    """The shape of a data set's array, without loading it.

    Raises
    ------
    ValueError
        If there is no such data set.
    """
    return tuple(entry(name)["shape"])


def describe(name: str) -> Mapping[str, Any]:
    """What is known of a data set, without loading it.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    mapping
        Its entry of ``config/datasets.yaml``: title, shape, dtype, n_classes, n_train (None where no split was
        published), target_names, feature_names (of tables), sha256 (of the content), licence, citation, doi, and
        where it can be had.

    Raises
    ------
    ValueError
        If there is no such data set.
    """
    return MappingProxyType(entry(name))


def entry(name: str) -> dict[str, Any]:
    """What is written down about a data set."""
    known = entries()
    if name not in known:
        close = difflib.get_close_matches(str(name), known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"unknown data set {name!r}: there are {', '.join(known)}.{hint}")
    return known[name]


@lru_cache(maxsize=1)
def entries() -> dict[str, dict[str, Any]]:
    import yaml

    # An installed copy carries the file; a checkout has it in config/.
    packaged = resources.files("skem.datasets") / "datasets.yaml"
    path = packaged if packaged.is_file() else Path(__file__).parents[2] / "config" / "datasets.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))
