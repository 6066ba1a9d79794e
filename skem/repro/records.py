"""Snakemake's records of each result (parameters, code, inputs and their checksums), beside the results.

Snakemake keeps them in .snakemake, which people delete to get rid of a lock, and takes a file without a record for finished.
"""

from __future__ import annotations

import os
import shutil
from base64 import urlsafe_b64encode
from functools import cache
from pathlib import Path
from zipfile import is_zipfile

NOT_RESULTS = ("reference", "records")
"""Folders of results/ that no job writes."""


def keep_beside(results: str | Path = "results", snakemake: str | Path = ".snakemake") -> None:
    """Have Snakemake keep its records below ``results``.

    Where a disk has no symbolic links, records stay in ``snakemake``.
    """
    for kind in ("metadata", "incomplete"):
        kept, link = Path(results, "records", kind), Path(snakemake, kind)
        kept.mkdir(parents=True, exist_ok=True)
        if link.is_symlink():
            continue
        new = link.with_name(f"{kind}-{os.getpid()}")
        new.parent.mkdir(parents=True, exist_ok=True)
        try:
            new.symlink_to(os.path.relpath(kept.absolute(), link.parent.resolve()))
        except OSError:
            link.mkdir(exist_ok=True)
            continue
        if link.is_dir():  # of an earlier version, or copied by what does not copy links
            shutil.copytree(link, kept, copy_function=_copy_missing, dirs_exist_ok=True)
            shutil.rmtree(link)
        new.replace(link)


def find_unfinished(results: str | Path = "results", snakemake: str | Path = ".snakemake") -> list[str]:
    """Mark results without a record, and empty or truncated ones, as unfinished: Snakemake makes them again if it needs them.

    Returns
    -------
    list of str
        The empty or truncated ones.
    """
    damaged = []
    for path in _files(Path(results)):
        if not os.path.exists(path):  # a run beside this one makes it again
            continue
        if not _is_whole(path):
            damaged.append(path)
        elif _record(Path(snakemake, "metadata"), path).exists():
            continue
        mark_unfinished(path, snakemake)
    return damaged


def mark_unfinished(path: str, snakemake: str | Path = ".snakemake") -> None:
    """Have Snakemake make a file again when it is needed next."""
    mark = _record(Path(snakemake, "incomplete"), path)
    if not mark.exists():
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_text('{"external_jobid": null}', encoding="utf-8")


def _copy_missing(source: str, target: str) -> None:
    if not os.path.exists(target):
        shutil.copy(source, target)


def _files(results: Path) -> list[str]:
    """Files that jobs may have written; beside those of the regression test are checkouts of other revisions."""
    found = []
    for folder, folders, names in os.walk(results):
        if Path(folder) == results:
            folders[:] = sorted({*folders} - {*NOT_RESULTS})
        elif Path(folder) == results / "regress":
            folders[:] = ["accuracy"]
        found += [Path(folder, name).as_posix() for name in names if not name.startswith(".")]
    return found


def _is_whole(path: str) -> bool:
    """True if a file is complete: all texts that jobs write end with a newline."""
    with open(path, "rb") as file:
        if path.endswith(".npz"):
            return is_zipfile(file)
        size = file.seek(0, os.SEEK_END)
        if not size or not path.endswith((".csv", ".json")):
            return bool(size)
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def _record(folder: Path, path: str) -> Path:
    """Path of Snakemake's record of a file."""
    name = urlsafe_b64encode(path.encode()).decode()
    size = _longest_name(folder) - 1
    *parts, last = (name[i : i + size] for i in range(0, len(name), size))
    return folder.joinpath(*(f"@{part}" for part in parts), last)


@cache
def _longest_name(folder: Path) -> int:
    return os.pathconf(folder, "PC_NAME_MAX") if hasattr(os, "pathconf") else 255
