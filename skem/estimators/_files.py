"""Fitted models in files: npz archives in which nothing is pickled.

An archive has arrays, and one text of JSON: the class, the version of the format, parameters, and what a fit left.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = "skem."
"""What the format of an archive begins with; the name of the class follows."""

VERSION = 1
"""Of the archives written here."""


def write_archive(
    path: str | os.PathLike, class_name: str, arrays: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Write named arrays, and settings that JSON can hold; a file of that name is replaced at once or not at all.

    Raises
    ------
    OSError
        That names ``path``: a folder that is missing or not writable, a name that is too long, a full disk.
    """
    path = Path(path)
    # Not by tempfile, whose files only their owner may read.
    new = path.parent / f".skem.{secrets.token_hex(8)}"
    try:
        with open(new, "xb") as file:
            text = json.dumps({"format": FORMAT + class_name, "version": VERSION, **settings})
            contents: dict[str, Any] = {name: np.asarray(value) for name, value in arrays.items()}
            np.savez(file, settings=np.array(text), **contents)
        os.replace(new, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            new.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def read_archive(
    path: str | os.PathLike, class_name: str, otherwise: str = ""
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and settings of a file that ``write_archive`` wrote for this class.

    Raises
    ------
    ValueError
        A file that is none, with what else it might have been in ``otherwise``; that is cut off, of another class, or of
        another version.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
            settings = json.loads(str(arrays.pop("settings")))
            start, found = settings["format"][: len(FORMAT)], settings.pop("format")[len(FORMAT) :]
            if start != FORMAT:
                raise ValueError("another format")
            version = settings.pop("version")
    except (ValueError, KeyError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path}: no {class_name} saved by skem{otherwise}, or one that is cut off"
        ) from error
    if found != class_name:
        raise ValueError(f"{path} holds a fitted {found}: read it with {found}.load")
    if version != VERSION:
        raise ValueError(f"{path}: version {version} of the format; this skem reads version {VERSION}")
    return arrays, settings
