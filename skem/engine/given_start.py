"""An initialisation that a user gives as arrays, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skem.engine.covariance_type import CovarianceType
from skem.engine.masked import refuse_masked
from skem.engine.parameters import Mixture


def checked_start(
    init: tuple | list,
    *,
    block: int,
    n_blocks: int,
    sizes: tuple[int | None, int, int | None],
    covariance_type: CovarianceType,
) -> Mixture:
    """The start of one block.

    Parameters
    ----------
    init : tuple (weights, means, covariances), or a list of them, one per block
    block, n_blocks : int
        Which block, of how many.
    sizes : tuple
        K, or None for as many as there are means; m; and L, or None without classes.
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
    arrays: tuple,
    sizes: tuple[int | None, int | None, int | None],
    covariance_type: CovarianceType,
    whose: str = "{}",
) -> Mixture:
    """Weights, means and covariances as a mixture.

    Parameters
    ----------
    arrays : tuple of three array-likes
    sizes : tuple
        K and m, or None for as many as the means have; and L, or None where weights have shape (K,).
    covariance_type : CovarianceType
    whose : str
        Name of an array in error messages, with {} for "weights", "means" or "covariances".

    Raises
    ------
    ValueError
        As `checked_start`.
    """
    for name, array in zip(("weights", "means", "covariances"), arrays, strict=True):
        refuse_masked(whose.format(name), array)
    weights, means, covariances = (np.array(array, dtype=np.float64) for array in arrays)
    K, m, L = sizes
    if means.ndim != 2:
        raise ValueError(f"{whose.format('means')} must have two dimensions, got shape {means.shape}")
    K, m = K or len(means), m or means.shape[1]
    for name, array, shapes in (
        ("weights", weights, [(K,) if L is None else (K, L)]),
        ("means", means, [(K, m)]),
        ("covariances", covariances, covariance_type.shapes(K, m)),
    ):
        if array.shape not in shapes:
            wanted = " or ".join(map(str, shapes))
            raise ValueError(f"{whose.format(name)} must have shape {wanted}, got {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{whose.format(name)} contain NaN or infinite values")
    weights = weights.reshape(K, -1)
    if (weights < 0).any() or not np.allclose(weights.sum(axis=0), 1.0):
        wanted = "and sum to one" if weights.shape[1] == 1 else "and sum to one in each class's column"
        raise ValueError(f"{whose.format('weights')} must be non-negative {wanted}")
    if not covariance_type.regular(covariances):
        raise ValueError(f"{whose.format('covariances')} must be symmetric and positive definite")
    return Mixture(weights / weights.sum(axis=0), means, covariances)


def checked_means(means: ArrayLike, n_components: int | None, n_features: int) -> np.ndarray:
    """Initial means as an array, shape (K, m).

    Raises
    ------
    ValueError
        Another shape, or values that are not finite.
    """
    refuse_masked("init: means", means)
    try:
        array = np.array(means, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"init: means must be an array of numbers, got {means!r}") from error
    wanted = n_components or len(np.atleast_1d(array)), n_features
    if array.shape != wanted:
        raise ValueError(f"init: means must have shape {wanted}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("init: means contain NaN or infinite values")
    return array


def checked_labels(labels: ArrayLike, n_components: int, n_samples: int) -> np.ndarray:
    """The component of each sample as an array of int, shape (n,).

    Raises
    ------
    ValueError
        Another shape, or labels other than 0 to K - 1.
    """
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
    """Raise ValueError for a component without samples; ``reason`` ends with the component's number."""
    empty = np.flatnonzero(np.bincount(labels, minlength=n_components) == 0)
    if len(empty):
        raise ValueError(f"init: {reason} {empty[0]}: each of the {n_components} components needs a sample")
