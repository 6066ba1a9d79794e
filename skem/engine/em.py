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
from typing import Any, NamedTuple

import numpy as np

from skem.engine import compiled
from skem.engine.compiled_passes import CompiledPasses
from skem.engine.density import LogDensity, Natural, many_local
from skem.engine.e_step import EStep
from skem.engine.moments import Moments, SufficientStatistics
from skem.engine.parameters import Mixture
from skem.engine.problem import Problem

_FLOAT64 = np.dtype(np.float64)


class State(NamedTuple):
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
    first_objective : float
        The objective of the parameters before the first pass.
    n_singular : int
        Components whose covariance was singular in the M-step, and so is not what their samples have.
    """

    n_passes: int
    mixture: Mixture
    log_likelihood: float
    objective: float
    dtype: np.dtype
    first_objective: float
    n_singular: int = 0


def passes(problem: Problem, max_iter: int) -> Iterator[State]:
    """Yield the state after each of ``max_iter`` passes of supervised EM on one block of features."""
    mixture, none = problem.start, np.zeros(len(problem.start.means), dtype=bool)
    dtype, local = problem.parts.dtype, none
    statistics, little, p = _statistics(problem, mixture, dtype), CompiledPasses.of(problem), 0
    first = statistics.objective
    while p < max_iter:
        if little is not None and True not in local.tolist():
            done = little(mixture, statistics, dtype, max_iter - p)
            for mixture, log_likelihood, objective in done:
                p += 1
                yield State(p, mixture, log_likelihood, objective, statistics.dtype, first)
            if done:
                continue
        p += 1
        natural, n_singular, usual = None, 0, _usual_m_step(problem, statistics, mixture, local)
        if usual is not None:
            mixture, natural = usual
        else:
            mixture, doubtful, in_doubt_in_float32, n_singular = _m_step(problem, statistics, mixture, local)
            # Densities that float32 does not suffice for today it may suffice for tomorrow.
            dtype = _FLOAT64 if in_doubt_in_float32 else dtype
            # In float32 what was in doubt once will be again; taken about its own mean its scatter is not.
            local = local | doubtful if dtype != _FLOAT64 else none
        statistics = _statistics(problem, mixture, dtype, natural, with_sums=p < max_iter, local=local)
        if statistics.dtype == _FLOAT64:
            local = none
        log_likelihood, objective = statistics.log_likelihood, statistics.objective
        yield State(p, mixture, log_likelihood, objective, statistics.dtype, first, n_singular)


def statistics(problem: Problem, mixture: Mixture) -> SufficientStatistics:
    """What an E-step on the rows of a problem leaves under other parameters than those it starts with."""
    return _statistics(problem, mixture, problem.parts.dtype)


def is_singular(problem: Problem) -> bool:
    """True if the covariance of all samples is singular, with the regularisation of a problem; it has one component."""
    start = problem.start
    return _m_step(problem, statistics(problem, start), start, np.zeros(1, dtype=bool))[-1] > 0


# The E-step


def _statistics(
    problem: Problem, mixture: Mixture, dtype: np.dtype, natural: Natural | None = None, **options: Any
) -> SufficientStatistics:
    """What an E-step leaves: that of the problem, if it brings one, or this one; arguments as in `_EStep`."""
    if problem.e_step is not None:
        return problem.e_step(problem, mixture, dtype, **options)
    return _EStep(problem, mixture, dtype, natural, **options).statistics()


class _EStep:
    """The E-step under one set of parameters.

    Parameters
    ----------
    problem : Problem
    mixture : Mixture
    dtype : numpy dtype
        In which to compute if that is exact enough.
    natural : tuple, optional
        As for `LogDensity`.
    with_sums : bool
        Whether an M-step follows.
    local : ndarray of bool, shape (K,), optional
        Components to centre and whiten by themselves in any case.
    centres : ndarray of shape (K, m), optional
        About which to take the sums of these components, and no others. By default theirs are about their means, and those of
        all others about zero.
    """

    def __init__(
        self,
        problem: Problem,
        mixture: Mixture,
        dtype: np.dtype,
        natural: Natural | None = None,
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
            natural=natural,
        )
        self._problem, self._density = problem, density
        self._origins, centred = density.origins(local, centres)
        self._step = EStep(
            problem,
            density,
            origins=self._origins,
            centred=centred,
            with_sums=with_sums,
            only_centred=centres is not None,
        )

    def statistics(self) -> SufficientStatistics:
        """The sums over all rows, and the mean log-likelihood and objective."""
        sums = self._problem.fold(self._step)
        n = self._problem.parts.total_weight
        return SufficientStatistics(
            sums.counts,
            sums.sums,
            self._origins,
            self._density.dtype,
            sums.log_likelihood / n,
            sums.objective / n,
        )


# The M-step


def _covariances(
    problem: Problem, moments: Moments, previous: Mixture
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P_k = sum_n w_nk (x_n - mu_k) (x_n - mu_k)^T / sum_n w_nk (eq. 18) + r I; which are in doubt, and singular, (K,)."""
    return problem.covariance_type.maximise(
        moments, previous.covariances, problem.ridge, problem.variance_floor
    )


