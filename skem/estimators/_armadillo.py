"""Mixtures in binary files of Armadillo's ``gmm_diag`` and ``gmm_full``."""

from __future__ import annotations

import io
import math
from typing import Any, BinaryIO

import numpy as np

CUBE, FIELD, MATRIX = b"ARMA_CUB_BIN_FN008\n", b"ARMA_FLD_BIN\n", b"ARMA_MAT_BIN_FN008\n"
"""Headers in double precision: a cube has the parameters of ``gmm_diag``, a field of matrices those of ``gmm_full``."""


def read_armadillo(stream: BinaryIO) -> dict[str, Any] | None:
    """Read the arguments of ``GaussianMixture.from_parameters``; None, at the start of the file, for another format."""
    header = stream.readline(64)
    if header not in (CUBE, FIELD):
        stream.seek(0)
        return None
    try:
        if header == CUBE:
            cube = _array(stream, 3)
            if len(cube) < 2 or cube.shape[2] != 2:
                raise ValueError(f"the cube must have shape (m + 1, K, 2), got {cube.shape}")
            means, variances = cube[1:, :, 0].T, cube[1:, :, 1].T
            parameters = {"weights": cube[0, :, 0], "means": means, "covariances": variances}
            return parameters | {"covariance_type": "diag"}
        n_matrices = int(stream.readline(64)) * int(stream.readline(64))
        means, weights, *matrices = (_matrix(stream) for _ in range(n_matrices))
        parameters = {"weights": weights.ravel(), "means": means.T, "covariances": np.array(matrices)}
        return parameters | {"covariance_type": "full"}
    except (ValueError, IndexError) as error:
        raise ValueError(f"an Armadillo file that is cut off or of another shape: {error}") from error


def _matrix(file: BinaryIO) -> np.ndarray:
    if (header := file.readline(64)) != MATRIX:
        raise ValueError(f"the header must be {MATRIX!r}, got {header[:20]!r}")
    return _array(file, 2)


def _array(file: BinaryIO, n_axes: int) -> np.ndarray:
    """Read a line with the shape of an array, then its elements."""
    shape = [int(size) for size in file.readline(64).split()]
    place = file.tell()
    n_bytes = file.seek(0, io.SEEK_END) - place
    if len(shape) != n_axes or min(shape) < 1 or 8 * math.prod(shape) > n_bytes:
        raise ValueError(f"{n_bytes} bytes hold no array of {n_axes} axes and shape {shape}")
    file.seek(place)
    return np.frombuffer(file.read(8 * math.prod(shape)), dtype="<f8").reshape(shape, order="F")
