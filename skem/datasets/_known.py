"""The description of each data set, without its content: ``config/datasets.yaml``."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

from skem.datasets._dataset import content_hash
from skem.datasets._tables import content


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
    """Describe a data set, without loading it.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    mapping
        Its entry of ``config/datasets.yaml``: title, shape, dtype, n_classes, n_train (None where no split was
        published), target_names, feature_names (of tables), sha256 (of the content), licence, citation, doi, and
        sources.

    Raises
    ------
    ValueError
        If there is no such data set.
    """
    return MappingProxyType(deepcopy(entry(name)))


def entry(name: str) -> dict[str, Any]:
    """The entry of a data set; the content completes a short one."""
    known = entries()
    if name not in known:
        close = difflib.get_close_matches(str(name), known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"unknown data set {name!r}: there are {', '.join(known)}.{hint}")
    spec = known[name]
    if "sources" in spec:
        return spec
    version: list[Any] = []
    if "file" in spec and (path := Path(spec["folder"], spec["file"])).is_file():
        state = path.stat()
        version = [path, spec.get("label"), state.st_mtime_ns, state.st_size]
    return _completed(name, *version)


def registries() -> list[Path]:
    """Registries of data sets: that of the project, and ``$SKEM_DATASETS`` if it is set."""
    # An installed copy carries the file; a checkout has it in config/.
    packaged = Path(str(resources.files("skem.datasets") / "datasets.yaml"))
    path = packaged if packaged.is_file() else Path(__file__).parents[2] / "config" / "datasets.yaml"
    return [path, *(Path(own) for own in [os.environ.get("SKEM_DATASETS")] if own)]


def entries() -> dict[str, dict[str, Any]]:
    """Entries of all registries, as they are written."""
    return read_entries(*((path, path.stat().st_mtime_ns if path.is_file() else 0) for path in registries()))


@lru_cache(maxsize=1)
def read_entries(*files: tuple[Path, int]) -> dict[str, dict[str, Any]]:
    """Entries of files that were changed at these times."""
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"skem.datasets needs the package {error.name}: pip install 'pskem[datasets]', or '.[datasets]' in a clone"
        ) from None

    found: dict[str, dict[str, Any]] = {}
    for i, (path, _) in enumerate(files):
        where = f"SKEM_DATASETS={path}" if i else str(path)
        try:
            loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is ten times as fast
            own = yaml.load(path.read_text(encoding="utf-8"), loader)
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise ValueError(f"{where} cannot be read: {error}; name a YAML file") from error
        _check_entries(where, own)
        found |= {
            name: {**spec, "folder": path.parent} if "file" in spec else spec for name, spec in own.items()
        }
    return found


def _check_entries(where: str, entries: Any) -> None:
    """Raise ValueError for a registry that is no mapping of entries, each with the origin of its data."""
    if not isinstance(entries, Mapping):
        raise ValueError(f"{where} holds {entries!r:.60}; write entries such as mine: {{file: mine.csv}}")
    for name, spec in entries.items():
        if not isinstance(spec, Mapping) or not {"file", "bundled", "sources"} & set(spec):
            raise ValueError(
                f"{where}: entry {name!r} is {spec!r:.60}; needed is one of the keys file, bundled or sources, "
                f"as in {name}: {{file: {name}.csv}}"
            )


@lru_cache
def _completed(name: str, *version: Any) -> dict[str, Any]:
    """A short entry as a full one, of this version of its file; there is no hash to verify the content by."""
    spec = entries()[name]
    X, codes, classes, features = content(spec)
    kind = "bundled" if "bundled" in spec else "file"
    derived = {
        "title": name,
        "sha256": content_hash(X, codes),
        "shape": list(X.shape),
        "dtype": X.dtype.name,
        "n_classes": len(classes),
        "n_train": None,
        "target_names": classes,
        "licence": "not stated",
        "citation": "not stated",
        "doi": None,
        "sources": [{"kind": kind}],
    }
    return derived | ({} if features is None else {"feature_names": features}) | spec
