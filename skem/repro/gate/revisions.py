"""Another revision of this checkout, ready to be run beside it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any


def _git(*arguments: str, where: str | Path = ".") -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=where, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise ValueError("git is not installed, and only git knows other revisions") from None
    except subprocess.CalledProcessError as error:
        raise ValueError(f"git {' '.join(arguments)}: {error.stderr.strip()}") from None
    return done.stdout.strip()


def _commit(revision: str) -> str:
    return _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")


def head() -> str:
    """The commit that is checked out."""
    return _git("rev-parse", "HEAD")


def is_here(revision: str) -> bool:
    """Whether this is a git checkout that has the revision."""
    try:
        _commit(revision)
    except ValueError:
        return False
    return True


def changed_files() -> list[str]:
    """Files that differ from the commit, but for results."""
    lines = _git("status", "--porcelain", "--", ".", ":!results").splitlines()
    return [line[2:].strip() for line in lines]


def refuse_changes() -> None:
    """Refuse to make a reference of files that no commit has.

    Raises
    ------
    ValueError
    """
    changed = changed_files()
    if changed:
        shown = f"{', '.join(changed[:5])}{' and others' if len(changed) > 5 else ''}"
        raise ValueError(
            f"uncommitted changes in {shown}: commit them first, so that the reference can name its commit"
        )


def check_out(revision: str, folder: str | Path) -> dict[str, Any]:
    """A worktree of a revision, and a Python that has what it depends on.

    Parameters
    ----------
    revision : str
        Branch, tag or commit.
    folder : path
        Where to put it; a worktree that is there already is used.

    Returns
    -------
    dict
        commit, path, python: that of this process, unless the revision depends on other packages; then that of
        an environment of its own.

    Raises
    ------
    ValueError
        If there is no git, or no such revision.
    """
    try:
        commit = _commit(revision)
    except ValueError as error:
        if "not a git repository" in str(error) or "not installed" in str(error):
            raise ValueError(f"base={revision} needs a git checkout: {error}") from None
        raise ValueError(
            f"base={revision}: there is no such revision here; git fetch it, or name one of git branch --all"
        ) from None
    path = (Path(folder) / f"base-{commit[:12]}").resolve()
    _git("worktree", "prune")
    if not (path / "pyproject.toml").exists():
        _git("worktree", "add", "--detach", "--force", str(path), commit)
    python = sys.executable
    if _dependencies(path) != _dependencies(Path()):
        environment = path.with_name(f"venv-{commit[:12]}")
        python = str(environment / "bin" / "python")
        if not (environment / "complete").exists():
            for command in (
                [sys.executable, "-m", "venv", str(environment)],
                [python, "-m", "pip", "install", "--quiet", f"{path}[pipeline]"],
            ):
                subprocess.run(command, check=True)
            (environment / "complete").touch()
    return {"revision": revision, "commit": commit, "path": str(path), "python": python}


def remove(path: str) -> None:
    """Give up a worktree that `check_out` made."""
    _git("worktree", "remove", "--force", path)


def _dependencies(root: Path) -> list[str]:
    with open(root / "pyproject.toml", "rb") as file:
        return sorted(tomllib.load(file)["project"]["dependencies"])


def environment_for(path: str | Path) -> dict[str, str]:
    """The environment in which ``import skem`` is that of a checkout."""
    return os.environ | {"PYTHONPATH": str(Path(path).resolve())}
