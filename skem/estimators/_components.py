"""The components of a classifier: their number, the classes they are reserved for, and their initial parameters."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from skem.engine import sharing, starts
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.given_start import checked_array, checked_init
from skem.engine.parameters import Mixture
from skem.engine.parts import Parts
from skem.engine.rows import Rows
from skem.engine.threads import Workers
from skem.engine.warn import warn
from skem.estimators._array_api import to_numpy
from skem.estimators._checking import distinct_samples
from skem.estimators._fitted import FittedMixture
from skem.estimators._training import Training

INITIALISATIONS = ("uniform", *starts.INITIALISATIONS)
"""Every name that ``init_params`` may be; each class offers some of them."""


def numbers_per_class(model: Any, classes: np.ndarray) -> list[int] | None:
    """Number of components of each class, if ``n_components`` has one for each."""
    if model.n_components is None or isinstance(model.n_components, (int, Integral)):
        return None
    return sharing.components_per_class(model.n_components, classes)


def allocate(
    model: Any, parts: Parts, columns: Sequence[np.ndarray], previous: FittedMixture | None
) -> tuple[int, list[np.ndarray] | None, np.ndarray | None, Sequence[Mixture] | None]:
    """Decide how many components there are and which class each is reserved for; ``previous`` is the fit that a warm start continues.

    Returns
    -------
    K : int
        Number of components of each feature block.
    groups : list of ndarray of int, or None
        Components of each class; None for equal groups, if an initialisation by class needs any.
    log_sharing : ndarray of shape (K, L), or None
        log lambda of each component in each class.
    given : sequence of Mixture, or None
        Initial parameters of each block in input units, if they are not drawn from samples.
    """
    classes: np.ndarray = model.classes_
    given: Sequence[Mixture] | None = None
    numbers, L = numbers_per_class(model, classes), len(classes)
    total = model.n_components if numbers is None else sum(numbers)
    K, groups = total or model._default_components(parts.n_samples), None
    if previous is not None:
        K, groups, given = model.n_components_, getattr(model, "groups_", None), previous.mixtures
    elif isinstance(model.init_params, dict):
        K = len(_given_means(model, total, len(parts.scale)))
    elif not isinstance(model.init_params, str):
        widths, covariance_type = list(map(len, columns)), COVARIANCE_TYPES[model.covariance_type]
        given = checked_init(to_numpy(model.init_params), total, widths, L, covariance_type)
        K = len(given[0].means)
    if previous is None:
        if numbers is not None:
            groups = sharing.consecutive_groups(numbers)
        if _is_by_class(model) and 1 < L <= K:
            sizes = numbers or [len(group) for group in sharing.equal_groups(K, L)]
            available = _available(model, classes, parts, sizes)
            if available != sizes:
                K, groups = sum(available), sharing.consecutive_groups(available)
    if model._option("sharing") is None:
        _refuse_without_sharing(model, numbers)
        return K, groups, None, given
    lambdas = sharing.check_lambdas(model._option("sharing"), L)
    if groups is None:
        groups = sharing.equal_groups(K, L)
    return K, groups, sharing.log_sharing(lambdas, groups), given


def _is_by_class(model: Any) -> bool:
    init = model.init_params
    return isinstance(init, str) and init in starts.INITIALISATIONS and starts.INITIALISATIONS[init].by_class


def _given_means(model: Any, number: int | None, n_features: int) -> np.ndarray:
    init = to_numpy(model.init_params)
    if init.keys() != {"means"}:
        raise ValueError(
            f'init_params: a dictionary must hold "means" alone, got the keys {sorted(map(str, init))}; give '
            "(weights, means, covariances) as a tuple"
        )
    return checked_array("init_params: means", init["means"], (number or "K", n_features))


def _refuse_without_sharing(model: Any, numbers: list[int] | None) -> None:
    """Raise ValueError for parameters that have no effect without ``sharing``."""
    if numbers is not None and not _is_by_class(model):
        init = (
            f"init_params={model.init_params!r} does"
            if isinstance(model.init_params, str)
            else "the arrays of init_params do"
        )
        raise ValueError(
            f"n_components={model.n_components!r} reserves components for each class, which {init} not: "
            'set init_params="class" or "class_kmeans", or sharing, or give one number for all classes together'
        )


def _available(model: Any, classes: np.ndarray, parts: Parts, sizes: list[int]) -> list[int]:
    """Numbers of components per class, with no class above its number of distinct samples; warn if the user gave more."""
    available = [_n_distinct(parts.whole, c, size) for c, size in enumerate(sizes)]
    if available != sizes and model.n_components is not None:
        c = int(np.argmax(np.subtract(sizes, available)))
        warn(
            f"n_components={model.n_components} reserves {sizes[c]} components for class {classes.tolist()[c]!r}, which has "
            f"{available[c]} distinct training samples; {sum(available)} components are fitted in all. "
            'Set a smaller n_components, or init_params="sample" to draw from all classes together',
        )
    return available


def _n_distinct(rows: Rows, code: int, most: int) -> int:
    """Number of distinct samples of a class, counted up to ``most``."""
    n, numbers = 0, np.arange(rows.borders[code], rows.borders[code + 1])
    for some in (numbers[: 4 * most], numbers):  # the first ones are usually enough
        n = min(len(distinct_samples(rows.original(some))), most)
        if n == most:
            break
    return n


def initial_mixtures(training: Training, random_state: np.random.RandomState) -> list[Mixture]:
    """Initial parameters of each block in the engine's units: those given, or drawn from the samples."""
    if training.given is not None:
        mixtures = training.to_engine(training.given)
    else:
        mixtures = [_drawn(training, columns, random_state) for columns in training.columns]
    if training.log_sharing is None:
        return mixtures
    return [
        sharing.zero_excluded_weights(
            mixture, training.log_sharing, training.model.classes_, refill=training.continued
        )
        for mixture in mixtures
    ]


