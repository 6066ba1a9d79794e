"""Supervised EM over class-sorted chunks, as a generator of immutable states, one per pass.

The E-step (Pulford 2022, eq. 15) and the sums of the M-step (eqs. 16-18) are two matrix products per chunk
of rows. A chunk holds rows of one class (but of small data all rows), so it needs only the components that
class still uses: the class's *active set*. A pair (component, class) leaves it for good when its expected
count falls below ``ACTIVE_ROWS`` rows, and a pass gets cheaper as EM separates the classes. Leaving out n
rows' worth of a pair costs about n nats in that pass; but a pair that only a far-off row uses may grow back
from 1e-12 rows to one within a few passes, and from 1e-20 too, so the limit lies where none did.

The ridge is part of the model: with ``ridge`` = r, training uses log N(x; mu, P) - r/2 tr(P^-1), for which
P = S + r I *is* the M-step. The penalised log-likelihood, the ``objective``, therefore never falls but by rounding: that
of log-densities (``rounding.MAX_ERROR``) and that of covariances, which have three digits in any direction or stay as
they were. Where sums in float32 do not have as many, they are taken once more about the component's own mean, and so in
all passes that follow; where that is so of many components, in float64.

A component may be reserved, in part, for a class: ``log_sharing`` is added to its log-weights in the other classes in
the E-step and nowhere else (Titsias and Likas 2001, eqs. 27-37). It is one more penalty of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skem.engine import compiled
from skem.engine.density import LEAST, LogDensity, LogJoint, many_local
from skem.engine.moments import Moments, SufficientStatistics
from skem.engine.parameters import Mixture
from skem.engine.problem import Problem
from skem.engine.rows import Chunk


@dataclass(frozen=True)
class State:
    """What is known after a pass.

    Attributes
    ----------
    n_passes : int
        Passes done, p.
    mixture : Mixture
        The parameters after pass p.
    log_likelihood : float
        Weighted mean over rows of log p(x|c) under these parameters, in nats.
    objective : float
        The same with the penalised densities; what EM maximises.
    dtype : numpy dtype
        In which the log-densities were computed.
    """

    n_passes: int
    mixture: Mixture
    log_likelihood: float
    objective: float
    dtype: np.dtype


def passes(problem: Problem, max_iter: int) -> Iterator[State]:
    """Yield the state after each of ``max_iter`` passes of supervised EM on one block of features."""
    mixture, local = problem.start, np.zeros(len(problem.start.means), dtype=bool)
    dtype = problem.rows.features.X.dtype
    statistics = _statistics(problem, mixture, dtype)
    for p in range(1, max_iter + 1):
        mixture, doubtful, in_doubt_in_float32 = _m_step(problem, statistics, mixture, local)
        # Densities that float32 does not suffice for today it may suffice for tomorrow.
        dtype = np.dtype(np.float64) if in_doubt_in_float32 else dtype
        # In float32 what was in doubt once will be again; taken about its own mean its scatter is not.
        local = (local | doubtful) & (dtype != np.float64)
        statistics = _statistics(problem, mixture, dtype, with_sums=p < max_iter, local=local)
        yield State(p, mixture, statistics.log_likelihood, statistics.objective, statistics.dtype)


def statistics(problem: Problem, mixture: Mixture) -> SufficientStatistics:
    """What an E-step on the rows of a problem leaves under other parameters than those it starts with."""
    return _statistics(problem, mixture, problem.rows.features.X.dtype)


# The E-step


def _statistics(problem: Problem, mixture: Mixture, dtype: np.dtype, **options: Any) -> SufficientStatistics:
    """What an E-step leaves: that of the problem, if it brings one, or this one; ``options`` as in `_EStep`."""
    if problem.e_step is not None:
        return problem.e_step(problem, mixture, dtype, **options)
    return _EStep(problem, mixture, dtype, **options).statistics()


class _ChunkSums(NamedTuple):
    """What the rows of a chunk add to the statistics: two numbers, counts (k, C) and sums (k, H), if asked for."""

    log_likelihood: float
    objective: float
    counts: np.ndarray | None = None
    sums: np.ndarray | None = None


class _EStep:
    """The E-step under one set of parameters.

    Parameters
    ----------
    problem : Problem
    mixture : Mixture
    dtype : numpy dtype
        In which to compute if that is exact enough.
    with_sums : bool
        Whether an M-step follows.
    local : ndarray of bool, shape (K,), optional
        Components to centre and whiten by themselves in any case.
    centres : ndarray of shape (K, m), optional
        About which to take the sums of these components; else about their means. Those of all others are about zero.
    """

    def __init__(
        self,
        problem: Problem,
        mixture: Mixture,
        dtype: np.dtype,
        *,
        with_sums: bool = True,
        local: np.ndarray | bool = False,
        centres: np.ndarray | None = None,
    ) -> None:
        density = LogDensity(
            mixture,
            problem.rounding_bound,
            dtype,
            ridge=problem.ridge,
            local=local,
            log_sharing=problem.log_sharing,
        )
        self._problem, self._density, self._with_sums = problem, density, with_sums
        self._centred = np.zeros(len(mixture.means), dtype=bool)
        self._origins = np.zeros(mixture.means.shape)
        if len(density.local):
            # In float32 most local components are sharp only, not too narrow for sums about zero.
            self._centred[density.local if density.dtype == np.float64 else local] = True
            # Rounded to the type of the rows, which is then what they are taken about.
            origins = (mixture.means if centres is None else centres).astype(density.dtype)
            self._origins[self._centred] = origins[self._centred]
        self._read = problem.reader(density.dtype)
        self._log_joint = self._log_joint_of_classes()

    def _log_joint_of_classes(self) -> dict[int, LogJoint]:
        """The log joint densities of the active components, by the first of the classes of a chunk."""
        weights, log_sharing = self._density.mixture.weights, self._problem.log_sharing
        log_weights = compiled.components().logarithms(np.ascontiguousarray(weights))
        if log_sharing is not None:
            log_weights += log_sharing
        log_joint = {}
        for classes in self._problem.classes_of_chunks:
            active = np.flatnonzero(weights[:, classes].any(axis=1))
            # Adding to everything is several times faster than adding to an index list of everything.
            components: np.ndarray | slice = slice(None) if len(active) == len(weights) else active
            log_joint[classes.start] = LogJoint(
                self._density,
                components,
                log_weights[components, classes],
                None if log_sharing is None else log_sharing[components, classes],
            )
        return log_joint

    def statistics(self) -> SufficientStatistics:
        """The sums over all rows, and the mean log-likelihood and objective."""
        chunks, weights = self._problem.chunks, self._density.mixture.weights
        counts, sums = np.zeros(weights.shape), np.zeros(self._density.w.shape)
        statistics = SufficientStatistics(counts, sums, self._origins, self._density.dtype)
        for chunk, added in zip(chunks, self._problem.workers.map(self._sums_of_chunk, chunks), strict=True):
            statistics.log_likelihood += added.log_likelihood
            statistics.objective += added.objective
            if added.counts is not None and added.sums is not None:
                components = self._log_joint[chunk.classes.start].components
                counts[components, chunk.classes] += added.counts
                sums[components] += added.sums
        n = self._problem.rows.total_weight
        statistics.log_likelihood /= n
        statistics.objective /= n
        return statistics

    def _sums_of_chunk(self, chunk: Chunk) -> _ChunkSums:
        """The E-step on a chunk of rows."""
        problem, log_joint = self._problem, self._log_joint[chunk.classes.start]
        kernels, rows, (x, first) = compiled.kernels(), problem.rows, self._read(chunk.rows)
        sample_weights = rows.weights[chunk.rows]
        n, dtype, (k, H) = len(sample_weights), x.dtype, log_joint.w.shape
        log_likelihood, objective = np.empty((2, n))
        counts, sums = np.zeros(log_joint.terms[0].shape), np.zeros((k - 1 if self._with_sums else 0, H))
        of_local = log_joint.of_local(x[:, first : first + n])
        underflown, of_likelihood, of_objective = kernels.e_step(
            x,
            first,
            log_joint.w,
            log_joint.family,
            log_joint.terms,
            (chunk.borders, sample_weights),
            LEAST[dtype],
            problem.scratch.empty(kernels.memory_size(k - 1, H, n, log_joint.family), dtype),
            (log_joint.local, of_local),
            log_likelihood,
            objective,
            counts,
            sums,
        )
        if underflown:
            # The component that carries a row without the penalty has none of it with the penalty.
            lost = np.flatnonzero(np.isnan(log_likelihood))
            codes = rows.codes[chunk.rows][lost] if chunk.several_classes else 0
            log_likelihood[lost] = log_joint.without_penalties(x[:, first + lost], codes)
            of_likelihood = float(sample_weights @ log_likelihood)
        if not self._with_sums:
            return _ChunkSums(of_likelihood, of_objective)
        for place, k, responsibilities in zip(log_joint.local, log_joint.numbers, of_local, strict=True):
            if self._centred[k]:
                offsets = x[:, first : first + n] - self._origins[k, :, None].astype(dtype)
                weights = responsibilities[None].astype(dtype)
                sums[place] = problem.covariance_type.weighted_sums(offsets, weights)[0]
        return _ChunkSums(
            of_likelihood, of_objective, counts if chunk.several_classes else sums[:, -1:], sums
        )


# The M-step


def _covariances(problem: Problem, moments: Moments, previous: Mixture) -> tuple[np.ndarray, np.ndarray]:
    """P_k = sum_n w_nk (x_n - mu_k) (x_n - mu_k)^T / sum_n w_nk (eq. 18) + r I, and which are in doubt, (K,)."""
    return problem.covariance_type.maximise(
        moments, previous.covariances, problem.ridge, problem.variance_floor
    )


def _m_step(
    problem: Problem, statistics: SufficientStatistics, previous: Mixture, local: np.ndarray
) -> tuple[Mixture, np.ndarray, bool]:
    """The next parameters, whose sums were in doubt, (K,), and whether of too many in float32, so that float64 is needed.

    Those of ``local`` were taken about their own means already.
    """
    mixture, doubtful = _maximise(problem, statistics, previous)
    if not doubtful.any():
        return mixture, doubtful, False
    redone = doubtful | local
    dtype = statistics.dtype
    if dtype != np.float64 and many_local(redone, statistics.sums.shape[1]):
        in_float64 = _statistics(problem, previous, np.dtype(np.float64))
        mixture, doubtful, _ = _m_step(problem, in_float64, previous, np.zeros_like(local))
        return mixture, doubtful, True
    # Its scatter once more, about its new mean: from there nothing is lost.
    about_means = _statistics(problem, previous, dtype, local=redone, centres=mixture.means)
    statistics.replace(doubtful, about_means)
    mixture, _ = _maximise(problem, statistics, previous)
    return mixture, doubtful, False


def _maximise(
    problem: Problem, statistics: SufficientStatistics, previous: Mixture
) -> tuple[Mixture, np.ndarray]:
    """Eqs. 16-18 (32 for a tied covariance), and the components, (K,), that the result is in doubt about.

    A component without rows keeps its place with weight zero; a covariance that turned singular is kept
    while its mean moves on, which still cannot lower the objective. In doubt is a component so narrow, and so far
    from where its sums were taken about, that little or nothing is left of its scatter.
    """
    weights, means, phi, offsets, n_k = compiled.components().expectations(
        statistics.counts,
        statistics.sums,
        statistics.origins,
        np.ascontiguousarray(previous.means),
        problem.linear,
        problem.active_rows,
    )
    moments = Moments(phi, offsets, means, n_k, float(np.finfo(statistics.dtype).eps))
    covariances, doubtful = _covariances(problem, moments, previous)
    return Mixture(weights, means, covariances), doubtful
