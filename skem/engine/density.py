"""Log-densities of samples under Gaussians and mixtures: log N(x; mu, P) = c - |U (x - mu)|^2 / 2, with U = L^-1 and P = L L^T.

Components with one covariance are whitened once: z = U x, and what is left are unit Gaussians about U mu_k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skem.engine import compiled, missing
from skem.engine.covariances import CovarianceType
from skem.engine.linalg import logarithms
from skem.engine.parameters import FLOAT64, LEAST32, LEAST64, Gaussians, Mixture, Statistics
from skem.engine.rows import Rows
from skem.engine.threads import CACHE_LINE, Scratch, Workers

LEAST_SUM = {
    np.dtype(np.float32): float(np.exp(LEAST32) / np.finfo(np.float32).eps),
    np.dtype(np.float64): float(np.exp(LEAST64) / np.finfo(np.float64).eps),
}
"""Sums of densities over the largest down to which those that count as zero are lost in rounding, see `kernels.log_sum_exp`."""


class Whitening(NamedTuple):
    """z = U (x - centre), of components that share one covariance: U (m, m), lower triangular, and U centre (m,)."""

    whitener: np.ndarray
    shift: np.ndarray

    def __call__(self, x: np.ndarray, first: int, n: int, scratch: np.ndarray) -> np.ndarray:
        """Whitened samples (m, n) of the columns ``first`` to ``first + n`` of x, in its type."""
        z = np.empty((len(x), n), x.dtype)
        compiled.kernels().whiten((x, first), tuple(a.astype(x.dtype) for a in self), z, scratch)
        return z


KernelArrays = tuple[np.ndarray, ...]
"""Gaussians as the kernels take them: U, and the arrays of ``gaussians`` there."""


def empty_arrays(shape: tuple[int, int], shape_of_U: tuple[int, ...], dtype: np.dtype) -> KernelArrays:
    """Memory for `matrices.arrange`, of means of a shape (K, m)."""
    K, m = shape
    return np.empty(shape_of_U, dtype), np.empty((K, 4, m), dtype), np.empty(K, bool), np.empty(shape)


def arrange(
    means: np.ndarray, U: np.ndarray, shifts: np.ndarray, sensitivities: np.ndarray, arrays: KernelArrays
) -> bool:
    """See `matrices.arrange`."""
    whiteners, *others = arrays
    # A flat view takes numba as long to compile as the loops.
    gaussians = means, np.ascontiguousarray(U).reshape(-1), shifts, sensitivities
    return compiled.matrices().arrange(gaussians, (whiteners.reshape(-1), *others))


def kernel_arrays(gaussians: Gaussians, dtype: np.dtype) -> tuple[Whitening | None, KernelArrays]:
    """The arrays that densities are computed with in a type, and how samples are whitened before, if at all."""
    means, U, shifts, whitening = gaussians.means, gaussians.whiteners, gaussians.shifts, None
    sensitivities = gaussians.sensitivities
    if gaussians.is_shared:
        centre = shifts.mean(axis=0)
        whitening = Whitening(U[0], centre)
        means = shifts = shifts - centre
        U, sensitivities = np.ones(means.shape), np.zeros(len(means))
    arrays = empty_arrays(means.shape, U.shape, dtype)
    arrange(means, U, shifts, sensitivities, arrays)
    return whitening, arrays


def scratch_of(scratch: Scratch, n_joint: int, m: int, dtype: np.dtype) -> np.ndarray:
    """Memory for the kernels."""
    kernels = compiled.kernels()
    # With rows as long as a power of two, one place of all rows would share a few places of the cache.
    rows, length = (
        kernels.scratch_rows(n_joint, m),
        kernels.tile_samples(dtype) + CACHE_LINE // dtype.itemsize,
    )
    return scratch.empty(rows * length, dtype).reshape(rows, length)


def float64_scratch(K: int, dtype: np.dtype) -> np.ndarray:
    """Memory of `kernels.e_step` for numbers of K components, and of the samples of a tile, in float64."""
    return np.empty((7, max(K, compiled.kernels().tile_samples(dtype))))


def zero_sums(
    K: int, m: int, C: int, scatter_shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts, offsets and scatter as the kernels take them: with an even number of features."""
    first, *rest = scatter_shape
    even = m + m % 2
    return (
        np.zeros((K, C)),
        np.zeros((K, even)),
        np.zeros((first, *[even if size == m else size for size in rest])),
    )


