"""Checks of parameters that a user gives as arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skem.engine.covariances import CovarianceType
from skem.engine.masked import refuse_masked
from skem.engine.parameters import Mixture

FARTHEST = 1e17
"""Of initial means, in the units of the engine. Their squares do not overflow in float32."""


def checked_array(name: str, values: ArrayLike, *shapes: tuple[int | str, ...]) -> np.ndarray:
    """Convert ``values`` to float64, or raise ValueError unless they are finite and have one of the shapes.

    A string in a shape, such as "K", allows any length except zero.
    """
    refuse_masked(name, values)
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be an array of numbers, got {values!r}.") from error
    if not any(_matches(array.shape, shape) for shape in shapes):
        allowed = " or ".join(str(shape).replace("'", "") for shape in shapes if shape)
        number = "be a number or " if () in shapes else ""
        raise ValueError(f"{name} must {number}have shape {allowed}, got {array.shape}.")
    finite = np.isfinite(array)
    if not finite.all():
        raise ValueError(f"{name} must be finite, got {array[~finite][0]}.")
    return array


def checked_indices(name: str, indices: ArrayLike, n_features: int) -> np.ndarray:
    """Convert ``indices`` to an array (n,), or raise ValueError unless they are distinct indices of features, one or more."""
    try:
        array = np.asarray(indices)
    except ValueError:  # nested lists of several lengths
        array = np.zeros(0)
    if array.ndim != 1 or not len(array) or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a list of feature indices (integers), got {indices!r}")
    unknown = array[(array < 0) | (array >= n_features)]
    if len(unknown):
        raise ValueError(
            f"{name} names feature {unknown[0]}, but there are {n_features}: use 0 to {n_features - 1}"
        )
    array = array.astype(int)
    repeated = array[np.bincount(array)[array] > 1]
    if len(repeated):
        raise ValueError(f"{name} repeats feature {repeated[0]}: name each feature once")
    return array


def _matches(shape: tuple[int, ...], allowed: tuple[int | str, ...]) -> bool:
    return len(shape) == len(allowed) and all(
        n > 0 if isinstance(length, str) else n == length for n, length in zip(shape, allowed, strict=True)
    )


def checked_init(
    init: tuple | list,
    n_components: int | None,
    widths: Sequence[int],
    n_classes: int | None,
    covariance_type: CovarianceType,
) -> list[Mixture]:
    """Check initial parameters, a tuple (weights, means, covariances) or a list of them, one per feature block.

    ``widths`` are the numbers of features of the blocks; see `checked_mixture` for the others.

    Raises
    ------
    ValueError
        Arrays of the wrong shape, NaN, weights that do not sum to one, or a covariance that is not positive definite.
    """
    mixtures, n_blocks = init if isinstance(init, list) else [init], len(widths)
    if len(mixtures) != n_blocks or not all(isinstance(each, tuple) and len(each) == 3 for each in mixtures):
        wanted = "a tuple (weights, means, covariances)"
        if n_blocks > 1:
            wanted = f"a list of {n_blocks} tuples (weights, means, covariances), one per feature block"
        raise ValueError(f"init_params must be {wanted}; got a {type(init).__name__} of length {len(init)}.")
    checked = []
    for r, (arrays, m) in enumerate(zip(mixtures, widths, strict=True)):
        pattern = f"init_params: {{}} of block {r}" if n_blocks > 1 else "init_params: {}"
        checked.append(checked_mixture(arrays, (n_components, m, n_classes), covariance_type, pattern))
    return checked


def checked_mixture(
    arrays: tuple[Any, Any, Any],
    sizes: tuple[int | None, int | None, int | None],
    covariance_type: CovarianceType,
    pattern: str = "{}",
) -> Mixture:
    """Check weights, means and covariances, and return them as a mixture.

    ``sizes`` are K and m, or None for those of the means, and L, or None for weights of shape (K,). ``pattern`` is the name of an
    array in error messages, with {} for "weights", "means" or "covariances".
    """
    names = [pattern.format(name) for name in ("weights", "means", "covariances")]
    n_components, n_features, n_classes = sizes
    means = checked_array(names[1], arrays[1], (n_components or "K", n_features or "m"))
    K, m = means.shape
    weights = checked_array(names[0], arrays[0], (K,) if n_classes is None else (K, n_classes))
    covariances = checked_array(names[2], arrays[2], *covariance_type.shapes(K, m))
    weights = weights.reshape(K, -1)
    if (weights < 0).any():
        raise ValueError(f"{names[0]} must be non-negative, got {weights.min():.3g}.")
    sums = weights.sum(axis=0)
    wrong = np.flatnonzero(~np.isclose(sums, 1.0))
    if len(wrong):
        column = f" in each column (class); column {wrong[0]} sums" if len(sums) > 1 else "; they sum"
        raise ValueError(f"{names[0]} must sum to 1{column} to {sums[wrong[0]]:.6g}.")
    if not covariance_type.regular(covariances):
        raise ValueError(
            f"{names[2]} must be symmetric and positive definite; symmetrise them, or add a multiple of the identity."
        )
    return Mixture(weights / sums, means, covariances)


def checked_labels(labels: ArrayLike, n_components: int, n_samples: int) -> np.ndarray:
    """Check the component of each sample, shape (n,): ValueError for another shape or labels outside 0 to K - 1."""
    refuse_masked("init_params: labels", labels)
    array = np.asarray(labels)
    if array.shape != (n_samples,):
        raise ValueError(
            f"init_params: labels must have shape ({n_samples},), one per sample, got {array.shape}."
        )
    if array.dtype.kind not in "iu" or not ((array >= 0) & (array < n_components)).all():
        raise ValueError(
            f"init_params: labels must be integers from 0 to {n_components - 1} for n_components={n_components}, "
            f"got {np.unique(array).tolist()}."
        )
    return array


def raise_if_any_empty(labels: np.ndarray, n_components: int, reason: str) -> None:
    """Raise ValueError for a component without samples; ``reason`` ends before the index of the component."""
    empty = np.flatnonzero(np.bincount(labels, minlength=n_components) == 0)
    if len(empty):
        raise ValueError(
            f"init_params: {reason} {empty[0]}; each of the {n_components} components needs at least one sample."
        )


def raise_if_far(start: Mixture, extent: float) -> None:
    """Raise ValueError if a mean is so far from all samples, up to ``extent``, that they are one point beside it."""
    farthest = float(np.abs(start.means[start.weights.any(axis=1)]).max(initial=0.0))
    if farthest > max(FARTHEST, extent):
        raise ValueError(
            f"init_params: a mean is {farthest:.3g} spreads of the samples away from them, too far for float64; choose another "
            "init_params, or set standardize=True."
        )


def raise_unless_finite(objective: float) -> None:
    """Raise ValueError if components are too narrow for the samples: their parameters would be NaN."""
    if not math.isfinite(objective):
        raise ValueError(
            f"the objective of EM is {objective}: samples are too far from the components, or covariances too small, for "
            "float64; use init_params with wider covariances, or raise reg_covar."
        )
