"""Densities and the E-step on a device of an array library that follows the array API standard.

Only computations on samples run there. Factors of covariances, the choice of a type that is exact enough, and the M-step stay in
NumPy on the host, so an iteration transfers parameters and sums only. There are no tiles as in ``kernels``: a device is faster with
few large products. The module is loaded with the first array of another library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skem.engine.density import Block
from skem.engine.expectation import Expectation
from skem.engine.parameters import Gaussians, Statistics
from skem.engine.parts import PartsInMemory, add
from skem.engine.rows import Rows
from skem.engine.threads import Workers

CPU_NUMBERS, GPU_NUMBERS = 2**19, 2**24
"""Numbers of an array for all components and features of some samples: a CPU needs arrays that fit its cache (with PyTorch, 32
times larger ones took three to six times as long), a GPU needs few large ones."""

TILE = 256
"""Samples of a tile, which are summed in the type of the computation; sums of more have fewer digits in float32."""


@dataclass(frozen=True)
class Device:
    """A device of an array library.

    Attributes
    ----------
    xp : module
        The array namespace.
    device : object
    name : str
        Name for messages.
    has_float64 : bool
    to_numpy : callable
        From an array of the namespace to NumPy's.
    """

    xp: Any
    device: Any
    name: str
    has_float64: bool
    to_numpy: Callable[[Any], np.ndarray]

    @property
    def work_numbers(self) -> int:
        """Largest size of an array during a computation."""
        return CPU_NUMBERS if "cpu" in str(self.device).lower() else GPU_NUMBERS

    @property
    def widest(self) -> Any:
        """The type of sums over many samples."""
        return self.xp.float64 if self.has_float64 else self.xp.float32

    def send(self, array: np.ndarray, dtype: np.dtype | type = np.float64) -> Any:
        """Copy an array of floats from the host to the device."""
        on_host = np.ascontiguousarray(array, dtype=dtype if self.has_float64 else np.float32)
        return self.xp.asarray(on_host, device=self.device, copy=True)

    def send_tiles(self, x: np.ndarray, dtype: np.dtype) -> Any:
        """Copy features (m, n) of samples to the device as tiles (T, m, S): S is ``TILE``, or n where that is less."""
        m, n = x.shape
        return self.send(x.reshape(m, -1, min(n, TILE)).swapaxes(0, 1), dtype)

    def widened(self, array: Any) -> Any:
        """Cast an array of the device to the widest type."""
        return self.xp.astype(array, self.widest, copy=False)

    def check(self, dtype: np.dtype) -> None:
        """Raise ValueError if the device lacks a type."""
        if dtype == np.float64 and not self.has_float64:
            raise ValueError(
                f"float32 is not exact enough for this mixture on these samples, and {self.name} has no float64: use arrays "
                "on the CPU, or standardize=True or a larger reg_covar"
            )

    # Densities of new samples

    def _log_densities(self, features: Rows, block: Block) -> tuple[np.dtype, Iterator[Any]]:
        """The type of the computation, and log N(x; mu_k, P_k) of consecutive samples, (T, K, S)."""
        gaussians, weights = block.gaussians, block.mixture.weights
        (K, m), dtype = gaussians.means.shape, features.X.dtype
        if not gaussians.is_float32_safe(weights, float(features.extent[block.columns].max())):
            dtype = np.dtype(np.float64)
        self.check(dtype)
        whitening = DeviceWhitening(self, gaussians, np.arange(K), dtype)
        parts = (
            whitening(self.send_tiles(features.read(block.columns, rows, dtype), dtype))[1]
            for rows in _tile_slices(0, len(features.X), self.work_numbers // (K * m))
        )
        return dtype, parts

    def _joined(self, parts: list[Any]) -> Any:
        """Values (n, K) in the widest type, from tiles (T, K, S)."""
        xp = self.xp
        return xp.concat(
            [self.widened(xp.reshape(xp.permute_dims(p, (0, 2, 1)), (-1, p.shape[1]))) for p in parts]
        )

    def component_log_density(self, features: Rows, block: Block) -> Any:
        """log N(x; mu_k, P_k) in the engine's units, shape (n, K), on the device."""
        return self._joined(list(self._log_densities(features, block)[1]))

    def class_log_density(self, features: Rows, blocks: Sequence[Block], log_volumes: Sequence[float]) -> Any:
        """As `density.class_log_density`, on the device."""
        xp, total = self.xp, -sum(log_volumes)
        for block in blocks:
            dtype, parts = self._log_densities(features, block)
            classes = []
            for weights in block.mixture.weights.T:
                active = np.flatnonzero(weights)
                log_weights = self.send(np.log(weights[active, None]), dtype)
                classes.append((xp.asarray(active, device=self.device), log_weights))
            of_block = [
                xp.concat(
                    [_softmax(xp, xp.take(joint, k, axis=1) + weights)[0] for k, weights in classes], axis=1
                )
                for joint in parts
            ]
            total = self._joined(of_block) + total
        return total


