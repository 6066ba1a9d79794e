"""Checks of initial parameters that a user gives as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skem.engine.covariances import CovarianceType
from skem.engine.masked import refuse_masked
from skem.engine.parameters import Mixture


def _numbers(name: str, values: ArrayLike) -> np.ndarray:
    """Convert to an array of float64, or raise ValueError."""
    refuse_masked(name, values)
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers, got {values!r}") from error


def _check(name: str, array: np.ndarray, shapes: Sequence[tuple[int, ...]]) -> None:
    """Raise ValueError for an array of none of these shapes, or with values that are not finite."""
    if array.shape not in shapes:
        wanted = " or ".join(map(str, shapes))
        raise ValueError(f"{name} must have shape {wanted}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contain NaN or infinite values")


def checked_start(
    init: tuple | list,
    *,
    block: int,
    n_blocks: int,
    sizes: tuple[int | None, int, int | None],
    covariance_type: CovarianceType,
) -> Mixture:
    """Initial parameters of one feature block.

    Parameters
    ----------
    init : tuple (weights, means, covariances), or a list of them, one per block
    block, n_blocks : int
        Index of the block and number of blocks.
    sizes : tuple
        K, or None for the number of means; m; and L, or None without classes.
    covariance_type : CovarianceType

    Raises
    ------
    ValueError
        Arrays of the wrong shape, NaN, weights that do not sum to one, or a covariance that is not positive definite.
    """
    per_block = isinstance(init, list)
    if per_block and len(init) != n_blocks:
        wanted = f"{n_blocks} blocks" if n_blocks > 1 else "one mixture"
        raise ValueError(
            f"init: {len(init)} starts for {wanted}: give a tuple (weights, means, covariances) for each"
        )
    if not per_block and n_blocks > 1:
        raise ValueError(
            f"init: one start for {n_blocks} blocks; give a list of (weights, means, covariances)"
        )
    start = init[block] if per_block else init
    if not isinstance(start, tuple) or len(start) != 3:
        raise ValueError("init: a start is a tuple (weights, means, covariances)")
    whose = f"init: {{}} of block {block}" if n_blocks > 1 else "init: {}"
    return checked_mixture(start, sizes, covariance_type, whose)


def checked_mixture(
    arrays: tuple[Any, Any, Any],
    sizes: tuple[int | None, int | None, int | None],
    covariance_type: CovarianceType,
    whose: str = "{}",
) -> Mixture:
    """Weights, means and covariances as a mixture.

    Parameters
    ----------
    arrays : tuple of three array-likes
    sizes : tuple
        K and m, or None for those of the means; and L, or None where weights have shape (K,).
    covariance_type : CovarianceType
    whose : str
        Name of an array in error messages, with {} for "weights", "means" or "covariances".

    Raises
    ------
    ValueError
        As `checked_start`.
    """
    names = [whose.format(name) for name in ("weights", "means", "covariances")]
    weights, means, covariances = (_numbers(name, array) for name, array in zip(names, arrays, strict=True))
    K, m, L = sizes
    if means.ndim != 2:
        raise ValueError(f"{names[1]} must have two dimensions, got shape {means.shape}")
    K, m = K or len(means), m or means.shape[1]
    _check(names[0], weights, [(K,) if L is None else (K, L)])
    _check(names[1], means, [(K, m)])
    _check(names[2], covariances, covariance_type.shapes(K, m))
    weights = weights.reshape(K, -1)
    if (weights < 0).any() or not np.allclose(weights.sum(axis=0), 1.0):
        wanted = "and sum to one" if weights.shape[1] == 1 else "and sum to one in each class's column"
        raise ValueError(f"{names[0]} must be non-negative {wanted}")
    if not covariance_type.regular(covariances):
        raise ValueError(f"{names[2]} must be symmetric and positive definite")
    return Mixture(weights / weights.sum(axis=0), means, covariances)


def checked_means(
    means: ArrayLike, n_components: int | None, n_features: int, name: str = "init: means"
) -> np.ndarray:
    """Initial means, shape (K, m), or ValueError; ``name`` is that of the array in the message."""
    array = _numbers(name, means)
    _check(name, array, [(n_components or len(np.atleast_1d(array)), n_features)])
    return array


def checked_labels(labels: ArrayLike, n_components: int, n_samples: int) -> np.ndarray:
    """Component of each sample, shape (n,), or ValueError for another shape or labels other than 0 to K - 1."""
    refuse_masked("init: labels", labels)
    array = np.asarray(labels)
    if array.shape != (n_samples,):
        raise ValueError(f"init: labels must have shape ({n_samples},), one per sample; got {array.shape}")
    if array.dtype.kind not in "iu" or not ((array >= 0) & (array < n_components)).all():
        raise ValueError(
            f"init: labels must be whole numbers from 0 to {n_components - 1} for n_components={n_components}, "
            f"got {np.unique(array).tolist()}"
        )
    return array


def raise_if_any_empty(labels: np.ndarray, n_components: int, reason: str) -> None:
    """Raise ValueError for a component without samples; ``reason`` ends with the component's index."""
    empty = np.flatnonzero(np.bincount(labels, minlength=n_components) == 0)
    if len(empty):
        raise ValueError(f"init: {reason} {empty[0]}: each of the {n_components} components needs a sample")
