"""Fitted models in files: ``save`` and ``load``, npz archives in which nothing is pickled.

An archive holds arrays and one JSON text: the class, the version of the format, parameters and fitted attributes.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import secrets
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skem.engine.parameters import Mixture
from skem.engine.permissions import keep_permissions
from skem.estimators._array_api import to_numpy
from skem.estimators._state import LABEL_KINDS

Record = TypeVar("Record", bound=type)
File = str | os.PathLike[str] | BinaryIO
"""A path, or a file object opened in binary mode."""

FORMAT, VERSION = "skem.", 1
"""Start of the name of the format, before the class name, and version of the archives written by `save`."""

RECORDS: dict[str, type] = {"Mixture": Mixture}
"""Dataclasses that a file may hold, by name; `storable` adds one."""

STALE = 3600.0
"""Age in seconds from which on a temporary file was left by a killed process. A save takes seconds."""


class SavedMixin:
    """``save`` and ``load`` of an estimator.

    Its ``_state`` returns the fitted attributes by name, and ``_set_state`` removes them from such a state, checks and sets them.
    """

    _state: Callable[[], dict[str, Any]]

    def save(self, file: File) -> None:
        """Write the fitted model to a file, an npz archive in which nothing is pickled.

        Parameters that are random states or functions are left out. An existing file is replaced at once or not at all, and its
        permissions are kept. A killed process can leave a temporary file beside it, which a save an hour later removes.

        Parameters
        ----------
        file : str, path-like or binary file object

        Raises
        ------
        OSError
            A folder that is missing or not writable, a name that is too long, a full disk. The error names ``file``.
        ValueError
            A value that cannot be stored without pickle: class labels other than numbers, strings and booleans, or a function
            that the fitted model needs. Assigned parameters or attributes that ``load`` would refuse.
        """
        check_is_fitted(self)
        model: Any = getattr(self, "_final_estimator", self)
        cls, given, state = type(model), model.get_params(deep=False), to_numpy(self._state())
        arrays: dict[str, np.ndarray] = {}
        params = {}
        for name, value in given.items():
            with contextlib.suppress(ValueError):
                params[name] = _pack(value, f"params.{name}", arrays)
        try:
            attributes = {name: _pack(value, name, arrays) for name, value in state.items()}
            _restored(cls, given, state)
        except ValueError as error:
            raise ValueError(f"{cls.__name__} cannot be saved: {error}") from error
        settings = {"format": FORMAT + cls.__name__, "version": VERSION, "params": params}
        content = io.BytesIO()
        np.savez(content, **arrays, settings=np.array(json.dumps(settings | {"attributes": attributes})))  # type: ignore[arg-type]
        if hasattr(file, "write"):
            file.write(content.getbuffer())
        else:
            _replace(Path(file), content.getbuffer())

    @classmethod
    def load(cls, file: File) -> Any:
        """Read the model of a file that ``save`` wrote, to the bit.

        Parameters
        ----------
        file : str, path-like or binary file object
            File to read; a file object is read from its position to its end.

        Returns
        -------
        estimator
            Fitted estimator. Parameters that are not in the file have their defaults.

        Raises
        ------
        OSError
            The file cannot be opened.
        TypeError
            The file object is in text mode.
        ValueError
            The file is no archive, is damaged, or belongs to another class or another version of the format; or
            an array is invalid. Type, shape and range of each array are checked.
        """
        with reading(file, cls.__name__) as stream:
            return read_model(cls, stream)


@contextlib.contextmanager
def reading(file: File, class_name: str) -> Iterator[BinaryIO]:
    """Open a file, and turn every error that its content causes into a ValueError that names the file."""
    name: object = file
    if hasattr(file, "read"):
        name, content = getattr(file, "name", "file"), file.read()
        if not isinstance(content, bytes):
            raise TypeError(f"load: open the file in binary mode; read() returned {type(content).__name__}")
    with io.BytesIO(content) if hasattr(file, "read") else open(file, "rb") as stream:
        try:
            yield stream
        # Damaged bytes raise errors of all kinds in zipfile, json and NumPy, RecursionError and MemoryError among them.
        except Exception as error:
            reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            raise ValueError(f"{name}: no {class_name}: {reason}") from error


def read_model(cls: Any, stream: BinaryIO) -> Any:
    """Read a model from an archive; any exception means that it holds none, see `reading`."""
    try:
        arrays = _read_arrays(stream)
        settings = json.loads(str(arrays.pop("settings")))
        start, saved = settings["format"][: len(FORMAT)], settings["format"][len(FORMAT) :]
        if start != FORMAT:
            raise ValueError(f"the format is {start!r}")
        version = settings["version"]
    except Exception as error:
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise ValueError(
            f"not saved by skem, or damaged or cut off ({reason}); give a file that {cls.__name__}.save wrote"
        ) from error
    if saved != cls.__name__:
        raise ValueError(f"the file holds a fitted {saved}: read it with {saved}.load")
    if version != VERSION:
        raise ValueError(f"version {version} of the format; this skem reads version {VERSION}")
    params, state = (
        {name: _unpack(value, arrays) for name, value in settings[part].items()}
        for part in ("params", "attributes")
    )
    return _restored(cls, params, state)


def _restored(cls: Any, params: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
    """Make a fitted estimator; ValueError where parameters or attributes are wrong, missing or unknown."""
    model = cls(**params)
    model._validate_params()
    remaining = dict(state)
    model._set_state(remaining)
    if hasattr(cls, "_with_saved_scaler"):
        model = cls._with_saved_scaler(model, remaining)
    for name in remaining:
        raise ValueError(f"{name} is not an attribute of a fitted {cls.__name__}")
    return model


def storable(cls: Record) -> Record:
    """Decorate a dataclass that a file may hold."""
    RECORDS[cls.__name__] = cls
    return cls


def _pack(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    """Convert a value to JSON, and put its arrays into ``arrays`` as ``name`` or ``name.part``.

    Numbers, words, None and lists stay as they are. Any other value becomes a dictionary with one key, its kind: an array by
    its name in the archive, an array of objects by its elements, a tuple, a mapping, or a dataclass.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        elements = [_pack(element, f"{name}.{i}", arrays) for i, element in enumerate(value)]
        return elements if isinstance(value, list) else {"tuple": elements}
    if isinstance(value, Mapping) and not all(isinstance(key, str) for key in value):
        # JSON has no keys but text, and class labels may be numbers.
        return {"pairs": _pack([list(pair) for pair in value.items()], name, arrays)}
    if isinstance(value, Mapping):
        return {"mapping": {key: _pack(part, f"{name}.{key}", arrays) for key, part in value.items()}}
    if isinstance(value, np.ndarray) and value.dtype.kind in LABEL_KINDS:
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.ndarray):
        return {"objects": [_pack(element, f"an element of {name}", arrays) for element in value.tolist()]}
    if type(value) in RECORDS.values():
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return {type(value).__name__: _pack(parts, name, arrays)["mapping"]}
    raise ValueError(f"{name} is a {type(value).__name__}, and nothing is pickled")


