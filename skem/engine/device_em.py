"""The E-step of ``em`` on a device: phi, two matrix products, and the softmax between them.

The M-step stays in NumPy on the host, so parameters and sums are all that travels in a pass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skem.engine.density import LogDensity
from skem.engine.device import (
    SUMMED_ROWS,
    Device,
    LogJoint,
    log_sum_exp,
    part_rows,
    quadratic_features,
    slices,
)
from skem.engine.moments import SufficientStatistics
from skem.engine.parameters import Mixture
from skem.engine.problem import Problem
from skem.engine.rows import Rows

CLOSE_PENALTIES = 40.0
"""Nats: components whose penalties differ by less are all told apart by a product of their responsibilities."""


class _Part(NamedTuple):
    """Rows of one class on a device: x (n, m) and their sample weights (n, 1)."""

    x: Any
    weights: Any


class EStep:
    """The E-step of `em` on a device; the rows stay there from one pass to the next.

    Parameters
    ----------
    device : Device
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._parts: dict[tuple[bytes, str], list[list[_Part]]] = {}

    def _parts_of(self, problem: Problem, dtype: np.dtype) -> list[list[_Part]]:
        """The rows of each class on the device, in parts that are multiples of ``SUMMED_ROWS`` rows or less than that."""
        key = problem.columns.tobytes(), dtype.name
        if key not in self._parts:
            for other in [other for other in self._parts if other[0] == key[0]]:
                del self._parts[other]
            K, H = len(problem.start.means), problem.covariance_type.n_quadratic(len(problem.columns))
            rows, most = problem.parts.all_rows, part_rows(H, K)
            self._parts[key] = [
                [self._part(rows, problem.columns, part, dtype) for part in slices(begin, stop, most)]
                for begin, stop in zip(rows.borders[:-1].tolist(), rows.borders[1:].tolist(), strict=True)
            ]
        return self._parts[key]

    def _part(self, rows: Rows, columns: np.ndarray, part: slice, dtype: np.dtype) -> _Part:
        x = rows.features.read(columns, part, dtype).T
        weights = rows.weights[part, None]
        return _Part(self._device.send(x, dtype), self._device.send(weights, dtype))

    def __call__(
        self,
        problem: Problem,
        mixture: Mixture,
        dtype: np.dtype,
        *,
        with_sums: bool = True,
        local: np.ndarray | bool = False,
        centres: np.ndarray | None = None,
    ) -> SufficientStatistics:
        """What `em` asks of an E-step; parameters as there."""
        device, log_sharing = self._device, problem.log_sharing
        density = LogDensity(
            mixture, problem.rounding_bound, dtype, ridge=problem.ridge, local=local, log_sharing=log_sharing
        )
        device.check(density.dtype)
        origins, centred = density.origins(local, centres)
        statistics = SufficientStatistics(
            np.zeros(mixture.weights.shape), np.zeros(density.w.shape), origins, density.dtype
        )
        for c, parts in enumerate(self._parts_of(problem, density.dtype)):
            active = np.flatnonzero(mixture.weights[:, c])
            log_weights, penalties = np.log(mixture.weights[active, c]), density.penalties[active]
            if log_sharing is not None:
                log_weights = log_weights + log_sharing[active, c]
                penalties = penalties - log_sharing[active, c]
            of_class = _ClassSums(
                device,
                LogJoint(device, density, active, log_weights),
                penalties,
                [(place, origins[k]) for place, k in enumerate(active) if centred[k]],
                density,
            )
            for part in parts:
                of_class.add(part, with_sums)
            statistics.log_likelihood += float(of_class.log_likelihood)
            statistics.objective += float(of_class.objective)
            if with_sums:
                sums = device.to_numpy(of_class.sums).astype(np.float64)
                statistics.sums[active] += sums
                statistics.counts[active, c] += sums[:, -1]
        statistics.log_likelihood /= problem.parts.total_weight
        statistics.objective /= problem.parts.total_weight
        return statistics


class _ClassSums:
    """What the rows of a class add to the statistics, kept on the device until the last of them."""

    def __init__(
        self,
        device: Device,
        log_joint: LogJoint,
        penalties: np.ndarray,
        centred: list[tuple[int, np.ndarray]],
        density: LogDensity,
    ) -> None:
        self._device, self._log_joint, self._family = device, log_joint, density.covariance_type.family
        self._penalties = device.send(penalties, density.dtype) if penalties.any() else None
        # log sum_k p_k = log sum_k p_k e^-pen_k + log sum_k r_k e^pen_k, where no e^pen_k is lost in rounding.
        self._relief, self._largest_penalty = None, float(penalties.max())
        if self._largest_penalty - penalties.min() < CLOSE_PENALTIES:
            self._relief = device.send(np.exp(penalties - self._largest_penalty)[:, None], density.dtype)
        self._centred = [(place, device.send(origin, density.dtype)) for place, origin in centred]
        self.log_likelihood: Any = 0.0
        self.objective: Any = 0.0
        self.sums: Any = device.send(np.zeros((len(penalties), density.w.shape[1])))

    def add(self, part: _Part, with_sums: bool) -> None:
        xp, widened = self._device.xp, self._device.widened
        phi, joint, common = self._log_joint(part.x)
        log_density, ratios, total = log_sum_exp(xp, joint)
        if self._penalties is None:
            unpenalised = log_density
        elif self._relief is None:
            unpenalised = log_sum_exp(xp, joint + self._penalties)[0]
        else:
            relief = xp.log(xp.matmul(ratios, self._relief) / total)
            unpenalised = log_density + relief + self._largest_penalty
        weights, common = widened(part.weights), widened(common)
        self.objective += xp.sum(weights * (widened(log_density) + common))
        self.log_likelihood += xp.sum(weights * (widened(unpenalised) + common))
        if not with_sums:
            return
        responsibilities = ratios * (part.weights / total)
        sums = self._weighted_sums(responsibilities, phi)
        for place, origin in self._centred:
            about_origin = quadratic_features(xp, part.x - origin, self._family)
            own = self._weighted_sums(responsibilities[:, place : place + 1], about_origin)
            sums[place, :] = own[0, :]
        self.sums += sums

    def _weighted_sums(self, responsibilities: Any, phi: Any) -> Any:
        """sum_n r_nk phi_nh, shape (k, H): of ``SUMMED_ROWS`` rows in their own type, of those sums in the widest."""
        xp, rows = self._device.xp, min(phi.shape[0], SUMMED_ROWS)
        stacked = [xp.reshape(a, (-1, rows, a.shape[1])) for a in (responsibilities, phi)]
        products = xp.matmul(xp.permute_dims(stacked[0], (0, 2, 1)), stacked[1])
        return xp.sum(products, axis=0, dtype=self._device.widest)
