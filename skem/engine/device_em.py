"""Training samples on a device and their E-step: whitening, softmax, and sums in whitened coordinates.

The M-step stays in NumPy on the host, so an iteration transfers parameters and sums only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skem.engine.device import Device, Whitening, log_sum_exp, slices
from skem.engine.expectation import Expectation
from skem.engine.parameters import Statistics
from skem.engine.parts import PartsInMemory, add
from skem.engine.threads import Workers

Tiles = tuple[Any, Any]
"""Samples of one class on a device, in tiles: x (T, m, S) and their sample weights (T, 1, S)."""


class DeviceParts(PartsInMemory):
    """Samples that stay on a device between iterations; initialisations read a copy on the host.

    Parameters
    ----------
    device : Device
    *data
        As for ``PartsInMemory``.
    """

    reads_pairs = False

    def __init__(self, device: Device, *data: Any) -> None:
        super().__init__(*data)
        self._device = device
        self._tiles: dict[bytes, tuple[np.dtype, list[list[Tiles]]]] = {}

    def fold(self, step: Expectation, workers: Workers) -> Statistics:
        self._device.check(step.dtype)
        return e_step(self._device, self._tiles_of(step), step)

    def _tiles_of(self, step: Expectation) -> list[list[Tiles]]:
        """The samples of each class on the device; kept until another type is needed."""
        key = step.columns.tobytes()
        if key not in self._tiles or self._tiles[key][0] != step.dtype:
            self._tiles.pop(key, None)
            rows, most = self.all_rows, self._device.work_numbers // step.parameters.gaussians.means.size
            classes = [
                [self._send(step, part) for part in slices(begin, stop, most)]
                for begin, stop in zip(rows.borders[:-1].tolist(), rows.borders[1:].tolist(), strict=True)
            ]
            self._tiles[key] = step.dtype, classes
        return self._tiles[key][1]

    def _send(self, step: Expectation, part: slice) -> Tiles:
        rows, send = self.all_rows, self._device.send_tiles
        x = rows.features.read(step.columns, part, step.dtype)
        return send(x, step.dtype), send(rows.weights[None, part], step.dtype)


def e_step(device: Device, classes: list[list[Tiles]], step: Expectation) -> Statistics:
    """The sums of all classes, each with the components that have a weight in it."""
    means, whiteners = step.parameters.gaussians.means, step.parameters.gaussians.whiteners
    total = Statistics(
        np.zeros(step.parameters.log_weights.shape),
        np.zeros(means.shape),
        np.zeros(whiteners.shape),
        dtype=step.dtype,
    )
    for c, tiles in enumerate(classes):
        active = np.flatnonzero(step.parameters.log_weights[:, c] > -np.inf)
        of_class = _ClassStep(device, step, c, active)
        sums = add(map(of_class, tiles))
        counts, offsets, scatter = (
            device.to_numpy(array).astype(np.float64) for array in (sums.counts, sums.offsets, sums.scatter)
        )
        offsets, scatter = of_class.whitening.undo(offsets, scatter)
        total.counts[active, c] += counts
        total.offsets[active] += offsets
        total.scatter[active if len(total.scatter) > 1 else slice(None)] += scatter
        total.log_likelihood += float(sums.log_likelihood)
        total.objective += float(sums.objective)
    return total


class _ClassStep:
    """The E-step for samples of one class, with sums of z instead of x - mu."""

    def __init__(self, device: Device, step: Expectation, c: int, active: np.ndarray) -> None:
        self._device, self.whitening = (
            device,
            Whitening(device, step.parameters.gaussians, active, step.dtype),
        )
        penalties = step.penalties(step.parameters.gaussians.traces)
        penalties = np.broadcast_to(penalties, step.parameters.log_weights.shape)[active, c, None]
        self._log_weights = device.send(step.parameters.log_weights[active, c, None] - penalties, step.dtype)
        self._penalties = device.send(penalties, step.dtype) if penalties.any() else None
        self._shape = step.parameters.gaussians.whiteners.shape

    def __call__(self, tiles: Tiles) -> Statistics:
        (x, weights), xp, widened = tiles, self._device.xp, self._device.widened
        z, joint = self.whitening(x)
        joint = joint + self._log_weights
        objective, ratios, total = log_sum_exp(xp, joint)
        log_likelihood = objective
        if self._penalties is not None:
            log_likelihood = log_sum_exp(xp, joint + self._penalties)[0]
        responsibilities = ratios * (weights / total)
        weighted = xp.expand_dims(responsibilities, axis=2) * z
        if len(self._shape) == 3:
            scatter = xp.matmul(weighted, xp.permute_dims(z, (0, 1, 3, 2)))
        else:
            scatter = xp.sum(weighted * z, axis=3)
        scatter = self._over_tiles(scatter)
        return Statistics(
            self._over_tiles(xp.sum(responsibilities, axis=2)),
            self._over_tiles(xp.sum(weighted, axis=3)),
            xp.sum(scatter, axis=0, keepdims=True) if self._shape[0] == 1 else scatter,
            xp.sum(widened(weights) * widened(log_likelihood)),
            xp.sum(widened(weights) * widened(objective)),
        )

    def _over_tiles(self, sums: Any) -> Any:
        return self._device.xp.sum(sums, axis=0, dtype=self._device.widest)