def _unpack(packed: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """Convert back what `_pack` returned."""
    if isinstance(packed, list):
        return [_unpack(element, arrays) for element in packed]
    if not isinstance(packed, dict):
        return packed
    ((kind, content),) = packed.items()
    if kind == "array":
        return arrays[content]
    if kind == "tuple":
        return tuple(_unpack(content, arrays))
    if kind == "pairs":
        return dict(_unpack(content, arrays))
    if kind == "objects":
        objects = np.empty(len(content), dtype=object)
        objects[:] = _unpack(content, arrays)
        return objects
    parts = {name: _unpack(part, arrays) for name, part in content.items()}
    return parts if kind == "mapping" else RECORDS[kind](**parts)


def _read_arrays(stream: BinaryIO) -> dict[str, np.ndarray]:
    """Read the arrays of an npz archive by name, in native byte order."""
    length = stream.seek(0, io.SEEK_END)
    with zipfile.ZipFile(stream) as archive:
        entries = archive.infolist()
        # Otherwise a small file could fill the memory.
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("arrays are compressed")
        if sum(entry.file_size for entry in entries) > length:
            raise ValueError("arrays are larger than the file")
        arrays = {}
        for entry in entries:
            # Read as a whole, so that zipfile compares the checksum.
            array = np.lib.format.read_array(io.BytesIO(archive.read(entry)), allow_pickle=False)
            if not array.itemsize:
                raise ValueError(f"an array of {array.size} empty elements")
            native = array.dtype.newbyteorder("=")
            arrays[entry.filename.removesuffix(".npy")] = array.astype(native, copy=False)
        return arrays


def _replace(path: Path, content: memoryview) -> None:
    """Write a file beside ``path``, then rename it."""
    prefix = f".skem.{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}."
    # Not by tempfile, whose files only their owner may read.
    beside = path.parent / f"{prefix}{secrets.token_hex(8)}"
    try:
        for other in path.parent.glob(f"{prefix}*"):
            with contextlib.suppress(OSError):
                if other.stat().st_mtime < time.time() - STALE:
                    other.unlink()
        with open(beside, "xb") as file:
            keep_permissions(file.fileno(), path)
            file.write(content)
        os.replace(beside, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
