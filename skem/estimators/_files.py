"""Fitted models in files: npz archives in which nothing is pickled.

An archive has arrays and one text of JSON: the class, the version of the format, parameters and fitted attributes.
Arrays are stored uncompressed, so that none can be larger than the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import secrets
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FORMAT = "skem."
"""What the format of an archive begins with; the name of the class follows."""

VERSION = 1
"""Version of the format of the archives written here."""

File = str | os.PathLike[str] | BinaryIO
"""A path, or a file object opened in binary mode."""


def write_archive(
    file: File, class_name: str, arrays: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Write named arrays, and settings that JSON can hold; a file of that name is replaced at once or not at all.

    Raises
    ------
    OSError
        A folder that is missing or not writable, a name that is too long, a full disk. The error names ``file``.
    """
    text = json.dumps({"format": FORMAT + class_name, "version": VERSION, **settings})
    contents: dict[str, Any] = {name: np.asarray(value) for name, value in arrays.items()}
    contents["settings"] = np.array(text)
    if hasattr(file, "write"):
        stream = io.BytesIO()
        np.savez(stream, **contents)
        file.write(stream.getbuffer())
    else:
        _replace(Path(file), contents)


def _replace(path: Path, contents: dict[str, Any]) -> None:
    """Write an archive beside ``path``, then rename it.

    The file beside is locked while it is written. A lock ends with its process, so a file that is not locked was left by
    a killed one, and the next save to ``path`` removes it.
    """
    start = f".skem.{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}."
    # Not by tempfile, whose files only their owner may read.
    new = path.parent / f"{start}{secrets.token_hex(8)}"
    try:
        for left in path.parent.glob(f"{start}*"):
            with contextlib.suppress(OSError), open(left, "r+b") as file:
                _lock(file)
                left.unlink()
        with open(new, "xb") as file:
            with contextlib.suppress(OSError):  # a file system without locks
                _lock(file)
            np.savez(file, **contents)
            file.flush()
            if fcntl is None:
                file.close()  # Windows does not rename an open file
            os.replace(new, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            new.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _lock(file: BinaryIO) -> None:
    """Lock a file as long as it is open; OSError if another process has it locked. Windows never deletes an open file."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def reading(file: File, class_name: str) -> Iterator[BinaryIO]:
    """Open a file to read; any error that its content causes becomes a ValueError that names it.

    Raises
    ------
    OSError
        A file that cannot be opened.
    TypeError
        A file object opened as text.
    """
    if hasattr(file, "read"):
        content = file.read()
        if not isinstance(content, bytes):
            raise TypeError(f"load: open the file in binary mode; read() returned {type(content).__name__}")
        name: object = getattr(file, "name", "file")
        opened: BinaryIO = io.BytesIO(content)
    else:
        name, opened = file, open(file, "rb")  # noqa: SIM115 closed below
    with opened as stream:
        try:
            yield stream
        # Damaged bytes raise errors of all kinds in zipfile, json and NumPy, RecursionError and MemoryError among them.
        except Exception as error:
            reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            raise ValueError(f"{name}: no {class_name}: {reason}") from error


def read_archive(stream: BinaryIO, class_name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and settings of an archive that ``write_archive`` wrote for this class.

    Raises
    ------
    Exception
        Content that is no archive, is cut off, or belongs to another class or version. ``reading`` makes it a ValueError.
    """
    try:
        arrays = _arrays(stream)
        settings = json.loads(str(arrays.pop("settings")))
        start, found = settings["format"][: len(FORMAT)], settings.pop("format")[len(FORMAT) :]
        version = settings.pop("version")
        if start != FORMAT:
            raise ValueError(f"the format is {start!r}")
    except Exception as error:
        raise ValueError(
            f"not saved by skem, or damaged or cut off ({type(error).__name__}: {str(error)[:200]})"
        ) from error
    if found != class_name:
        raise ValueError(f"the file holds a fitted {found}: read it with {found}.load")
    if version != VERSION:
        raise ValueError(f"version {version} of the format; this skem reads version {VERSION}")
    return arrays, settings


def _arrays(stream: BinaryIO) -> dict[str, np.ndarray]:
    """The arrays of an npz archive by name, in native byte order."""
    length = stream.seek(0, io.SEEK_END)
    with zipfile.ZipFile(stream) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("arrays are compressed")
        if sum(entry.file_size for entry in entries) > length:
            raise ValueError("arrays are larger than the file")
        return {entry.filename.removesuffix(".npy"): _array(archive.read(entry)) for entry in entries}


def _array(content: bytes) -> np.ndarray:
    """An array in the npy format; nothing is allocated before its declared size is that of the content."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, fortran_order, dtype = read_header(stream, max_header_size=10_000)
    flat = np.frombuffer(content, dtype, offset=stream.tell())
    if min(shape, default=0) < 0:
        raise ValueError(f"an array of shape {shape}")
    array = flat.reshape(shape, order="F" if fortran_order else "C")
    return array.astype(dtype.newbyteorder("="), order="K", copy=True)
