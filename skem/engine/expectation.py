"""The E-step in chunks, each with the components that its classes use.

A chunk holds samples of one class (but of little data all of them), so it needs only the components that class still uses: its
*active set*. A pair (component, class) leaves it for good when its expected count falls below ``ACTIVE_ROWS`` samples, and an
iteration gets cheaper as EM separates the classes. Leaving out n samples' worth of a pair costs about n nats in that iteration;
but a pair that only a far-off sample uses may grow back from 1e-20 samples to one within a few iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from skem.engine import compiled
from skem.engine.covariances import Maximised
from skem.engine.density import (
    KernelArrays,
    float64_scratch,
    kernel_arrays,
    scratch_of,
    statistics_of,
    zero_sums,
)
from skem.engine.linalg import product
from skem.engine.parameters import Statistics
from skem.engine.problem import Problem, chunks
from skem.engine.rows import Chunk, Rows
from skem.engine.threads import Scratch


class _ClassModel(NamedTuple):
    """The components that some classes use, as `kernels.e_step` takes them; ``components`` is None for all."""

    components: np.ndarray | None
    arrays: KernelArrays
    log_scales: np.ndarray
    log_weights: np.ndarray
    penalties: np.ndarray


class Expectation:
    """The E-step under one set of parameters. It holds no samples and can be pickled: it goes to where the samples are.

    Parameters
    ----------
    problem : Problem
        Only its model is kept.
    parameters : Maximised
    dtype : numpy dtype
        Type of the computation.
    with_sums : bool
        True if an M-step follows.

    Attributes
    ----------
    columns, covariance_type, parameters, dtype
        As given.
    pairs : bool
        True if a component needs samples as pairs of numbers.
    """

    def __init__(self, problem: Problem, parameters: Maximised, dtype: np.dtype, with_sums: bool) -> None:
        self.columns, self.covariance_type = problem.columns, problem.covariance_type
        self.parameters, self.dtype = parameters, dtype
        self._ridge, self._log_sharing = problem.ridge, problem.log_sharing
        self.pairs = parameters.gaussians.needs_pairs(dtype)
        K, m = parameters.mixture.means.shape
        self._n_products = K * problem.covariance_type.n_products(m)
        first, *rest = problem.covariance_type.scatter_shape(K, m)
        self._scatter_shape = (first if with_sums else 0, *rest)  # as the kernels take it: empty without sums
        self._models: dict[tuple[int, int], _ClassModel] = {}
        self._whole: _ClassModel | None = None  # see `chunks`

    def __getstate__(self) -> dict[str, Any]:
        # They are made again sooner than sent.
        return vars(self) | {"_models": {}, "_whole": None}

    def penalties(self, traces: np.ndarray) -> np.ndarray:
        """Penalties of log-densities in the objective, (K, L) or (K, 1), from tr(P_k^-1)."""
        penalties = (0.5 * self._ridge * traces)[:, None]
        return penalties if self._log_sharing is None else penalties - self._log_sharing

    def chunks(self, rows: Rows) -> list[Chunk]:
        """The chunks of a part; the models of their classes are made here, by one thread."""
        if self._whole is None:
            gaussians = self.parameters.gaussians
            self._whitening, arrays = kernel_arrays(gaussians, self.dtype)
            log_weights, penalties = self.parameters.log_weights, self.penalties(gaussians.traces)
            self._whole = _ClassModel(None, arrays, gaussians.log_scales, log_weights, penalties)
        of_part = chunks(rows, self._n_products)
        for chunk in of_part:
            key = chunk.classes.start, chunk.classes.stop
            if key not in self._models:
                self._models[key] = self._new_model(self._whole, chunk.classes)
        return of_part

    def _new_model(self, whole: _ClassModel, classes: slice) -> _ClassModel:
        if classes.stop - classes.start == whole.log_weights.shape[1]:
            return whole
        log_weights = np.ascontiguousarray(whole.log_weights[:, classes])
        penalties = whole.penalties
        if penalties.shape[1] > 1:
            penalties = np.ascontiguousarray(penalties[:, classes])
        active = (log_weights > -np.inf).any(axis=1)
        if active.all():
            return whole._replace(log_weights=log_weights, penalties=penalties)
        k = np.flatnonzero(active)
        arrays = tuple(array[k] for array in whole.arrays)
        return _ClassModel(k, arrays, whole.log_scales[k], log_weights[k], penalties[k])

    def of_chunk(
        self, scratch: Scratch, unit: tuple[Rows, Chunk, Callable[[slice], tuple[np.ndarray, int]]]
    ) -> tuple[slice, Statistics]:
        """The classes of a chunk of samples, and the sums over it, for the components of these classes."""
        rows, chunk, read = unit
        model = self._models[chunk.classes.start, chunk.classes.stop]
        weights, (x, first) = rows.weights[chunk.rows], read(chunk.rows)
        (k, C), (U, *_) = model.log_weights.shape, model.arrays
        m, gaussians = U.shape[1], model.arrays[1:]
        # Of one feature they are diagonal, and so is the shape of their sums.
        is_spherical, kernels = self.covariance_type.name == "spherical" and m > 1, compiled.kernels()
        memory = scratch_of(scratch, 2 * k if is_spherical else k, m, x.dtype)
        squares = memory[-k:] if is_spherical else None
        if self._whitening is not None:
            x, first = self._whitening(x, first, len(weights), memory), 0
        first_size, *shape = self._scatter_shape
        sums = zero_sums(k, m, C, (min(first_size, k), *shape))
        samples, numbers = (x, first, chunk.borders, weights), float64_scratch(k, x.dtype)
        log_likelihood, objective, exact = kernels.e_step(
            samples,
            U,
            gaussians,
            (model.log_scales, model.log_weights, model.penalties, numbers),
            *sums,
            memory,
            squares,
        )
        if not exact:
            # The components that carry a sample without the penalties have none of it with them.
            without = model.log_scales, model.log_weights, np.zeros((k, 1)), numbers
            none = zero_sums(k, m, C, (0, *shape))
            log_likelihood, *_ = kernels.e_step(samples, U, gaussians, without, *none, memory, squares)
        statistics = statistics_of(sums, m, self.dtype)
        statistics.log_likelihood, statistics.objective = log_likelihood, objective
        return chunk.classes, statistics

    def add(self, total: Statistics | None, value: tuple[slice, Statistics]) -> Statistics:
        """The sums of the chunks so far, None before the first, and of one more."""
        classes, added = value
        model = self._models[classes.start, classes.stop]
        if total is None:
            if model is self._whole:
                return added
            mixture, scatter = self.parameters.mixture, np.zeros(self._scatter_shape)
            counts, offsets = np.zeros(mixture.weights.shape), np.zeros(mixture.means.shape)
            total = Statistics(counts, offsets, scatter, dtype=self.dtype)
        total.log_likelihood += added.log_likelihood
        total.objective += added.objective
        if len(total.scatter):
            k = slice(None) if model.components is None else model.components
            total.counts[k, classes] += added.counts
            total.offsets[k] += added.offsets
            total.scatter[k if len(total.scatter) > 1 else slice(None)] += added.scatter
        return total

    def finish(self, sums: Statistics) -> Statistics:
        """The sums of whitened samples in the coordinates of features: x - mu = L (z - U mu)."""
        assert self._whole is not None
        _, _, narrow, _ = self._whole.arrays
        if len(sums.scatter):
            sums.narrow = narrow if self.pairs else None
            if self._whitening is not None:
                P = np.array(self.parameters.mixture.covariances, ndmin=3)
                L = compiled.matrices().marginal_factors(P, np.arange(P.shape[-1]))[0][0]
                scatter = product(product(L, sums.scatter), L.T)
                # Rounding makes it asymmetric where samples are far out in the coordinates of a narrow start.
                sums.offsets, sums.scatter = (
                    product(sums.offsets, L.T),
                    (scatter + scatter.transpose(0, 2, 1)) / 2,
                )
        return sums
