"""The constants of a fit: what EM maximises, on which samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from skem.engine.covariances import Constraints, CovarianceType
from skem.engine.parameters import Mixture
from skem.engine.parts import Parts
from skem.engine.rows import CHUNK_ROWS, Chunk, Rows
from skem.engine.threads import Workers

ACTIVE_ROWS = 1e-40
"""Expected samples below which a (component, class) pair is dropped; 0 keeps every pair that is not zero. In the configurations
of Pulford's Table 1, 1e-8 moves the log-likelihood of MNIST by 2e-5 and 1e-20 that of Fashion-MNIST by 6e-6, relative;
1e-40 moves none by more than 1e-10 and no prediction, and saves half the time that 1e-8 does."""

CHUNK_WORK, LEAST_CHUNKS, MOST_FOLD = 2**25, 8, 4
"""Multiply-adds of a chunk, where that is at most so many times ``CHUNK_ROWS`` samples and leaves so many chunks: a millisecond.
Threads that ask for work more often wait for each other."""

ONE_CHUNK = 2**20
"""Multiply-adds up to which all classes are one chunk: calls per class would take longer than what active sets leave out."""


@dataclass(eq=False)
class Problem:
    """A mixture to be fitted to one block of features.

    Attributes
    ----------
    parts : Parts
        All features of all samples.
    columns : ndarray of int, shape (m,)
        The features of this block.
    start : Mixture
        Initial parameters, in the units of ``parts``.
    covariance_type : CovarianceType
    workers : Workers
        Threads for the chunks; the result does not depend on their number.
    ridge : float
        r >= 0, in squared units of ``parts``.
    variance_floor : float
        Least variance of a component in any direction, in squared units of ``parts``.
    log_sharing : ndarray of shape (K, L), optional
        log lambda of each component in each class, at most zero; ``start`` has weight zero where it is -inf.
    """

    parts: Parts
    columns: np.ndarray
    start: Mixture
    covariance_type: CovarianceType
    workers: Workers
    ridge: float = field(default=0.0, kw_only=True)
    variance_floor: float = field(default=0.0, kw_only=True)
    log_sharing: np.ndarray | None = field(default=None, kw_only=True)

    @cached_property
    def extent(self) -> float:
        """Largest absolute value of these features; ValueError if one of all features is too far from zero."""
        return float(self.parts.extent[self.columns].max())

    @cached_property
    def constraints(self) -> Constraints:
        """Constraints of the M-step."""
        return Constraints(self.ridge, self.variance_floor, ACTIVE_ROWS)


def chunks(rows: Rows, n_products: int) -> list[Chunk]:
    """The chunks of a part of the samples, for so many multiply-adds per sample."""
    n_rows = len(rows.weights)
    if n_rows <= CHUNK_ROWS and n_rows * n_products <= ONE_CHUNK:
        return rows.one_chunk
    fold = min(CHUNK_WORK // n_products, n_rows // LEAST_CHUNKS) // CHUNK_ROWS
    return rows.class_chunks(CHUNK_ROWS * min(max(fold, 1), MOST_FOLD))