def statistics_of(sums: tuple[np.ndarray, np.ndarray, np.ndarray], m: int, dtype: np.dtype) -> Statistics:
    """Sums of the kernels as `Statistics` of m features."""
    counts, offsets, scatter = sums
    if offsets.shape[1] != m:
        offsets = np.ascontiguousarray(offsets[:, :m])
        scatter = np.ascontiguousarray(scatter[:, :m] if scatter.ndim == 2 else scatter[:, :m, :m])
    return Statistics(counts, offsets, scatter, dtype=dtype)


def log_normal(x: np.ndarray, gaussians: Gaussians, prepared: Any = None) -> np.ndarray:
    """log N(x; mu_k, P_k), (K, n) in the type of x (m, n), or of pairs (2 m, n); ``prepared`` are `kernel_arrays` for this type."""
    whitening, arrays = prepared or kernel_arrays(gaussians, x.dtype)
    x = np.ascontiguousarray(x)
    K, m = gaussians.means.shape
    scratch = scratch_of(Scratch(), K, m, x.dtype)
    if whitening is not None:
        x = whitening(x, 0, x.shape[1], scratch)
    result, groups = np.empty((K, x.shape[1]), x.dtype), np.where(arrays[2], np.arange(K), -1.0)
    compiled.kernels().log_normal(
        (x, 0), arrays[0], arrays[1:], gaussians.log_scales, groups, result, scratch
    )
    return result


def weighted_sums(
    x: np.ndarray, means: np.ndarray, responsibilities: np.ndarray, covariance_type: CovarianceType
) -> Statistics:
    """Sums about the means over samples x (m, n), weighted by ``responsibilities`` (K, n), which may be negative; counts are (K, 1)."""
    K, m = means.shape
    # Spherical covariances have no distances from the densities here, and take the sums of diagonal ones.
    shape = (K, m) if covariance_type.diagonal else covariance_type.scatter_shape(K, m)
    sums = zero_sums(K, m, 1, shape)
    compiled.kernels().weighted_sums(
        np.ascontiguousarray(x),
        (np.ascontiguousarray(means, dtype=x.dtype), np.ascontiguousarray(means)),
        np.ascontiguousarray(responsibilities, dtype=x.dtype),
        sums,
        scratch_of(Scratch(), 1, len(x), x.dtype),
    )
    statistics = statistics_of(sums, len(x), x.dtype)
    statistics.scatter = covariance_type.scatter(statistics.scatter)
    return statistics


