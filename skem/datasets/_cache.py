"""Data sets, kept: found in the cache or obtained from a source, verified by content, stored."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from skem.datasets import _known, _sources
from skem.datasets._dataset import Dataset, DatasetNotAvailable, verify
from skem.datasets._permissions import keep_permissions

# A disk, a quota or a file-size limit that is exhausted: no other source would fare better.
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def load(name: str, *, home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set from the cache, fetching it first where it is missing or corrupt.

    Parameters
    ----------
    name : str
        One of `names`.
    home : path-like, optional
        The cache folder; by default ``$SKEM_DATA_HOME``, else the user's cache folder.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there is no such data set.
    DatasetNotAvailable
        If no source delivers it.
    OSError
        If the cache folder cannot be written or its disk is full.
    """
    data, target, record = _obtain(name, home, progress=True)
    if data is None or target is None:
        raise DatasetNotAvailable(record, _advice(name))
    spec = _known.entry(name)
    features = spec.get("feature_names")
    return Dataset(
        name=name,
        data=data,
        target=target,
        target_names=tuple(spec["target_names"]),
        feature_names=None if features is None else tuple(features),
        n_train=spec["n_train"],
        record=record,
    )


def fetch(name: str, *, home: str | os.PathLike[str] | None = None, progress: bool = True) -> dict[str, Any]:
    """Make sure that a data set is in the cache, and say what became of it.

    Parameters
    ----------
    name, home
        As for `load`.
    progress : bool, default=True
        Show downloads on standard error.

    Returns
    -------
    dict
        The record: ``dataset``, ``available``, ``shape``, ``n_classes``, ``source`` (where the content first
        came from, in words; None if not available), ``sha256`` (of the content), ``licence``, ``citation``
        and ``reasons`` (a line for each source that failed). A data set that is not available is no error.

    Raises
    ------
    ValueError
        If there is no such data set.
    OSError
        If the cache folder cannot be written or its disk is full.
    """
    return _obtain(name, home, progress)[2]


def format_table(records: Iterable[dict[str, Any]]) -> str:
    """A plain-text table of records as `fetch` returns them, one line each."""
    rows: list[tuple[str, ...]] = [("data set", "shape", "classes", "source", "hash", "licence")]
    for record in records:
        there = record["available"]
        rows.append(
            (
                record["dataset"],
                " x ".join(str(length) for length in record["shape"]),
                str(record["n_classes"]),
                record["source"] if there else "not available",
                record["sha256"][:12] if there else "-",
                record["licence"],
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rows.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _home(home: str | os.PathLike[str] | None) -> Path:
    chosen = home or os.environ.get("SKEM_DATA_HOME")
    if chosen:
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return platformdirs.user_cache_path("skem")


def _obtain(
    name: str, home: str | os.PathLike[str] | None, progress: bool
) -> tuple[np.ndarray | None, np.ndarray | None, dict[str, Any]]:
    spec = _known.entry(name)
    record = {
        "dataset": name,
        "available": True,
        "shape": list(spec["shape"]),
        "n_classes": spec["n_classes"],
        "source": "cache",
        "sha256": spec["sha256"],
        "licence": spec["licence"],
        "citation": spec["citation"],
        "reasons": [],
    }
    folder = _home(home) / name
    try:
        data, target = _read(folder / "data.npy"), _read(folder / "target.npy")
        verify(data, target, spec)
        return data, target, record | {"source": _first_source(folder)}
    except FileNotFoundError:
        pass
    except Exception as error:
        record["reasons"].append(f"cache: {_sources.why(error)}")

    with _work_folder(folder) as work:
        for words, obtain in _sources.attempts(name, spec, Path(work), progress):
            try:
                data, target = obtain()
                verify(data, target, spec)
            except Exception as error:  # a corrupt file can break a decoder in any way
                if isinstance(error, OSError) and error.errno in _NO_ROOM:
                    raise _cannot_write(folder, error) from error
                record["reasons"].append(f"{words}: {_sources.why(error)}")
                continue
            record["source"] = words
            _store(folder, Path(work), data, target, record)
            return data, target, record
    return None, None, record | {"available": False, "source": None}


def _read(path: Path) -> np.ndarray:
    # read_array, unlike np.load, knows no other format than .npy
    with open(path, "rb") as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _first_source(folder: Path) -> str:
    try:
        return str(json.loads((folder / "record.json").read_text(encoding="utf-8"))["source"])
    except (OSError, ValueError, KeyError, TypeError):
        return "cache"


def _work_folder(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder beside the cached arrays, so that they can be moved into place in one step."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(".work-*"):  # by a run that was killed; a day is longer than any download
            with suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime > 86400:
                    shutil.rmtree(left, ignore_errors=True)
        return tempfile.TemporaryDirectory(prefix=".work-", dir=folder, ignore_cleanup_errors=True)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _store(folder: Path, work: Path, data: np.ndarray, target: np.ndarray, record: dict[str, Any]) -> None:
    """Write beside, flush to the disk, then move into place: a reader sees the old file or the new one."""
    try:
        for array, name in ((data, "data.npy"), (target, "target.npy")):
            with open(work / name, "wb") as stream:
                keep_permissions(stream.fileno(), folder / name)
                header = np.lib.format.header_data_from_array_1_0(array)
                np.lib.format.write_array_header_1_0(stream, header)
                stream.write(array.data)  # np.save would lose the reason when the disk is full
                stream.flush()
                os.fsync(stream.fileno())
        kept = {key: record[key] for key in ("dataset", "source", "sha256", "licence", "citation")}
        (work / "record.json").write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
        for name in ("data.npy", "target.npy", "record.json"):
            os.replace(work / name, folder / name)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _cannot_write(folder: Path, error: OSError) -> OSError:
    return OSError(
        error.errno,
        f"cannot write to the cache folder {folder}: {error.strerror or error}. "
        "Make room or set SKEM_DATA_HOME to another folder",
    )


def _advice(name: str) -> str:
    spec = _known.entry(name)
    mirror = os.environ.get("SKEM_DATA_MIRROR")
    choose = "" if mirror else " (set SKEM_DATA_MIRROR to a folder of your choice)"
    root = Path(mirror).expanduser().absolute() if mirror else "$SKEM_DATA_MIRROR"
    accepted = [f"  - {', '.join(files)}" for files, _ in _sources.accepted(spec)]
    if not accepted:
        return f"Place its table, rows of numbers that end in a class label, in {root}/{name}/{choose}."
    lines = [f"To put it there by hand, place one of these in {root}/{name}/{choose}:", *accepted]
    lines += ["They are available from these addresses, and by these commands:"]
    for source in spec["sources"]:
        lines += [f"  - {file['url']}" for file in source.get("files", ())]
        lines += [f"  - {' '.join(_sources.command(source))}"] if "package" in source else []
    return "\n".join(lines)
