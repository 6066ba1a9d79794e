"""Tables, arrays and records on disk: floats keep every digit, and a file is complete or absent."""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from skem.datasets._permissions import keep_permissions

LABELS = ("dataset", "method", "setting", "rows", "dtype", "model", "partition", "folds", "scale", "node")
"""Columns of text."""


def write(path: str | os.PathLike[str], save: Callable[[Any], object]) -> None:
    """Call ``save`` with a binary file beside ``path``, then rename that file to ``path``.

    After an error the earlier file at ``path`` is kept. The next `write` replaces what a killed process left beside it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.unfinished")
    try:
        with open(beside, "wb") as file:
            keep_permissions(file.fileno(), path)
            save(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None and error.errno is not None:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise


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


def concatenated(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables; those without rows may lack columns."""
    found = [table for table in tables if len(table)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def read_tables(paths: Iterable[str | os.PathLike[str]]) -> pd.DataFrame:
    """Read and concatenate tables."""
    return concatenated(map(read_table, paths))


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
def plain_errors(log: Sequence[str] = ()) -> Iterator[None]:
    """End the process with one line, without a traceback, for errors that a user can mend.

    Warnings and errors are written to the file ``log``, too; a job has one at most.
    """
    with ExitStack() as stack:
        copy = stack.enter_context(open(log[0], "w", encoding="utf-8")) if log else None
        if copy:
            stack.enter_context(redirect_stderr(_Both(sys.stderr, copy)))
        try:
            yield
        except Exception as error:
            if copy:
                traceback.print_exc(file=copy)
            mendable = isinstance(error, (ValueError, OSError, RuntimeError))
            if os.environ.get("SKEM_TRACEBACK") or not mendable:
                raise
            sys.exit(f"error: {error}")


class _Both(io.TextIOBase):
    """A text file that writes to several."""

    def __init__(self, *files: Any) -> None:
        self.files = files

    def write(self, text: str) -> int:
        for file in self.files:
            file.write(text)
            file.flush()
        return len(text)