def log_sum_exp(log_joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn (K, n) log-densities into exp(. - max over k) in place; return log sum_k exp, in float64, and the max, (n,)."""
    kernels, n = compiled.kernels(), log_joint.shape[1]
    largest, log_total = np.empty(n, log_joint.dtype), np.empty(n)
    kernels.log_sum_exp(
        log_joint, largest, log_total, np.empty((2, kernels.tile_samples(log_joint.dtype)), log_joint.dtype)
    )
    return log_total, largest


@dataclass(frozen=True, eq=False)
class Block:
    """A fitted mixture and the features it is of; its factors are made once, when they are first used.

    Attributes
    ----------
    columns : ndarray of int, shape (m,)
    mixture : Mixture
    covariance_type : CovarianceType
    """

    columns: np.ndarray
    mixture: Mixture
    covariance_type: CovarianceType

    @cached_property
    def gaussians(self) -> Gaussians:
        return self.covariance_type.gaussians(self.mixture.means, self.mixture.covariances)

    @cached_property
    def _prepared(self) -> dict[np.dtype, tuple[Whitening | None, KernelArrays]]:
        return {}

    def log_normal(self, features: Rows, chunk: slice) -> np.ndarray:
        """log N(x; mu_k, P_k) of a chunk of samples, (K, n), in float32 where samples are and that is exact enough.

        A sample with missing values has the log-density of its observed ones, and a sample without any value has zero.
        """
        dtype = features.X.dtype
        if dtype != FLOAT64:
            extent = float(np.fmax.reduce(features.extent[self.columns]))
            if not self.gaussians.is_float32_safe(self.mixture.weights, extent, pairs=True):
                dtype = FLOAT64
        x = features.read(self.columns, chunk, dtype, pairs=self.gaussians.needs_pairs(dtype))
        if x.dtype not in self._prepared:
            self._prepared[x.dtype] = kernel_arrays(self.gaussians, x.dtype)
        result = log_normal(x, self.gaussians, self._prepared[x.dtype])
        if features.is_incomplete:
            incomplete = np.flatnonzero(np.isnan(x).any(axis=0))
            result[:, incomplete] = 0.0
            # Not kept: there are K matrices, also of a tied covariance.
            covariances = missing.component_covariances(self.mixture, self.covariance_type)
            numbers = chunk.start + incomplete
            for group in missing.groups(features, self.columns, self.covariance_type, numbers):
                x = features.read(self.columns, group.indices).T
                conditional = missing.regression(self.mixture.means, covariances, group.observed)
                result[:, group.indices - chunk.start] = conditional.log_density(x)
        return result

    def log_volume(self, features: Rows, chunk: slice) -> Any:
        """Log of the volume, in input units, of a unit of the observed features: a number, or one for each sample (n,)."""
        log_scale = logarithms(features.scale[self.columns])
        if not features.is_incomplete:
            return float(log_scale.sum())
        return (~np.isnan(features.original(chunk)[:, self.columns]) * log_scale).sum(axis=1)


def class_log_density(features: Rows, blocks: Sequence[Block], workers: Workers) -> np.ndarray:
    """log p(x|c) summed over blocks, Pulford 2022, eqs. 1 and 36, in nats per unit of volume in input units.

    Parameters
    ----------
    features : Rows
        Samples, in the units of the mixtures.
    blocks : sequence of Block
    workers : Workers

    Returns
    -------
    ndarray of shape (n, L), float64, one class after the other in memory
    """
    features.extent  # noqa: B018  # refuses samples too far out for their squares
    densities = [(block, ClassMixtures(block.mixture.weights)) for block in blocks]
    # A class after the other: what is done with classes next, column by column, is several times faster.
    result = np.zeros((blocks[0].mixture.weights.shape[1], len(features.X)))

    def add(chunk: slice) -> None:
        total = result[:, chunk]
        total -= sum(block.log_volume(features, chunk) for block in blocks)
        for block, classes in densities:
            total += classes(block.log_normal(features, chunk))

    workers.map(add, features.chunks)
    return result.T


def fill_log_density(
    result: np.ndarray,
    function: Callable[[np.ndarray, slice], np.ndarray],
    features: Rows,
    block: Block,
    workers: Workers,
) -> None:
    """Fill ``result`` (n, ...) with ``function(log_normal, chunk)`` of each chunk of samples, for log N(x; mu_k, P_k), (K, n_chunk)."""
    features.extent  # noqa: B018  # refuses samples too far out for their squares

    def fill(chunk: slice) -> None:
        result[chunk] = function(block.log_normal(features, chunk), chunk)

    workers.map(fill, features.chunks)


class ClassMixtures:
    """From log N(x; mu_k, P_k) of some samples to log p(x|c), for weights (K, L)."""

    def __init__(self, weights: np.ndarray) -> None:
        self._weights = weights
        # Pairs of a component and a class, one class after the other.
        self.classes, self.components = map(np.ascontiguousarray, np.nonzero(weights.T))
        self._borders = np.searchsorted(self.classes, np.arange(weights.shape[1] + 1))
        self._log_weights = logarithms(weights[self.components, self.classes])

    def pairs(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs as the kernels take them."""
        return self.components, self._borders, self._log_weights.astype(dtype)

    def exact(self, log_density: np.ndarray) -> np.ndarray:
        """For log-densities of components, (K, n): those of classes, (L, n), in float64."""
        kernels, dtype = compiled.kernels(), log_density.dtype
        result = np.empty((self._weights.shape[1], log_density.shape[1]))
        scratch = np.empty((2, kernels.tile_samples(dtype)), dtype)
        kernels.class_log_densities(log_density, self.pairs(dtype), result, scratch)
        return result

    def __call__(self, log_density: np.ndarray) -> np.ndarray:
        """`exact` but for rounding, and sooner where classes share components."""
        if len(self.components) <= 2 * len(self._weights):
            return self.exact(log_density)
        # One exponential per component serves all classes, but for samples a class finds all but impossible.
        density = log_density.copy()
        _, largest = log_sum_exp(density)
        mixed = self._weights.T.astype(density.dtype) @ density
        least = LEAST_SUM[density.dtype]
        impossible = mixed < least if mixed.min() < least else None
        with np.errstate(divide="ignore"):
            result = np.log(mixed, out=mixed) + largest.astype(np.float64)
        if impossible is not None:
            rest = impossible.any(axis=0)
            result[impossible] = self.exact(np.ascontiguousarray(log_density[:, rest]))[impossible[:, rest]]
        return result
