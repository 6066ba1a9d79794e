"""The E-step (Pulford 2022, eq. 15) as parameters that go to where the rows are.

A step holds no rows and can be pickled; what it leaves of each part of the rows are sums, see ``parts``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skem.engine import compiled
from skem.engine.density import LEAST, LogDensity, LogJoint
from skem.engine.problem import Problem, chunks
from skem.engine.rows import Chunk, Reader, Rows
from skem.engine.threads import Scratch

_NONE_LOCAL = np.empty((0, 0))


@dataclass
class Sums:
    """What rows add to the statistics: log-likelihood, objective, counts (K, L) and sums (K, H) of all components.

    Of a chunk those of its components and classes, (k, C) and (k, H), and zeros or nothing where no M-step follows.
    """

    log_likelihood: float
    objective: float
    counts: np.ndarray
    sums: np.ndarray

    def __add__(self, other: Self) -> Sums:
        return Sums(
            self.log_likelihood + other.log_likelihood,
            self.objective + other.objective,
            self.counts + other.counts,
            self.sums + other.sums,
        )


class EStep:
    """The E-step under one set of parameters.

    Parameters
    ----------
    problem : Problem
        Of which only the model is kept.
    density : LogDensity
    origins : ndarray of shape (K, m)
        About which the sums of ``centred`` components are taken.
    centred : ndarray of bool, shape (K,)
    with_sums : bool
        Whether an M-step follows.
    only_centred : bool
        Whether it needs the sums of the ``centred`` components alone: those of the others are zero then.
    """

    def __init__(
        self,
        problem: Problem,
        density: LogDensity,
        *,
        origins: np.ndarray,
        centred: np.ndarray,
        with_sums: bool,
        only_centred: bool,
    ) -> None:
        self.columns, self.dtype = problem.columns, density.dtype
        self._covariance_type, self._log_sharing = problem.covariance_type, problem.log_sharing
        self._density, self._with_sums, self._only_centred = density, with_sums, only_centred
        self._origins, self._centred = origins, centred
        self._log_weights = density.log_weights
        if self._log_sharing is not None:
            self._log_weights = self._log_weights + self._log_sharing
        self._log_joints: dict[tuple[int, int], LogJoint] = {}

    def __getstate__(self) -> dict[str, Any]:
        # They are made anew sooner than sent.
        return vars(self) | {"_log_joints": {}}

    def chunks(self, rows: Rows) -> list[Chunk]:
        """The chunks of a part; what their classes need is made here, by one thread."""
        of_part = chunks(rows, *self._density.w.shape)
        for chunk in of_part:
            self._log_joint(chunk.classes)
        return of_part

    def _log_joint(self, classes: slice) -> LogJoint:
        """The log joint densities of the components that some classes use."""
        key = classes.start, classes.stop
        found = self._log_joints.get(key)
        if found is None:
            found = self._log_joints[key] = self._new_log_joint(classes)
        return found

    def _new_log_joint(self, classes: slice) -> LogJoint:
        density, log_sharing = self._density, self._log_sharing
        weights = density.mixture.weights
        # Adding to everything is several times faster than adding to an index list of everything.
        components: np.ndarray | slice = slice(None)
        if not density.all_active:
            active = np.flatnonzero(weights[:, classes].any(axis=1))
            components = components if len(active) == len(weights) else active
        elif density.joint is not None and classes.stop - classes.start == weights.shape[1]:
            return LogJoint(density, components, self._log_weights, joint=density.joint)
        return LogJoint(
            density,
            components,
            self._log_weights[components, classes],
            None if log_sharing is None else log_sharing[components, classes],
        )

    def add(self, sums: Sums | None, chunk: Chunk, added: Sums) -> Sums:
        """The sums of a part, with those of one more chunk."""
        if sums is None:
            weights, w = self._density.mixture.weights, self._density.w
            if added.counts.shape == weights.shape and added.sums.shape == w.shape:
                return added
            sums = Sums(0.0, 0.0, np.zeros(weights.shape), np.zeros(w.shape))
        sums.log_likelihood += added.log_likelihood
        sums.objective += added.objective
        if self._with_sums:
            components = self._log_joint(chunk.classes).components
            sums.counts[components, chunk.classes] += added.counts
            sums.sums[components] += added.sums
        return sums

    def of_chunk(self, rows: Rows, chunk: Chunk, read: Reader, scratch: Scratch) -> Sums:
        """The E-step on a chunk of rows."""
        log_joint, kernels, (x, first) = self._log_joint(chunk.classes), compiled.kernels(), read(chunk.rows)
        sample_weights = rows.weights[chunk.rows]
        n, dtype, (k, H) = len(sample_weights), x.dtype, log_joint.w.shape
        log_likelihood, objective = np.empty(n), np.empty(n)
        counts, sums = np.zeros(log_joint.terms[0].shape), np.zeros((k - 1 if self._with_sums else 0, H))
        of_products = sums[:0] if self._only_centred else sums
        some_local = len(log_joint.local) > 0
        of_local = log_joint.of_local(x[:, first : first + n]) if some_local else _NONE_LOCAL
        underflown, of_likelihood, of_objective = kernels.e_step(
            x,
            first,
            log_joint.w,
            log_joint.family,
            log_joint.terms,
            (chunk.borders, sample_weights),
            LEAST[dtype],
            scratch.empty(kernels.memory_size(k - 1, H, len(x), n, log_joint.family), dtype),
            (log_joint.local, of_local),
            log_likelihood,
            objective,
            counts,
            of_products,
        )
        if underflown:
            # The component that carries a row without the penalty has none of it with the penalty.
            lost = np.flatnonzero(np.isnan(log_likelihood))
            codes = rows.codes[chunk.rows][lost] if chunk.several_classes else 0
            log_likelihood[lost] = log_joint.without_penalties(x[:, first + lost], codes)
            of_likelihood = float(sample_weights @ log_likelihood)
        if not self._with_sums:
            return Sums(of_likelihood, of_objective, counts, sums)
        if some_local and self._centred[log_joint.numbers].any():
            x = np.ascontiguousarray(x[:, first : first + n])
            for place, k, responsibilities in zip(log_joint.local, log_joint.numbers, of_local, strict=True):
                if self._centred[k]:
                    origin, weights = self._origins[k].astype(dtype), responsibilities.astype(dtype)
                    sums[place] = self._covariance_type.weighted_sums(x, origin, weights)
        if not chunk.several_classes:
            counts = sums[:, -1:].copy()
        return Sums(of_likelihood, of_objective, counts, sums)
