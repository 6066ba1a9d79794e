"""How far each class may use the kernels of the others (Titsias and Likas 2001, section III).

Kernels are grouped by class. In training, the weight of kernel j in class k counts lambda times where j is of another
class's group: a penalty on log pi_jk, which is all that the engine sees of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skem.engine.masked import refuse_masked
from skem.engine.parameters import Mixture


def equal_groups(n_components: int, n_classes: int) -> list[np.ndarray]:
    """One group of consecutive kernels per class; the first K mod L classes get one more. All share a single kernel.

    Raises
    ------
    ValueError
        If there are fewer kernels than classes.
    """
    if n_components == 1:
        return [np.arange(1)] * n_classes
    if n_components < n_classes:
        raise ValueError(
            f"n_components={n_components} leaves a class without kernels: at least {n_classes}, one per class, or a single one for all"
        )
    return np.array_split(np.arange(n_components), n_classes)


def components_per_class(numbers: Mapping[Any, int] | Sequence[int], classes: np.ndarray) -> list[int]:
    """The number of kernels of each class, in the order of ``classes``, from a sequence or by label.

    Raises
    ------
    ValueError
        If a class has no number or a number no class, or one is not whole or less than one.
    """
    labels = classes.tolist()
    if isinstance(numbers, Mapping):
        if numbers.keys() != set(labels):
            unknown = [label for label in numbers if label not in labels]
            missing = [label for label in labels if label not in numbers]
            problem = (
                f"no number for class {missing[0]!r}"
                if missing
                else f"a number for {unknown[0]!r}, which is no class"
            )
            raise ValueError(f"n_components has {problem}: give one for each of the classes {labels}")
        numbers = [numbers[label] for label in labels]
    if np.shape(numbers) != (len(labels),):
        raise ValueError(
            f"n_components has shape {np.shape(numbers)}: give one number for each of the {len(labels)} classes {labels}"
        )
    for label, number in zip(labels, numbers, strict=True):
        if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
            raise ValueError(
                f"n_components of class {label!r} must be a whole number, at least 1; got {number!r}"
            )
    return [int(number) for number in numbers]


def consecutive_groups(numbers: Sequence[int]) -> list[np.ndarray]:
    """Groups of consecutive kernels, of these sizes."""
    return np.split(np.arange(sum(numbers)), np.cumsum(numbers)[:-1])


def check_groups(
    groups: Sequence[Sequence[int]], n_components: int | None, classes: np.ndarray
) -> list[np.ndarray]:
    """The kernels of each class, in the order of ``classes``, as arrays of indices.

    Raises
    ------
    ValueError
        If there are not as many groups as classes, one is empty, two overlap, or they are not all of 0 to K - 1.
    """
    if len(groups) != len(classes):
        raise ValueError(f"groups: {len(groups)} groups for {len(classes)} classes: one is needed for each")
    owners: dict[int, object] = {}
    checked = []
    for group, label in zip(groups, classes.tolist(), strict=True):
        indices = np.asarray(group)
        if not indices.size:
            raise ValueError(f"groups: class {label!r} has no kernels; give it at least one")
        if indices.ndim != 1 or not np.issubdtype(indices.dtype, np.integer) or indices.min() < 0:
            raise ValueError(f"groups: that of class {label!r} must be a list of kernel numbers from 0")
        for j in indices.tolist():
            if j in owners:
                raise ValueError(
                    f"groups: kernel {j} is given to class {owners[j]!r} and again to class {label!r}; "
                    "groups must not overlap"
                )
            owners[j] = label
        checked.append(indices)
    K = n_components or len(owners)
    if len(owners) != K or max(owners) >= K:
        raise ValueError(
            f"groups: {len(owners)} kernels up to number {max(owners)} are named, but n_components is {K}: "
            f"each of 0 to {K - 1} needs a class"
        )
    return checked


def check_lambdas(sharing: ArrayLike, n_classes: int) -> np.ndarray:
    """lambda by group (row) and class (column), shape (L, L), from one number or such a matrix; ones on the diagonal.

    Raises
    ------
    ValueError
        If a lambda is NaN or outside [0, 1], the shape is wrong, or the diagonal is not one.
    """
    refuse_masked("sharing", sharing)
    lambdas = np.asarray(sharing, dtype=np.float64)
    wrong = ~((lambdas >= 0) & (lambdas <= 1))
    if wrong.any():
        raise ValueError(f"sharing is {float(lambdas[wrong][0])}: lambda must lie in [0, 1]")
    if lambdas.ndim == 0:
        lambdas = np.full((n_classes, n_classes), float(lambdas))
        np.fill_diagonal(lambdas, 1.0)
    if lambdas.shape != (n_classes, n_classes):
        raise ValueError(
            f"sharing must be one number or have shape ({n_classes}, {n_classes}), a lambda for the kernels of "
            f"each class in each class; got {lambdas.shape}"
        )
    if not (np.diag(lambdas) == 1).all():
        raise ValueError("sharing: the diagonal must be 1, a class uses its own kernels in full")
    return lambdas


def log_sharing(lambdas: np.ndarray, groups: list[np.ndarray]) -> np.ndarray:
    """log lambda of each kernel in each class, shape (K, L)."""
    per_kernel = np.zeros((max(map(max, groups)) + 1, len(groups)))
    for group, row in zip(groups, lambdas, strict=True):
        per_kernel[group] = np.maximum(per_kernel[group], row)
    with np.errstate(divide="ignore"):
        return np.log(per_kernel)


def opened(mixture: Mixture, groups: list[np.ndarray]) -> Mixture:
    """A start by class with the same weights for all classes, so that every class may use every kernel.

    A kernel's weight is its share of its group times the group's share of all kernels.
    """
    weights = np.empty(len(mixture.weights))
    for c, group in enumerate(groups):
        weights[group] = mixture.weights[group, c] * len(group) / len(weights)
    return replace(mixture, weights=np.repeat(weights[:, None], len(groups), axis=1))


def closed(mixture: Mixture, log_lambdas: np.ndarray, refill: bool = False) -> Mixture:
    """Weights of zero where lambda is zero, eq. (28): EM keeps them.

    A class that this leaves without a kernel gets all those it may use, with equal weights, if ``refill``.

    Raises
    ------
    ValueError
        If it leaves a class without a kernel else.
    """
    usable = log_lambdas > -np.inf
    weights = np.where(usable, mixture.weights, 0.0)
    total = weights.sum(axis=0)
    if refill and not (total > 0).all():
        weights = np.where(total > 0, weights, usable / usable.sum(axis=0))
        total = weights.sum(axis=0)
    if not (total > 0).all():
        raise ValueError(
            f"sharing: class number {int(np.argmin(total))} starts with no weight on a kernel it may use; "
            "give it some in init, or a lambda above 0"
        )
    # A class that loses nothing keeps its weights to the last bit.
    return replace(mixture, weights=np.where(total == mixture.weights.sum(axis=0), weights, weights / total))