def _uniform(training: Training, columns: np.ndarray, random_state: np.random.RandomState) -> Mixture:
    """Means drawn from a cube, equal spherical covariances, equal weights (Pulford 2022, section 3.1)."""
    model, units, K, m = training.model, training.units, training.model.n_components_, len(columns)
    unit = 1.0 if units.standardized else units.scale[0]
    spread, width = model._option("init_spread") / unit, model._option("init_scale") / unit
    centre = np.zeros(m) if units.standardized else -units.shift[columns] / unit
    means = centre + random_state.uniform(-spread, spread, size=(K, m))
    ball = width**2 * training.covariance_type.identity(m)[None]
    covariances = training.covariance_type.of_groups(ball, np.zeros(K, dtype=int))
    return Mixture(np.full((K, len(model.classes_)), 1.0 / K), means, covariances)


def _drawn(training: Training, columns: np.ndarray, random_state: np.random.RandomState) -> Mixture:
    model, units = training.model, training.units
    groups = getattr(model, "groups_", None)
    if model.init_params == "uniform":
        return _uniform(training, columns, random_state)
    if isinstance(model.init_params, str):
        start = starts.INITIALISATIONS[model.init_params]
    else:
        means = _given_means(model, None, len(units.shift))[:, columns]
        start = starts.from_means((means - units.shift[columns]) / units.scale[columns])
    with Workers(model.n_jobs) as workers:
        mixture = start(
            starts.Request(
                rows=training.rows,
                columns=columns,
                n_components=model.n_components_,
                covariance_type=training.covariance_type,
                ridge=training.ridge,
                # k-means++ cannot draw a sample twice.
                strict=model.n_components is not None or model.init_params == "k-means++",
                random_state=random_state,
                workers=workers,
                groups=groups,
                labels=model.classes_.tolist(),
            )
        )
    if training.log_sharing is not None and groups is not None and start.by_class:
        return sharing.pool_class_weights(mixture, groups)
    return mixture