def _softmax(xp: Any, joint: Any) -> tuple[Any, Any, Any]:
    """For (T, K, S): log sum_k exp(joint), (T, 1, S); exp(joint - max over k); and the sums of the latter, (T, 1, S)."""
    largest = xp.max(joint, axis=1, keepdims=True)
    ratios = xp.exp(joint - largest)
    total = xp.sum(ratios, axis=1, keepdims=True)
    return xp.log(total) + largest, ratios, total


class DeviceWhitening:
    """z = U x - U mu_k and log N(x; mu_k, P_k) = c_k - |z|^2 / 2 of some components on a device."""

    def __init__(self, device: Device, gaussians: Gaussians, components: np.ndarray, dtype: np.dtype) -> None:
        means, U = gaussians.means[components], gaussians.whiteners
        self._xp, self._matrices = device.xp, U.ndim == 3
        tied = self._matrices and len(U) == 1
        U = (U if tied else U[components]).astype(dtype).astype(np.float64)
        bias = (U @ means[:, :, None])[:, :, 0] if self._matrices else U * means
        rest = bias - bias.astype(dtype)  # Float32 would shift the sums by it.
        self._biases = [device.send(b[:, :, None], dtype) for b in ([bias, rest] if rest.any() else [bias])]
        self._log_scales = device.send(gaussians.log_scales[components, None], dtype)
        self._U = U
        self._factors = device.send(U.reshape(-1, U.shape[-1]) if self._matrices else U[:, :, None], dtype)

    def __call__(self, x: Any) -> tuple[Any, Any]:
        """For tiles (T, m, S): z (T, K, m, S) and log-densities (T, K, S)."""
        xp, (n_tiles, m, n) = self._xp, x.shape
        if self._matrices:
            z = xp.reshape(xp.matmul(self._factors, x), (n_tiles, -1, m, n))
        else:
            z = xp.expand_dims(x, axis=1) * self._factors
        for bias in self._biases:
            z = z - bias
        return z, self._log_scales - 0.5 * xp.sum(z * z, axis=2)

    def undo(self, sums: np.ndarray, scatter: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """On the host, sums of x - mu and of its products, from those of z, in the shapes of ``Statistics``."""
        if not self._matrices:
            return sums / self._U, scatter / self._U**2
        L = np.linalg.inv(self._U)
        return (L @ sums[:, :, None])[:, :, 0], L @ scatter @ np.swapaxes(L, 1, 2)


def _tile_slices(begin: int, stop: int, most: int) -> Iterator[slice]:
    """Slices of whole tiles, up to ``most`` samples but at least one tile, and the rest."""
    most = max(most // TILE, 1) * TILE
    while begin < stop:
        n = min(most, (stop - begin) // TILE * TILE) or stop - begin
        yield slice(begin, begin + n)
        begin += n


# The E-step

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
        """The sums of all classes, each with the components that have a weight in it."""
        self._device.check(step.dtype)
        gaussians, log_weights = step.parameters.gaussians, step.parameters.log_weights
        scatter = np.zeros(gaussians.whiteners.shape)
        total = Statistics(
            np.zeros(log_weights.shape), np.zeros(gaussians.means.shape), scatter, dtype=step.dtype
        )
        for c, tiles in enumerate(self._tiles_of(step)):
            active = np.flatnonzero(log_weights[:, c] > -np.inf)
            of_class = _ClassSums(self._device, step, c, active)
            sums = add(map(of_class, tiles))
            counts, offsets, scatter = (
                self._device.to_numpy(array).astype(np.float64)
                for array in (sums.counts, sums.offsets, sums.scatter)
            )
            offsets, scatter = of_class.whitening.undo(offsets, scatter)
            total.counts[active, c] += counts
            total.offsets[active] += offsets
            total.scatter[active if len(total.scatter) > 1 else slice(None)] += scatter
            total.log_likelihood += float(sums.log_likelihood)
            total.objective += float(sums.objective)
        total.scatter = step.covariance_type.scatter(total.scatter)
        return total

    def _tiles_of(self, step: Expectation) -> list[list[Tiles]]:
        """The samples of each class on the device; kept until another type is needed."""
        key = step.columns.tobytes()
        if key not in self._tiles or self._tiles[key][0] != step.dtype:
            self._tiles.pop(key, None)
            rows, most = self.whole, self._device.work_numbers // step.parameters.gaussians.means.size
            classes = [
                [self._send(step, part) for part in _tile_slices(begin, stop, most)]
                for begin, stop in zip(rows.borders[:-1].tolist(), rows.borders[1:].tolist(), strict=True)
            ]
            self._tiles[key] = step.dtype, classes
        return self._tiles[key][1]

    def _send(self, step: Expectation, part: slice) -> Tiles:
        rows, send = self.whole, self._device.send_tiles
        x = rows.read(step.columns, part, step.dtype)
        return send(x, step.dtype), send(rows.weights[None, part], step.dtype)


class _ClassSums:
    """The E-step for samples of one class, with sums of z instead of x - mu."""

    def __init__(self, device: Device, step: Expectation, c: int, active: np.ndarray) -> None:
        self._device, self.whitening = (
            device,
            DeviceWhitening(device, step.parameters.gaussians, active, step.dtype),
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
        objective, ratios, total = _softmax(xp, joint)
        log_likelihood = objective
        if self._penalties is not None:
            log_likelihood = _softmax(xp, joint + self._penalties)[0]
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
