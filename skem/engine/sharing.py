"""Components reserved for classes, in part (Titsias and Likas 2001, section III).

Each class has a group of components. In training, lambda multiplies the weights of the components of other groups: a penalty
on log pi_jk, and the engine handles it as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skem.engine.given_start import checked_array
from skem.engine.linalg import logarithms
from skem.engine.parameters import LARGEST_INTEGER, Mixture


def equal_groups(n_components: int, n_classes: int) -> list[np.ndarray]:
    """Return consecutive groups of equal size, one per class; the first K mod L have one component more.

    All classes share a single component.

    Raises
    ------
    ValueError
        Fewer components than classes.
    """
    if n_components == 1:
        return [np.arange(1)] * n_classes
    if n_components < n_classes:
        raise ValueError(
            f"n_components={n_components} is less than the number of classes, {n_classes}; use at least {n_classes}, 1 for all "
            'classes together, or init_params="sample" without sharing.'
        )
    return np.array_split(np.arange(n_components), n_classes)


def components_per_class(numbers: Mapping[Any, int] | Sequence[int], classes: np.ndarray) -> list[int]:
    """Return the number of components of each class, in the order of ``classes``, from a sequence or by label.

    Raises
    ------
    ValueError
        A missing or superfluous number, or one that is no integer of at least 1.
    """
    labels = classes.tolist()
    if isinstance(numbers, Mapping):
        missing = [label for label in labels if label not in numbers]
        unknown = [label for label in numbers if label not in labels]
        if missing or unknown:
            problem = f"lacks class {missing[0]!r}" if missing else f"has the unknown class {unknown[0]!r}"
            raise ValueError(f"n_components {problem}; give a number for each of the classes {labels}.")
        numbers = [numbers[label] for label in labels]
    if np.shape(numbers) != (len(labels),):
        raise ValueError(
            f"n_components has shape {np.shape(numbers)}; give one number for each of the {len(labels)} classes {labels}."
        )
    for label, number in zip(labels, numbers, strict=True):
        is_integer = isinstance(number, Integral) and not isinstance(number, bool)
        if not (is_integer and 1 <= number <= LARGEST_INTEGER):
            raise ValueError(
                f"n_components of class {label!r} must be an integer from 1 to {LARGEST_INTEGER}; got {number!r}."
            )
    return [int(number) for number in numbers]


def consecutive_groups(numbers: Sequence[int]) -> list[np.ndarray]:
    """Return groups of consecutive components, of these sizes."""
    return np.split(np.arange(sum(numbers)), np.cumsum(numbers)[:-1])


def check_lambdas(sharing: ArrayLike, n_classes: int) -> np.ndarray:
    """Return lambda by group (row) and class (column), shape (L, L), from one number or such a matrix.

    Raises
    ------
    ValueError
        A lambda that is NaN or outside [0, 1], a wrong shape, or a diagonal other than one.
    """
    lambdas = checked_array("sharing", sharing, (), (n_classes, n_classes))
    wrong = (lambdas < 0) | (lambdas > 1)
    if wrong.any():
        raise ValueError(f"sharing: lambda must lie in [0, 1]; got {float(lambdas[wrong][0])}.")
    if lambdas.ndim == 0:
        lambdas = np.full((n_classes, n_classes), float(lambdas))
        np.fill_diagonal(lambdas, 1.0)
    if not (np.diag(lambdas) == 1).all():
        raise ValueError(
            f"sharing must have ones on the diagonal, lambda of each class for its own components; got "
            f"{np.diag(lambdas).tolist()}."
        )
    return lambdas


def log_sharing(lambdas: np.ndarray, groups: list[np.ndarray]) -> np.ndarray:
    """Return log lambda of each component in each class, shape (K, L)."""
    by_component = np.zeros((max(map(max, groups)) + 1, len(groups)))
    for group, row in zip(groups, lambdas, strict=True):
        by_component[group] = np.maximum(by_component[group], row)
    return logarithms(by_component)


def pool_class_weights(mixture: Mixture, groups: list[np.ndarray]) -> Mixture:
    """Give all classes the same weights, so that each class may use every component of an initialisation by class.

    The weight of a component is its share of its group times the group's share of all components.
    """
    weights = np.empty(len(mixture.weights))
    for c, group in enumerate(groups):
        weights[group] = mixture.weights[group, c] * len(group) / len(weights)
    return replace(mixture, weights=np.repeat(weights[:, None], len(groups), axis=1))


def zero_excluded_weights(
    mixture: Mixture, log_lambdas: np.ndarray, classes: np.ndarray, refill: bool = False
) -> Mixture:
    """Set weights to zero where lambda is zero (eq. 28); EM keeps them.

    With ``refill``, a class without remaining weight gets equal weights on all components with lambda above zero.

    Raises
    ------
    ValueError
        A class without remaining weight, unless ``refill`` is set.
    """
    usable = log_lambdas > -np.inf
    weights = np.where(usable, mixture.weights, 0.0)
    total = weights.sum(axis=0)
    if refill and not (total > 0).all():
        weights = np.where(total > 0, weights, usable / usable.sum(axis=0))
        total = weights.sum(axis=0)
    if not (total > 0).all():
        label = classes.tolist()[int(np.argmin(total))]
        raise ValueError(
            f"sharing: lambda is 0 for all components with a weight in class {label!r}; change the weights in init_params, or use a "
            "lambda above 0."
        )
    # Without changes, no division: weights stay equal to the last bit.
    return replace(mixture, weights=np.where(total == mixture.weights.sum(axis=0), weights, weights / total))
