"""Little data: passes of EM in one call each, or several in one, as long as there is nothing unusual about them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skem.engine import compiled, density
from skem.engine.moments import SufficientStatistics
from skem.engine.parameters import Mixture
from skem.engine.pauses import Pauses
from skem.engine.problem import Problem
from skem.engine.rows import Rows
from skem.engine.threads import Scratch

_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


class Pass(NamedTuple):
    """The parameters after a pass, and the means over rows of their log-likelihood and objective."""

    mixture: Mixture
    log_likelihood: float
    objective: float


class CompiledPasses:
    """Passes on rows that are one chunk.

    Parameters
    ----------
    problem : Problem
        With a covariance matrix per component.
    rows : Rows
    """

    def __init__(self, problem: Problem, rows: Rows) -> None:
        self._problem, self._rows = problem, rows
        self._shape = (
            len(problem.start.means),
            problem.parts.n_classes,
            len(problem.columns),
            problem.n_quadratic,
        )
        self._kept: dict[np.dtype, tuple[tuple[Any, ...], ...]] = {}
        self._pauses = Pauses()

    @classmethod
    def of(cls, problem: Problem) -> CompiledPasses | None:
        """Those of a problem, if its passes can be done like that."""
        rows, K, H = problem.parts.only_part, len(problem.start.means), problem.n_quadratic
        if rows is None or not problem.usual or not problem.one_chunk or problem.log_sharing is not None:
            return None
        # Errors in float32 are bounded here, not measured.
        return cls(problem, rows) if problem.parts.n_rows * K * H <= density.LEAST_MEASURED else None

    def __call__(
        self, mixture: Mixture, statistics: SufficientStatistics, dtype: np.dtype, left: int
    ) -> list[Pass]:
        """The next passes, of ``left``, from a mixture and its statistics, which become those after the last pass.

        There are none where the next one is unusual, and for some passes after that. ``dtype`` is the type to compute in
        where that is exact enough.
        """
        if not self._pauses.over():
            return []
        done = self._done(mixture, statistics, dtype, left)
        self._pauses.after(failed=not done)
        return done

    def _done(
        self, mixture: Mixture, statistics: SufficientStatistics, dtype: np.dtype, left: int
    ) -> list[Pass]:
        problem, (K, L, m, _) = self._problem, self._shape
        n, bound = min(left, problem.at_a_time), problem.rounding_bound
        if statistics.dtype not in self._kept:
            self._kept[statistics.dtype] = self._constant(statistics.dtype)
        rows, model, memory = self._kept[statistics.dtype]
        precision = (
            statistics.eps,
            dtype == _FLOAT32,
            statistics.dtype == _FLOAT32,
            bound.limits(_FLOAT64),
            bound.limits(_FLOAT32),
            bound.squared_extent,
        )
        history = np.empty((n, K, L)), np.empty((n, K, m)), np.empty((n, K, m, m)), np.empty(n), np.empty(n)
        arguments = (
            rows,
            model,
            precision,
            np.require(mixture.means, requirements=["C", "W"]),
            (statistics.counts, statistics.sums, statistics.origins),
            history,
            memory,
            left > n,
        )
        (done,) = problem.workers.map(lambda a: compiled.pass_loop().passes(*a), [arguments])
        total = problem.parts.total_weight
        return [
            Pass(
                Mixture(weights, means, covariances), float(log_likelihood / total), float(objective / total)
            )
            for weights, means, covariances, log_likelihood, objective in zip(*history, strict=True)
        ][:done]

    def _constant(self, dtype: np.dtype) -> tuple[tuple[Any, ...], ...]:
        """What is the same in all passes in a type: rows, model and memory, as `pass_loop.passes` takes them."""
        problem, rows, (K, L, m, H) = self._problem, self._rows, self._shape
        (chunk,), n_rows, family = rows.one_chunk, len(rows.weights), problem.covariance_type.made_for(K)
        x, _ = rows.features.reader(problem.columns, dtype)(chunk.rows)
        size = compiled.kernels().memory_size(K, H, m, n_rows, family)
        return (
            # All arrays are as they were compiled for.
            (x, chunk.borders, np.require(rows.weights, requirements=["C", "W"])),
            (
                problem.linear,
                float(problem.active_rows),
                float(problem.ridge),
                np.zeros(K, dtype=bool),
                problem.rounding_bound.largest_features,
                problem.constants,
                family,
                density.LEAST[dtype],
            ),
            (
                Scratch().empty(size, dtype),
                (np.arange(0), np.empty((0, 0))),
                np.empty((2, n_rows)),
                np.empty((K, L)),
                np.empty((K, H)),
            ),
        )
