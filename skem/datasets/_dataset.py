"""Data sets, identified by the content of their arrays."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skem.datasets._decode import SourceError


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set and a record of its source.

    Attributes
    ----------
    name : str
        Name that `fetch` takes.
    data : ndarray of shape (n, ...)
        Images of uint8, (n, 28, 28) or (n, 32, 32, 3), or features of float64, (n, m). NaN is a missing value.
    target : ndarray of shape (n,), int64
        Index of the class of each sample in `target_names`; zeros if the data set has no labels.
    target_names : tuple of str
        Names of the classes.
    feature_names : tuple of str or None
        Names of the features; None for images.
    n_train : int or None
        Size of the published training set, the first samples of `data`. None if no split was published.
    record : dict
        Source, licence and checksum; see `fetch`.
    """

    name: str
    data: np.ndarray = field(repr=False)
    target: np.ndarray = field(repr=False)
    target_names: tuple[str, ...]
    feature_names: tuple[str, ...] | None
    n_train: int | None
    record: dict[str, Any] = field(repr=False)

    @property
    def train(self) -> tuple[np.ndarray, np.ndarray]:
        """The published training set (X, y).

        Raises
        ------
        ValueError
            If no split was published.
        """
        rows = slice(None, self._split())
        return self.data[rows], self.target[rows]

    @property
    def test(self) -> tuple[np.ndarray, np.ndarray]:
        """The published test set (X, y).

        Raises
        ------
        ValueError
            If no split was published.
        """
        rows = slice(self._split(), None)
        return self.data[rows], self.target[rows]

    def _split(self) -> int:
        if self.n_train is None:
            raise ValueError(
                f"{self.name!r} has no published training and test set: split its `data` and `target`, "
                "for example with sklearn.model_selection.StratifiedKFold"
            )
        return self.n_train


class DatasetNotAvailable(RuntimeError):
    """No source delivered the data set.

    Attributes
    ----------
    record : dict
        The value that `fetch` returns; ``record["reasons"]`` has one line per source.
    """

    def __init__(self, record: dict[str, Any], advice: str) -> None:
        super().__init__(record, advice)
        self.record = record

    def __str__(self) -> str:
        record, advice = self.args
        reasons = "".join(f"\n  - {reason}" for reason in record["reasons"])
        return f"data set {record['dataset']!r} is not available. Tried:{reasons}\n{advice}"


def content_hash(data: np.ndarray, target: np.ndarray) -> str:
    """SHA-256 over type, shape and little-endian bytes of both arrays, as a hexadecimal string."""
    digest = hashlib.sha256()
    for array in (data, target):
        array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        digest.update(f"{array.dtype.str}{list(array.shape)}".encode())
        digest.update(array.data)
    return digest.hexdigest()


def verify(data: np.ndarray, target: np.ndarray, spec: dict[str, Any]) -> None:
    """Refuse content that is not the published one."""
    shape = tuple(spec["shape"])
    if data.shape != shape or data.dtype != spec["dtype"] or target.shape != shape[:1]:
        raise SourceError(
            f"holds {data.dtype} {data.shape} with {target.shape} labels instead of {spec['dtype']} {shape}"
        )
    found = content_hash(data, target)
    if found != spec["sha256"]:
        raise SourceError(
            f"content is not the published one (sha256 {found[:12]}... instead of {spec['sha256'][:12]}...)"
        )
