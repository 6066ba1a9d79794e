"""Samples in blocks, one for each part: the common form of Dask collections and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skem.engine.parts import Executor


def is_out_of_core(X: object) -> bool:
    """True for a Dask collection, or a file such as ``skem.datasets.ParquetRows``."""
    return is_dask(X) or hasattr(X, "read_block")


def is_dask(X: object) -> bool:
    return hasattr(X, "__dask_graph__")


class Block(NamedTuple):
    """Consecutive samples of the input: features (n, M), and optionally labels (n,) and weights (n,)."""

    X: np.ndarray
    labels: np.ndarray | None = None
    weights: np.ndarray | None = None


class Source(NamedTuple):
    """The blocks of an executor, and their properties that are known without reading them.

    Attributes
    ----------
    executor : Executor
    blocks : sequence
        The executor's references to `Block`.
    sizes : list of int
        Number of samples of each block.
    n_features : int
    dtype : numpy dtype
        Type of the features, float32 or float64.
    names : object
        Table from which scikit-learn takes the names of features.
    weighted : bool
        True if there are sample weights.
    """

    executor: Executor
    blocks: Sequence[Any]
    sizes: list[int]
    n_features: int
    dtype: np.dtype
    names: object
    weighted: bool
