"""Snakemake's records of each result (parameters, code, inputs and their checksums), beside the results.

Snakemake keeps them in .snakemake, which people delete to get rid of a lock, and takes a file without a record for finished.
Its database of records names results by the absolute path of their folder: a copy of the folder has no records there.
"""

from __future__ import annotations

import os
import shutil
from base64 import urlsafe_b64encode
from pathlib import Path

NOT_RESULTS = ("reference", "records", "logs")
"""Folders of results/ that hold no results."""


def keep_beside(results: str | Path = "results", snakemake: str | Path = ".snakemake") -> None:
    """Have Snakemake keep its records below ``results``.

    Records stay in ``snakemake`` if a disk has no symbolic links.
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
        if link.is_dir():  # a copy of the folder that followed links, or was made on a disk without them
            shutil.copytree(link, kept, dirs_exist_ok=True)
            shutil.rmtree(link)
        new.replace(link)


def mark_unrecorded(results: str | Path = "results", snakemake: str | Path = ".snakemake") -> None:
    """Mark results without a record as unfinished."""
    for path in _files(Path(results)):
        if not _record(Path(snakemake, "metadata"), path).exists():
            mark_unfinished(path, snakemake)


def mark_unfinished(path: str, snakemake: str | Path = ".snakemake") -> None:
    """Have Snakemake make a file again when it is needed next."""
    mark = _record(Path(snakemake, "incomplete"), path)
    if not mark.exists():
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_text('{"external_jobid": null}', encoding="utf-8")


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


def _record(folder: Path, path: str) -> Path:
    """Path of Snakemake's record of a file."""
    name = urlsafe_b64encode(path.encode()).decode()
    size = (os.pathconf(folder, "PC_NAME_MAX") if hasattr(os, "pathconf") else 255) - 1
    *parts, last = (name[i : i + size] for i in range(0, len(name), size))
    return folder.joinpath(*(f"@{part}" for part in parts), last)
