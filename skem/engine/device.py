"""Log-densities where the rows are: on a device of an array library that follows the array API standard.

Only what touches rows is computed there. Factors of covariances, and what decides whether a type is exact enough, stay in
NumPy on the host. There are no tiles as in ``kernels``: a device is faster with few large products. The E-step on a device
is in ``device_em``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skem.engine.class_density import Block
from skem.engine.density import LogDensity
from skem.engine.parameters import MATRICES, SPHERICAL
from skem.engine.rounding import RoundingBound
from skem.engine.rows import Features
from skem.engine.threads import Workers, single_threaded

PART_NUMBERS = 2**24
"""Numbers in phi and in the joint densities of a part of the rows: 64 MiB each in float32."""

SUMMED_ROWS = 256
"""Rows that are summed in their own type; sums of more have fewer digits in float32."""


@dataclass(frozen=True)
class Device:
    """A device of an array library.

    Attributes
    ----------
    xp : module
        The array namespace.
    device : object
    name : str
        For messages.
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
    def widest(self) -> Any:
        """The type that sums over many rows are taken in."""
        return self.xp.float64 if self.has_float64 else self.xp.float32

    def send(self, array: np.ndarray, dtype: np.dtype | type = np.float64) -> Any:
        """An array of floats of the host on the device."""
        here = np.ascontiguousarray(array, dtype=dtype if self.has_float64 else np.float32)
        return self.xp.asarray(here, device=self.device, copy=True)

    def widened(self, array: Any) -> Any:
        """An array of the device in the widest type."""
        return self.xp.astype(array, self.widest, copy=False)

    def check(self, dtype: np.dtype) -> None:
        """Raise ValueError where the device lacks a type."""
        if dtype == np.float64 and not self.has_float64:
            raise ValueError(
                f"float32 is not exact enough for this mixture on these rows, and {self.name} has no float64: use arrays "
                "on the CPU, or standardize=True or a larger reg_covar"
            )


@dataclass(frozen=True)
class DeviceFeatures(Features):
    """Features of rows whose densities are wanted on a device.

    Attributes
    ----------
    device : Device
    """

    device: Device = None  # type: ignore[assignment]  # a field after others with defaults


def quadratic_features(xp: Any, x: Any, family: int) -> Any:
    """phi of rows (n, m), shape (n, H), in the order of `CovarianceType.features`."""
    ones = xp.ones_like(x[:, :1])
    if family == SPHERICAL:
        return xp.concat([x, xp.sum(x * x, axis=1, keepdims=True), ones], axis=1)
    if family != MATRICES:
        return xp.concat([x, x * x, ones], axis=1)
    of_feature = [piece for i in range(x.shape[1]) for piece in (x[:, i : i + 1], x[:, i : i + 1] * x[:, i:])]
    return xp.concat([*of_feature, ones], axis=1)


def log_sum_exp(xp: Any, joint: Any) -> tuple[Any, Any, Any]:
    """log sum_k exp of (n, k), shape (n, 1); exp(. - max), (n, k); and the sums of these, (n, 1)."""
    largest = xp.max(joint, axis=1, keepdims=True)
    ratios = xp.exp(joint - largest)
    total = xp.sum(ratios, axis=1, keepdims=True)
    return xp.log(total) + largest, ratios, total


class LogJoint:
    """Log-densities of components at rows, and what they have in common left apart."""

    def __init__(
        self, device: Device, density: LogDensity, components: np.ndarray, log_weights: np.ndarray
    ) -> None:
        self._device, self._family = device, density.covariance_type.family
        w = np.vstack([density.w[components], density.common])
        w[:-1, -1] += log_weights
        self._w = device.send(w.T, density.dtype)
        dtype, self._local = density.dtype, []
        for place in np.flatnonzero(np.isin(components, density.local)).tolist():
            whitening = density.whitening(int(components[place]), dtype)
            arrays = [
                device.send(a, dtype) for a in (whitening.origin.T, whitening.rest.T, whitening.inverse.T)
            ]
            self._local.append((place, arrays, float(whitening.log_scale + log_weights[place])))

    def __call__(self, x: Any) -> tuple[Any, Any, Any]:
        """For x (n, m): phi (n, H), the joint log-densities (n, k), and what is to be added to each row of them, (n, 1)."""
        xp = self._device.xp
        phi = quadratic_features(xp, x, self._family)
        joint = xp.matmul(phi, self._w)
        joint, common = joint[:, :-1], joint[:, -1:]
        for place, (origin, rest, inverse), log_scale in self._local:
            centred = x - origin
            z = (xp.matmul(centred, inverse) if inverse.shape[0] == x.shape[1] else centred * inverse) - rest
            joint[:, place] = log_scale - 0.5 * xp.sum(z * z, axis=1) - common[:, 0]
        return phi, joint, common


def part_rows(n_quadratic: int, n_components: int) -> int:
    """How many rows to work on at a time: a multiple of ``SUMMED_ROWS``."""
    return max(PART_NUMBERS // max(n_quadratic, n_components + 1) // SUMMED_ROWS, 1) * SUMMED_ROWS


def slices(begin: int, stop: int, most: int) -> Iterator[slice]:
    """Rows in multiples of ``SUMMED_ROWS``, up to ``most``, and the rest."""
    while begin < stop:
        n = min(most, (stop - begin) // SUMMED_ROWS * SUMMED_ROWS) or stop - begin
        yield slice(begin, begin + n)
        begin += n


# Densities of new rows


def _log_joints(
    features: DeviceFeatures, block: Block, workers: Workers
) -> tuple[np.dtype, Iterator[tuple[Any, Any]]]:
    """The type that is exact enough, and for one part of the rows after the other log N(x; mu_k, P_k) of all components.

    (n, K), less what they have in common, (n, 1).
    """
    device, K = features.device, len(block.mixture.means)
    with single_threaded():
        bound = RoundingBound(features, block.columns, block.covariance_type, workers)
        density = LogDensity(block.mixture, bound, features.X.dtype)
        device.check(density.dtype)
        log_joint = LogJoint(device, density, np.arange(K), np.zeros(K))

    def parts() -> Iterator[tuple[Any, Any]]:
        for rows in slices(0, len(features.X), part_rows(density.w.shape[1], K)):
            x = features.read(block.columns, rows, density.dtype).T
            yield log_joint(device.send(x, density.dtype))[1:]

    return density.dtype, parts()


def component_log_density(features: DeviceFeatures, block: Block, workers: Workers) -> Any:
    """log N(x; mu_k, P_k) in the engine's units, shape (n, K), on the device."""
    device = features.device
    _, parts = _log_joints(features, block, workers)
    return device.xp.concat([device.widened(joint) + device.widened(common) for joint, common in parts])


def class_log_density(
    features: DeviceFeatures, blocks: Sequence[Block], workers: Workers, log_volumes: Sequence[float]
) -> Any:
    """As `class_density.class_log_density`, on the device."""
    device, xp, total = features.device, features.device.xp, -sum(log_volumes)
    for block in blocks:
        dtype, parts = _log_joints(features, block, workers)
        classes = []
        for weights in block.mixture.weights.T:
            active = np.flatnonzero(weights)
            log_weights = device.send(np.log(weights[active]), dtype)
            classes.append((xp.asarray(active, device=device.device), log_weights))
        log_densities = [
            device.widened(
                xp.concat(
                    [log_sum_exp(xp, xp.take(joint, k, axis=1) + weights)[0] for k, weights in classes],
                    axis=1,
                )
            )
            + device.widened(common)
            for joint, common in parts
        ]
        total = xp.concat(log_densities) + total
    return total
