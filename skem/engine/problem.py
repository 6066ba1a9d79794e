"""What stays the same from the first pass of a fit to the last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from skem.engine.covariance_type import CovarianceType
from skem.engine.linalg import DIGITS, EPS, LEAST_ROUNDING, LOG_2PI, SINGULAR
from skem.engine.moments import SufficientStatistics
from skem.engine.parameters import Mixture
from skem.engine.parts import Parts, Step
from skem.engine.rounding import RoundingBound
from skem.engine.rows import CHUNK_ROWS, Chunk, Rows
from skem.engine.threads import Workers

ACTIVE_ROWS = 1e-40
"""Expected rows below which a (component, class) pair is dropped; 0 keeps every pair that is not zero. At the settings
of Pulford's Table 1, 1e-8 moves the log-likelihood of MNIST by 2e-5 and 1e-20 that of Fashion-MNIST by 6e-6, relative;
1e-40 moves none by more than 1e-10 and no prediction, and saves half the time that 1e-8 does."""

CHUNK_WORK, LEAST_CHUNKS, MOST_FOLD = 2**25, 8, 4
"""Rows times components times quadratic features of a chunk, where that is up to so many times ``CHUNK_ROWS`` rows and leaves
so many chunks: a millisecond. Threads that ask for work more often wait for each other."""

ONE_CHUNK = 2**20
"""Rows times components times quadratic features up to which all classes are one chunk: computing what active sets
would leave out then takes less time than calling the same functions for every class."""


@dataclass
class Problem:
    """A mixture to be fitted to one block of features.

    Attributes
    ----------
    parts : Parts
        All features of all rows.
    columns : ndarray of int, shape (m,)
        The features of this block.
    start : Mixture
        Where to begin, in the units of ``parts``.
    covariance_type : CovarianceType
    workers : Workers
        Who works on the chunks; the result does not depend on how many they are.
    ridge : float
        r >= 0, in squared units of ``parts``.
    variance_floor : float
        Least variance of a component in any direction, in squared units of ``parts``.
    log_sharing : ndarray of shape (K, L), optional
        log lambda of each component in each class, at most zero. Where it is -inf, ``start`` has weight zero.
    active_rows : float
        See ``ACTIVE_ROWS``.
    at_a_time : int
        Passes of little data that are done in one call; those after the one that ends the fit are for nothing.
    e_step : callable, optional
        What does the E-step in place of `em`'s own: ``e_step(problem, mixture, dtype, with_sums=, local=, centres=)``.
    """

    parts: Parts
    columns: np.ndarray
    start: Mixture
    covariance_type: CovarianceType
    workers: Workers
    ridge: float = field(default=0.0, kw_only=True)
    variance_floor: float = field(default=0.0, kw_only=True)
    log_sharing: np.ndarray | None = field(default=None, kw_only=True)
    active_rows: float = field(default=ACTIVE_ROWS, kw_only=True)
    at_a_time: int = field(default=1, kw_only=True)
    e_step: Callable[..., SufficientStatistics] | None = field(default=None, kw_only=True)

    @cached_property
    def rounding_bound(self) -> RoundingBound:
        return RoundingBound(self.parts, self.columns, self.covariance_type, self.workers)

    def fold(self, step: Step) -> Any:
        """What a step comes to on all rows."""
        return self.parts.fold(step, self.workers)

    @cached_property
    def usual(self) -> bool:
        """Whether `components.next_parameters` does what follows an E-step, unless a covariance is in doubt."""
        own_matrices = self.covariance_type.name == "full"
        return own_matrices and self.variance_floor <= self.ridge and self.e_step is None

    @cached_property
    def one_joint(self) -> bool:
        """Whether an E-step has the same components for all rows, whatever their class."""
        return self.log_sharing is None and (self.parts.n_classes == 1 or self.one_chunk)

    @cached_property
    def one_chunk(self) -> bool:
        """Whether all rows are worked on at once."""
        return _is_one_chunk(self.parts.n_rows, len(self.start.means), self.n_quadratic)

    @property
    def n_quadratic(self) -> int:
        """H, the quadratic features."""
        return self.covariance_type.n_quadratic(len(self.columns))

    @cached_property
    def constants(self) -> tuple[float, ...]:
        """Those that `components.next_parameters` takes."""
        return EPS, LEAST_ROUNDING, SINGULAR, DIGITS, len(self.columns) * LOG_2PI

    @cached_property
    def linear(self) -> np.ndarray:
        """Where in phi the features themselves stand, (m,)."""
        return self.covariance_type.linear(len(self.columns))


def _is_one_chunk(n_rows: int, n_components: int, n_quadratic: int) -> bool:
    """Whether all classes are one chunk."""
    return n_rows <= CHUNK_ROWS and n_rows * n_quadratic * n_components <= ONE_CHUNK


def chunks(rows: Rows, n_components: int, n_quadratic: int) -> list[Chunk]:
    """How a part of the rows is cut up for so many components, K, and quadratic features, H."""
    n_rows = len(rows.weights)
    if _is_one_chunk(n_rows, n_components, n_quadratic):
        return rows.one_chunk
    work = n_rows * n_quadratic * n_components
    fold = min(CHUNK_WORK * n_rows // work, n_rows // LEAST_CHUNKS) // CHUNK_ROWS
    return rows.chunks(CHUNK_ROWS * min(max(fold, 1), MOST_FOLD))
