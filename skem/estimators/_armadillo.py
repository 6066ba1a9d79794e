"""Mixtures in binary files of Armadillo's ``gmm_diag`` and ``gmm_full``."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

CUBE, FIELD, MATRIX = b"ARMA_CUB_BIN_FN008\n", b"ARMA_FLD_BIN\n", b"ARMA_MAT_BIN_FN008\n"
"""Headers in double precision: a cube has the parameters of ``gmm_diag``, a field of matrices those of ``gmm_full``."""


def read_armadillo(file: str | os.PathLike[str] | BinaryIO, make: Callable[..., Any]) -> Any:
    """The mixture that ``make`` returns for the parameters in a file; ValueError names the file if it holds no mixture."""
    name: object = file
    if isinstance(file, (str, os.PathLike)):
        content = Path(file).read_bytes()
    else:
        name, content = getattr(file, "name", "file"), file.read()
    try:
        return make(**_parameters(io.BytesIO(content)))
    except (ValueError, IndexError) as error:
        raise ValueError(f"{name}: no mixture that Armadillo saved as binary: {error}") from error


def _parameters(stream: io.BytesIO) -> dict[str, Any]:
    """The arguments of ``GaussianMixture.from_parameters``."""
    header = stream.readline(64)
    if header == CUBE:
        cube = _array(stream, 3)
        if len(cube) < 2 or cube.shape[2] != 2:
            raise ValueError(f"the cube must have shape (m + 1, K, 2), got {cube.shape}")
        means, variances = cube[1:, :, 0].T, cube[1:, :, 1].T
        return {"weights": cube[0, :, 0], "means": means, "covariances": variances, "covariance_type": "diag"}
    if header != FIELD:
        raise ValueError(f"the header must be {CUBE!r} or {FIELD!r}, got {header[:20]!r}")
    n_matrices = int(stream.readline(64)) * int(stream.readline(64))
    means, weights, *matrices = (_matrix(stream) for _ in range(n_matrices))
    parameters = {"weights": weights.ravel(), "means": means.T, "covariances": np.array(matrices)}
    return parameters | {"covariance_type": "full"}


def _matrix(stream: io.BytesIO) -> np.ndarray:
    if (header := stream.readline(64)) != MATRIX:
        raise ValueError(f"the header must be {MATRIX!r}, got {header[:20]!r}")
    return _array(stream, 2)


def _array(stream: io.BytesIO, n_axes: int) -> np.ndarray:
    """Read a line with the shape of an array, then its elements."""
    shape = [int(size) for size in stream.readline(64).split()]
    n_bytes = len(stream.getbuffer()) - stream.tell()
    if len(shape) != n_axes or min(shape) < 1 or 8 * math.prod(shape) > n_bytes:
        raise ValueError(f"{n_bytes} bytes hold no array of {n_axes} axes and shape {shape}")
    return np.frombuffer(stream.read(8 * math.prod(shape)), dtype="<f8").reshape(shape, order="F")
