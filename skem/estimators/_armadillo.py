"""Mixtures that Armadillo's ``gmm_diag`` and ``gmm_full`` saved as binary files."""

from __future__ import annotations

import io
from typing import Any, BinaryIO

import numpy as np

HEADERS = {b"ARMA_CUB_BIN_FN008", b"ARMA_FLD_BIN"}
"""Headers of models with variances, and with covariance matrices, in double precision."""


def read_armadillo(stream: BinaryIO) -> dict[str, Any] | None:
    """Arguments of ``GaussianMixture.from_parameters`` in such a file; None, at the start of the file, if it is another.

    Raises
    ------
    ValueError
        A file that is cut off or of another shape.
    """
    header = stream.readline(64).rstrip(b"\n")
    if header not in HEADERS:
        stream.seek(0)
        return None
    try:
        return _mixture(header, stream)
    except (ValueError, IndexError) as error:
        raise ValueError(f"an Armadillo file that is cut off or of another shape: {error}") from error


def _mixture(header: bytes, file: BinaryIO) -> dict[str, Any]:
    """A ``gmm_diag``, one cube of (m + 1, K, 2), or a ``gmm_full``, a field of matrices."""
    if header.startswith(b"ARMA_CUB"):
        rows, n_components, n_slices = _sizes(file, 3)
        cube = _numbers(file, rows * n_components * n_slices).reshape(
            (rows, n_components, n_slices), order="F"
        )
        if n_slices != 2 or rows < 2:
            raise ValueError(f"a cube of shape {cube.shape}")
        parameters = {"weights": cube[0, :, 0], "means": cube[1:, :, 0].T, "covariances": cube[1:, :, 1].T}
        return parameters | {"covariance_type": "diag"}
    n_matrices = _sizes(file, 1)[0] * _sizes(file, 1)[0]
    means, weights, *matrices = (_matrix(file) for _ in range(n_matrices))
    parameters = {"weights": weights.ravel(), "means": means.T, "covariances": np.array(matrices)}
    return parameters | {"covariance_type": "full"}


def _sizes(file: BinaryIO, n: int) -> list[int]:
    """The ``n`` numbers of a line."""
    sizes = [int(word) for word in file.readline(64).split()]
    if len(sizes) != n or min(sizes) < 0:
        raise ValueError(f"{n} sizes expected, got {sizes}")
    return sizes


def _numbers(file: BinaryIO, n: int) -> np.ndarray:
    place = file.tell()
    left = (file.seek(0, io.SEEK_END) - place) // 8
    if left < n:
        raise ValueError(f"{n} numbers expected, got {left}")
    file.seek(place)
    return np.frombuffer(file.read(8 * n), dtype="<f8")


def _matrix(file: BinaryIO) -> np.ndarray:
    if (header := file.readline(64).rstrip(b"\n")) != b"ARMA_MAT_BIN_FN008":
        raise ValueError(f"a matrix expected, got {header[:20]!r}")
    shape = _sizes(file, 2)
    return _numbers(file, shape[0] * shape[1]).reshape(shape, order="F")
