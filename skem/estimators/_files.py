"""Mixtures in files: our own format, an npz archive in which nothing is pickled, and Armadillo's."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

FORMAT = "skem.GaussianMixture"
VERSION = 1
"""Of the archives written here."""

HEADERS = {b"ARMA_CUB_BIN_FN008", b"ARMA_FLD_BIN"}
"""Of Armadillo's files of models with variances, and with covariance matrices, in double precision."""


def write_archive(path: str | os.PathLike, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Write named arrays, and settings that JSON can hold; a file of that name is replaced at once or not at all."""
    path = Path(path)
    file = tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False)  # noqa: SIM115
    try:
        with file:
            text = json.dumps({"format": FORMAT, "version": VERSION, **settings})
            contents: dict[str, Any] = {name: np.asarray(value) for name, value in arrays.items()}
            np.savez(file, settings=np.array(text), **contents)
        os.replace(file.name, path)
    except BaseException:
        os.unlink(file.name)
        raise


def read_archive(path: str | os.PathLike) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and settings of a file that ``write_archive`` wrote, or of a mixture that Armadillo saved.

    Raises
    ------
    ValueError
        A file that is neither, that is cut off, or of a later version.
    """
    with open(path, "rb") as file:
        header = file.readline(64).rstrip(b"\n")
        if header in HEADERS:
            try:
                return _armadillo(header, file)
            except (ValueError, IndexError) as error:
                raise ValueError(
                    f"{path}: an Armadillo file that is cut off or of another shape: {error}"
                ) from error
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
            settings = json.loads(str(arrays.pop("settings")))
            if settings.pop("format") != FORMAT:
                raise ValueError("another format")
            version = settings.pop("version")
    except (ValueError, KeyError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: neither a mixture saved by skem nor one saved by Armadillo") from error
    if version != VERSION:
        raise ValueError(f"{path}: version {version} of the format; this skem reads version {VERSION}")
    return arrays, settings


def _armadillo(header: bytes, file: BinaryIO) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """A ``gmm_diag``, one cube of (m + 1, K, 2), or a ``gmm_full``, a field of matrices."""
    if header.startswith(b"ARMA_CUB"):
        rows, n_components, n_slices = _sizes(file, 3)
        cube = _numbers(file, rows * n_components * n_slices).reshape(
            (rows, n_components, n_slices), order="F"
        )
        if n_slices != 2 or rows < 2:
            raise ValueError(f"a cube of shape {cube.shape}")
        arrays = {"weights": cube[0, :, 0], "means": cube[1:, :, 0].T, "covariances": cube[1:, :, 1].T}
        return arrays, {"params": {"covariance_type": "diag"}}
    n_matrices = _sizes(file, 1)[0] * _sizes(file, 1)[0]
    means, weights, *matrices = (_matrix(file) for _ in range(n_matrices))
    arrays = {"weights": weights.ravel(), "means": means.T, "covariances": np.array(matrices)}
    return arrays, {"params": {"covariance_type": "full"}}


def _sizes(file: BinaryIO, n: int) -> list[int]:
    """The ``n`` numbers of a line."""
    sizes = [int(word) for word in file.readline(64).split()]
    if len(sizes) != n or min(sizes) < 0:
        raise ValueError(f"{n} sizes expected, got {sizes}")
    return sizes


def _numbers(file: BinaryIO, n: int) -> np.ndarray:
    content = file.read(8 * n)
    if len(content) < 8 * n:
        raise ValueError(f"{n} numbers expected, got {len(content) // 8}")
    return np.frombuffer(content, dtype="<f8")


def _matrix(file: BinaryIO) -> np.ndarray:
    if (header := file.readline(64).rstrip(b"\n")) != b"ARMA_MAT_BIN_FN008":
        raise ValueError(f"a matrix expected, got {header[:20]!r}")
    shape = _sizes(file, 2)
    return _numbers(file, shape[0] * shape[1]).reshape(shape, order="F")
