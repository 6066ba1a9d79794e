"""Revisions of this git checkout, and the committed reference."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

from skem import engine

SCHEMA = 2
"""Version of the reference file's layout."""


def read_reference(path: str | Path) -> dict[str, Any]:
    """Read the committed reference: commit, platform, and accuracy, a `Record`, and its rounding."""
    try:
        reference = json.loads(Path(path).read_text(encoding="utf-8"))
        if reference["schema"] == SCHEMA:
            return reference
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise ValueError(
        f"{path} is not a reference of layout {SCHEMA}: restore it with git checkout -- {path}, "
        "or make it with snakemake regress_update --cores all"
    )


def _git(*arguments: str) -> bytes:
    try:
        return subprocess.run(["git", *arguments], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise ValueError(f"git {' '.join(arguments)} failed; run it in a git checkout") from error


def base(revision: str | int | None, reference: str | Path) -> str | None:
    """Commit to compare times with: the named revision, else that of the reference if git has it."""
    try:
        named = read_reference(reference)["commit"] if revision is None else revision
        return _git("rev-parse", "--verify", "--end-of-options", f"{named}^{{commit}}").decode().strip()
    except ValueError:
        if revision is None:
            return None
        raise ValueError(
            f"base={revision} is not a revision of this git checkout; git fetch it, or name a revision of git log --all"
        ) from None


def raise_if_uncommitted() -> None:
    """Refuse a reference whose commit would lack changes of files other than results."""
    lines = _git("status", "--porcelain", "--", ".", ":!results").decode().splitlines()
    if lines:
        names = ", ".join(line[3:] for line in lines[:5]) + " and others" * (len(lines) > 5)
        raise ValueError(
            f"uncommitted changes in {names}: commit them first, so that the reference can name its commit"
        )


def raise_if_code_differs(commit: str) -> None:
    """Refuse to measure rounding with another library than that of ``commit``."""
    if _git("diff", "--name-only", commit, "--", "skem", "config"):
        raise ValueError(
            f"skem or config differs from commit {commit[:12]} of the reference: check that out, or make a new reference "
            "with snakemake regress_update --cores all"
        )


def extract(commit: str, folder: str) -> None:
    """Write the library of a commit to ``folder/skem``, with the compiled loops of this one, which numba loads where the code is equal."""
    with zipfile.ZipFile(BytesIO(_git("archive", "--format=zip", commit, "skem"))) as archive:
        archive.extractall(folder)
    compiled = Path(folder, "skem", "engine", "__pycache__")
    compiled.mkdir(parents=True, exist_ok=True)
    for path in Path(engine.__path__[0], "__pycache__").glob("*.nb[ci]"):
        shutil.copy(path, compiled)
