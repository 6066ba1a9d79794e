"""Rows that come in blocks, one for each part of them: what Dask collections and files have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skem.engine.parts import Executor


def is_elsewhere(X: object) -> bool:
    """Whether rows are a Dask collection, or a file such as ``skem.datasets.ParquetRows``."""
    return is_dask(X) or hasattr(X, "read_block")


def is_dask(X: object) -> bool:
    return hasattr(X, "__dask_graph__")


class Block(NamedTuple):
    """Some consecutive rows as they are given: features (n, M), labels (n,) and weights (n,), if there are any."""

    X: np.ndarray
    labels: np.ndarray | None = None
    weights: np.ndarray | None = None


class Source(NamedTuple):
    """Blocks as an executor has them, and what is known of them without reading any.

    Attributes
    ----------
    executor : Executor
    blocks : sequence
        Of `Block`.
    sizes : list of int
        Rows of each block.
    n_features : int
    dtype : numpy dtype
        Float32 or float64, which features are to be in.
    names : object
        What scikit-learn looks for the names of features in.
    weighted : bool
        Whether there are sample weights.
    """

    executor: Executor
    blocks: Sequence[Any]
    sizes: list[int]
    n_features: int
    dtype: np.dtype
    names: object
    weighted: bool
