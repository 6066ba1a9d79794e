"""The rows at which products of features get largest: the longest ones, and those with a feature at its largest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

LONG_ROWS = 16
"""How many of the longest rows are kept."""


@dataclass(frozen=True)
class FarRows:
    """What is far off among some rows, in units of the largest value of each feature.

    Attributes
    ----------
    squares : ndarray of shape (l,)
        |u_n|^2 for u_i = x_i / max |x_i| of the longest rows, the largest first.
    longest : ndarray of int, shape (l,)
        Which rows these are.
    values : ndarray of shape (m,)
        max_n |u_n| of each feature.
    largest : ndarray of int, shape (m,)
        Which rows have it.
    """

    squares: np.ndarray
    longest: np.ndarray
    values: np.ndarray
    largest: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray, extent: np.ndarray, first: int) -> Self:
        """Those among (m, n) features, with max |x_i| of all rows in ``extent`` (m, 1); the first row has number ``first``."""
        u = x / np.where(extent > 0, extent, 1.0)
        squares = np.einsum("in,in->n", u, u)
        longest = np.argsort(-squares, kind="stable")[:LONG_ROWS]
        np.abs(u, out=u)
        largest = u.argmax(axis=1)
        return cls(squares[longest], longest + first, u[np.arange(len(u)), largest], largest + first)

    @classmethod
    def of_all(cls, groups: Iterable[FarRows]) -> Self:
        """Those among several groups of rows, in order."""
        found = list(groups)
        squares = np.concatenate([group.squares for group in found])
        order = np.argsort(-squares, kind="stable")[:LONG_ROWS]
        values = np.stack([group.values for group in found])
        best = values.argmax(axis=0), np.arange(values.shape[1])
        longest = np.concatenate([group.longest for group in found])[order]
        return cls(squares[order], longest, values[best], np.stack([group.largest for group in found])[best])

    def moved(self, n_rows: int) -> FarRows:
        """The same rows, where there are ``n_rows`` before them."""
        return replace(self, longest=self.longest + n_rows, largest=self.largest + n_rows)

    @property
    def rows(self) -> np.ndarray:
        """Their numbers, in order."""
        return np.union1d(self.longest, self.largest)
