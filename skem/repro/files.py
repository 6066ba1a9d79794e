"""Tidy tables on disk: every digit kept, written beside and then renamed, so never half a file."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd

try:
    import fcntl
except ImportError:  # Windows, which does not delete what is open
    fcntl = None  # type: ignore[assignment]

UNFINISHED = ".skem-unfinished"
"""How the names of files end that are still being written."""

ABANDONED = 24 * 60 * 60

LABELS = ("dataset", "method", "setting", "rows", "dtype", "model", "partition", "folds", "scale", "node")
"""Columns of text."""


def write(path: str | os.PathLike[str], save: Callable[[Any], object]) -> None:
    """Call ``save`` with a binary file beside ``path``, then put it in the place of ``path``.

    Raises
    ------
    OSError
        If the folder cannot be written or the disk is full; what was at ``path`` is still there then.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    file, beside = _beside(path)
    try:
        with file:
            save(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except BaseException as error:
        Path(beside).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None and error.errno is not None:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise


def _beside(path: Path) -> tuple[Any, str]:
    """A new file beside ``path``, locked as long as it is open, and its name."""
    while True:
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=UNFINISHED)
        file = os.fdopen(handle, "wb")
        # A clean-up may have been faster than the lock.
        if _lock(handle) is not False and os.path.exists(beside):
            return file, beside
        file.close()


def _lock(handle: int) -> bool | None:
    """Lock an open file: False if somebody else does, None on a file system without locks."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def clean_up(folder: str | os.PathLike[str]) -> list[Path]:
    """Delete what killed processes left of files they were writing below ``folder``; what others write stays.

    The others may be on other machines, on a disk they share: locks tell there too. On a file system without locks only
    files that nobody has written to for ``ABANDONED`` seconds are deleted.

    Returns
    -------
    list of Path
        What was deleted. What cannot be looked at or deleted stays.
    """
    deleted = []
    for path in sorted(Path(folder).rglob(f".*{UNFINISHED}")):
        with suppress(OSError):
            if path.is_symlink() or not path.is_file():
                continue
            # NFS locks only what is open for writing.
            with open(path, "r+b") as file:
                locked = _lock(file.fileno())
                if locked or (locked is None and time.time() - path.stat().st_mtime > ABANDONED):
                    path.unlink()
                    deleted.append(path)
    return deleted


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8."""
    write(path, lambda file: file.write(text.encode("utf-8")))


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write JSON with sorted keys."""
    write_text(path, json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read what `write_json` wrote."""
    with _naming_damage(path, ValueError):
        return json.loads(Path(path).read_text(encoding="utf-8"))


def write_table(path: str | os.PathLike[str], rows: pd.DataFrame | list[dict[str, Any]]) -> None:
    """Write a table as CSV, floats with the 17 digits that bring them back exactly."""
    write_text(path, pd.DataFrame(rows).to_csv(index=False, float_format="%.17g", lineterminator="\n"))


def write_arrays(path: str | os.PathLike[str], arrays: dict[str, np.ndarray]) -> None:
    """Write arrays as an uncompressed .npz file."""
    write(path, lambda file: np.savez(file, allow_pickle=False, **arrays))


def read_table(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read what `write_table` wrote; a table without rows or columns is an empty one."""
    with _naming_damage(path, EOFError), open(path, "rb") as file:
        if not file.seek(0, os.SEEK_END):
            raise EOFError("it is empty")
        file.seek(-1, os.SEEK_END)
        if file.read() != b"\n":
            raise EOFError("its last line has no end")
    try:
        # A setting may be called 1e-3, or NA, and stays so.
        columns = pd.read_csv(path, nrows=0).columns
        return pd.read_csv(
            path,
            dtype={column: str for column in columns if column in LABELS},
            keep_default_na=False,
            na_values={column: [""] for column in columns if column not in LABELS},
            low_memory=False,  # one look at a whole column, not a guess and a warning per chunk
        )
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


def read_arrays(path: str | os.PathLike[str], prefixes: Sequence[str] = ("",)) -> dict[str, np.ndarray]:
    """Read what `write_arrays` wrote, only arrays whose names begin so; pickled objects are refused."""
    with (
        _naming_damage(path, BadZipFile, EOFError, ValueError),
        np.load(path, allow_pickle=False) as arrays,
    ):
        return {name: arrays[name] for name in arrays.files if name.startswith(tuple(prefixes))}


@contextmanager
def _naming_damage(path: str | os.PathLike[str], *kinds: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kinds as error:
        raise ValueError(
            f"{path} is damaged ({error}): delete it, and the next run makes it again"
        ) from error


@contextmanager
def plain_errors() -> Iterator[None]:
    """End the process with one line for what a user can mend, without a traceback."""
    try:
        yield
    except (ValueError, OSError, RuntimeError) as error:
        if os.environ.get("SKEM_TRACEBACK"):
            raise
        sys.exit(f"error: {error}")