def _of_expectations(
    problem: Problem, statistics: SufficientStatistics, previous: Mixture
) -> tuple[Any, ...]:
    """The arguments of `components.expectations`."""
    means = np.ascontiguousarray(previous.means)
    return statistics.counts, statistics.sums, statistics.origins, means, problem.linear, problem.active_rows


def _usual_m_step(
    problem: Problem, statistics: SufficientStatistics, previous: Mixture, local: np.ndarray
) -> tuple[Mixture, Natural] | None:
    """The next parameters and what `LogDensity` asks for, where each component has a matrix and none is in doubt."""
    if not problem.usual:
        return None
    usual, parameters, w, terms, joint = compiled.components().next_parameters(
        *_of_expectations(problem, statistics, previous),
        problem.ridge,
        statistics.eps,
        local,
        problem.rounding_bound.largest_features,
        problem.one_joint,
        problem.constants,
    )
    return (Mixture(*parameters), (w, terms, joint if problem.one_joint else None)) if usual else None


def _m_step(
    problem: Problem, statistics: SufficientStatistics, previous: Mixture, local: np.ndarray
) -> tuple[Mixture, np.ndarray, bool, int]:
    """The next parameters, whose sums were in doubt, (K,), and whether of too many in float32, so that float64 is needed.

    Last the number of singular components. Those of ``local`` were taken about their own means already.
    """
    mixture, doubtful, _ = _maximise(problem, statistics, previous)
    if True not in doubtful.tolist():  # several times faster than NumPy's any
        return mixture, doubtful, False, 0
    redone = doubtful | local
    dtype = statistics.dtype
    if dtype != _FLOAT64 and many_local(redone, statistics.sums.shape[1]):
        in_float64 = _statistics(problem, previous, _FLOAT64)
        mixture, doubtful, _, n_singular = _m_step(problem, in_float64, previous, np.zeros_like(local))
        return mixture, doubtful, True, n_singular
    # Its scatter once more, about its new mean: from there nothing is lost.
    about_means = _statistics(problem, previous, dtype, local=redone, centres=mixture.means)
    statistics.replace(doubtful, about_means)
    mixture, _, n_singular = _maximise(problem, statistics, previous)
    return mixture, doubtful, False, n_singular


def _maximise(
    problem: Problem, statistics: SufficientStatistics, previous: Mixture
) -> tuple[Mixture, np.ndarray, int]:
    """Eqs. 16-18 (32 for a tied covariance), the mask (K,) of components in doubt, and the number of singular ones.

    A component without rows keeps its place with weight zero; a covariance that turned singular is kept
    while its mean moves on, which still cannot lower the objective. In doubt is a component so narrow, and so far
    from where its sums were taken about, that little or nothing is left of its scatter.
    """
    weights, means, phi, offsets, n_k = compiled.components().expectations(
        *_of_expectations(problem, statistics, previous)
    )
    moments = Moments(phi, offsets, means, n_k, statistics.eps)
    covariances, doubtful, singular = _covariances(problem, moments, previous)
    return Mixture(weights, means, covariances), doubtful, int(singular.sum())
