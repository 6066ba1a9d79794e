"""The E-step where the rows are: on a device of an array library that follows the array API standard.

Only what touches rows is computed there: phi, the two matrix products and the softmax between them. The M-step, Cholesky
factors, and what decides whether a type is exact enough stay in NumPy on the host, so that parameters and sums are all
that travels in a pass. There are no active sets below whole classes, and no tiles: a device is faster with few large products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skem.engine.class_density import Block
from skem.engine.density import LogDensity
from skem.engine.moments import SufficientStatistics
from skem.engine.parameters import MATRICES, SPHERICAL, Mixture
from skem.engine.problem import Problem
from skem.engine.rounding import RoundingBound
from skem.engine.rows import Features
from skem.engine.threads import Workers, single_threaded

PART_NUMBERS = 2**24
"""Numbers in phi and in the joint densities of a part of the rows: 64 MiB each in float32."""

SUMMED_ROWS = 256
"""Rows that are summed in their own type; sums of more have fewer digits in float32."""

CLOSE_PENALTIES = 40.0
"""Nats: components whose penalties differ by less are all told apart by a product of their responsibilities."""


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


class _Part(NamedTuple):
    """Rows of one class on a device: x (n, m) and their sample weights (n, 1)."""

    x: Any
    weights: Any


def _features(xp: Any, x: Any, family: int) -> Any:
    """phi of rows (n, m), shape (n, H), in the order of `CovarianceType.features`."""
    ones = xp.ones_like(x[:, :1])
    if family == SPHERICAL:
        return xp.concat([x, xp.sum(x * x, axis=1, keepdims=True), ones], axis=1)
    if family != MATRICES:
        return xp.concat([x, x * x, ones], axis=1)
    of_feature = [piece for i in range(x.shape[1]) for piece in (x[:, i : i + 1], x[:, i : i + 1] * x[:, i:])]
    return xp.concat([*of_feature, ones], axis=1)


def _log_sum_exp(xp: Any, joint: Any) -> tuple[Any, Any, Any]:
    """log sum_k exp of (n, k), shape (n, 1); exp(. - max), (n, k); and the sums of these, (n, 1)."""
    largest = xp.max(joint, axis=1, keepdims=True)
    ratios = xp.exp(joint - largest)
    total = xp.sum(ratios, axis=1, keepdims=True)
    return xp.log(total) + largest, ratios, total


class _LogJoint:
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
            arrays = [device.send(a, dtype) for a in (whitening.origin.T, whitening.rest.T, whitening.inverse.T)]
            self._local.append((place, arrays, float(whitening.log_scale + log_weights[place])))

    def __call__(self, x: Any) -> tuple[Any, Any, Any]:
        """For x (n, m): phi (n, H), the joint log-densities (n, k), and what is to be added to each row of them, (n, 1)."""
        xp = self._device.xp
        phi = _features(xp, x, self._family)
        joint = xp.matmul(phi, self._w)
        joint, common = joint[:, :-1], joint[:, -1:]
        for place, (origin, rest, inverse), log_scale in self._local:
            centred = x - origin
            z = (xp.matmul(centred, inverse) if inverse.shape[0] == x.shape[1] else centred * inverse) - rest
            joint[:, place] = log_scale - 0.5 * xp.sum(z * z, axis=1) - common[:, 0]
        return phi, joint, common


def _part_rows(n_quadratic: int, n_components: int) -> int:
    """How many rows to work on at a time: a multiple of ``SUMMED_ROWS``."""
    return max(PART_NUMBERS // max(n_quadratic, n_components + 1) // SUMMED_ROWS, 1) * SUMMED_ROWS


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
            rows, most = problem.rows, _part_rows(H, K)
            self._parts[key] = [
                [self._part(problem, part, dtype) for part in _slices(begin, stop, most)]
                for begin, stop in zip(rows.borders[:-1].tolist(), rows.borders[1:].tolist(), strict=True)
            ]
        return self._parts[key]

    def _part(self, problem: Problem, rows: slice, dtype: np.dtype) -> _Part:
        x = problem.rows.features.read(problem.columns, rows, dtype).T
        weights = problem.rows.weights[rows, None]
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
        centred = np.zeros(len(mixture.means), dtype=bool)
        centred[density.local if density.dtype == np.float64 else local] = True
        origins = (mixture.means if centres is None else centres).astype(density.dtype)
        origins = np.where(centred[:, None], origins, 0.0)
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
                _LogJoint(device, density, active, log_weights),
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
        statistics.log_likelihood /= problem.rows.total_weight
        statistics.objective /= problem.rows.total_weight
        return statistics


def _slices(begin: int, stop: int, most: int) -> Iterator[slice]:
    """Rows in multiples of ``SUMMED_ROWS``, up to ``most``, and the rest."""
    while begin < stop:
        n = min(most, (stop - begin) // SUMMED_ROWS * SUMMED_ROWS) or stop - begin
        yield slice(begin, begin + n)
        begin += n


class _ClassSums:
    """What the rows of a class add to the statistics, kept on the device until the last of them."""

    def __init__(
        self,
        device: Device,
        log_joint: _LogJoint,
        penalties: np.ndarray,
        centred: list[tuple[int, np.ndarray]],
        density: LogDensity,
    ) -> None:
        self._device, self._log_joint, self._family = device, log_joint, density.covariance_type.family
        self._penalties = device.send(penalties, density.dtype)
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
        log_density, ratios, total = _log_sum_exp(xp, joint)
        if self._relief is None:
            unpenalised = _log_sum_exp(xp, joint + self._penalties)[0]
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
            about_origin = _features(xp, part.x - origin, self._family)
            own = self._weighted_sums(responsibilities[:, place : place + 1], about_origin)
            sums[place, :] = own[0, :]
        self.sums += sums

    def _weighted_sums(self, responsibilities: Any, phi: Any) -> Any:
        """sum_n r_nk phi_nh, shape (k, H): of ``SUMMED_ROWS`` rows in their own type, of those sums in the widest."""
        xp, rows = self._device.xp, min(phi.shape[0], SUMMED_ROWS)
        stacked = [xp.reshape(a, (-1, rows, a.shape[1])) for a in (responsibilities, phi)]
        products = xp.matmul(xp.permute_dims(stacked[0], (0, 2, 1)), stacked[1])
        return xp.sum(products, axis=0, dtype=self._device.widest)


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
        log_joint = _LogJoint(device, density, np.arange(K), np.zeros(K))

    def parts() -> Iterator[tuple[Any, Any]]:
        for rows in _slices(0, len(features.X), _part_rows(density.w.shape[1], K)):
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
                    [_log_sum_exp(xp, xp.take(joint, k, axis=1) + weights)[0] for k, weights in classes], axis=1
                )
            )
            + device.widened(common)
            for joint, common in parts
        ]
        total = xp.concat(log_densities) + total
    return total
