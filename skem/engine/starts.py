"""Initial parameters of classifiers: a registry of initialisations.

Random choices are weighted by the sample weights and do not depend on the order of the samples: a sample of weight two
equals two samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from skem.engine.clusters import VARIANCE_FLOOR, mean_square, means_of, pooled_scatter
from skem.engine.covariances import CovarianceType
from skem.engine.kmeans import assign, lloyd
from skem.engine.parameters import SINGULAR, Mixture
from skem.engine.rows import Rows
from skem.engine.samples import Samples
from skem.engine.seeds import kmeans_plusplus, random_subset
from skem.engine.threads import Workers

MAX_ITER, TOL = 300, 1e-4
"""Largest number of iterations of k-means, and the least sum of squared moves relative to the mean variance, as
scikit-learn's ``KMeans`` has them by default."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """Data and options of the initialisation of one feature block.

    Attributes
    ----------
    rows : Rows
        Training samples.
    columns : ndarray of int, shape (m,)
        Features of the block.
    n_components : int
        K.
    covariance_type : CovarianceType
    random_state : RandomState
    workers : Workers
    ridge : float
        Covariance regularisation, added to the variances of samples.
    strict : bool
        True if fewer samples than components are an error; else some components are equal copies.
    spread, width : float
        Of "uniform": means from U[-spread, spread] about ``centre`` and P = width^2 I, in the units of ``rows``.
    centre : ndarray of shape (m,) or float
        Centre of the means of "uniform", in the units of ``rows``.
    groups : list of ndarray of int, optional
        Components of each class, for an initialisation by class. By default equal groups; the first K mod L have one more.
    labels : list, optional
        Class labels, for error messages.
    """

    rows: Rows
    columns: np.ndarray
    n_components: int
    covariance_type: CovarianceType
    random_state: np.random.RandomState
    workers: Workers
    ridge: float = 0.0
    strict: bool = True
    spread: float = 0.0
    width: float = 1.0
    centre: np.ndarray | float = 0.0
    groups: list[np.ndarray] | None = None
    labels: list | None = None

    @property
    def n_classes(self) -> int:
        return len(self.rows.borders) - 1

    def samples(self, begin: int, stop: int) -> Samples:
        """The samples from ``begin`` to ``stop``, with the features of the block."""
        rows = self.rows
        return Samples(rows.features, rows.weights[begin:stop], self.workers, self.columns, begin)


class Start(Protocol):
    """An initialisation."""

    @property
    def by_class(self) -> bool:
        """True if each class has components of its own."""

    def __call__(self, request: Request) -> Mixture:
        """Return the initial parameters.

        Raises
        ------
        ValueError
            Too few components for the classes, or too few samples for the components.
        """


class _Uniform:
    """Means drawn from a cube, equal balls as covariances, equal weights (Pulford 2022, section 3.1)."""

    by_class = False

    def __call__(self, request: Request) -> Mixture:
        K, m, L = request.n_components, len(request.columns), request.n_classes
        means = request.centre + request.random_state.uniform(-request.spread, request.spread, size=(K, m))
        ball = request.width**2 * np.eye(m)[None]
        covariances = request.covariance_type.of_groups(ball, np.zeros(K, dtype=int))
        return Mixture(np.full((K, L), 1.0 / K), means, covariances)


STARTS: dict[str, Start] = {"uniform": _Uniform()}
"""Initialisations by their public names; `_register` adds those from samples."""


Draw = Callable[[Samples, int, np.random.RandomState], tuple[np.ndarray, np.ndarray | None]]
"""Gives means (K, m) and, where the initialisation assigns samples, the index of each sample's mean (n,)."""


class _Group(NamedTuple):
    """Components that are initialised from the same samples: those of class ``code``, or all samples."""

    components: np.ndarray
    samples: Samples
    code: int | None = None


@dataclass(frozen=True)
class _FromSamples:
    """An initialisation whose means are drawn from all samples, or from those of each class; covariances follow."""

    name: str
    draw: Draw
    by_class: bool = False

    def __call__(self, request: Request) -> Mixture:
        K, m, groups = request.n_components, len(request.columns), self._groups(request)
        weights = np.full((K, request.n_classes), 1.0 / K if len(groups) == 1 else 0.0)
        means, covariances, group_of = np.empty((K, m)), np.empty((len(groups), m, m)), np.empty(K, dtype=int)
        for number, group in enumerate(groups):
            components, samples, _ = group
            self._check(request, group)
            means[components], labels = self.draw(samples, len(components), request.random_state)
            if labels is None:
                everywhere = np.zeros(len(samples.weights), dtype=int)
                about, counts = means_of(samples, everywhere, 1)
                covariances[number] = pooled_scatter(samples, about, everywhere) / counts
                share = np.full(len(components), 1.0 / len(components))
            else:
                counts = np.bincount(labels, weights=samples.weights, minlength=len(components))
                covariances[number] = pooled_scatter(samples, means[components], labels) / counts.sum()
                share = counts / counts.sum()
            group_of[components] = number
            if len(groups) > 1:
                weights[components, number] = share
        return Mixture(
            weights, means, request.covariance_type.of_groups(_regularised(covariances, request), group_of)
        )

    def _groups(self, request: Request) -> list[_Group]:
        """Components that are initialised together."""
        K, L = request.n_components, request.n_classes
        # One component is the same Gaussian for all classes.
        if not self.by_class or K == 1:
            return [_Group(np.arange(K), request.samples(0, request.rows.borders[-1]))]
        if K < L:
            raise ValueError(
                f'init="{self.name}" reserves components for each class: n_components={K} is fewer '
                f"than the {L} classes"
            )
        borders = request.rows.borders.tolist()
        components = request.groups or np.array_split(np.arange(K), L)
        return [_Group(components[c], request.samples(borders[c], borders[c + 1]), c) for c in range(L)]

    def _check(self, request: Request, group: _Group) -> None:
        """Raise ValueError where there are fewer samples than components, if that is an error."""
        n, k = len(group.samples.weights), len(group.components)
        if not request.strict or n >= k:
            return
        whose, other = "", ""
        if request.labels and group.code is not None:
            whose = f" of class {request.labels[group.code]!r}"
            other = ', or init="sample", which draws from all classes together'
        raise ValueError(
            f'init="{self.name}" draws {k} components from {n} rows{whose}: too few; '
            f"give a smaller n_components{other}"
        )


def _regularised(covariances: np.ndarray, request: Request) -> np.ndarray:
    """The covariances of groups (G, m, m) with larger diagonals, so that they are regular."""
    m = len(request.columns)
    overall = mean_square(request.samples(0, request.rows.borders[-1]))
    # A block of constant features has no variance.
    floor = max(request.ridge, VARIANCE_FLOOR * (overall or 1.0))
    largest = np.diagonal(covariances, axis1=1, axis2=2).max(axis=1)
    # The samples of a class of little weight may be so far apart that a small floor is lost in rounding.
    floors = np.maximum(floor, 4 * m * SINGULAR * largest)
    return covariances + floors[:, None, None] * np.eye(m)


def _register(name: str, by_class: str | None = None) -> Callable[[Draw], Draw]:
    """Register a function that draws the means of components.

    The initialisation ``name`` draws all components from all samples, ``by_class`` those of each class from its samples.
    """

    def register(draw: Draw) -> Draw:
        STARTS[name] = _FromSamples(name, draw)
        if by_class is not None:
            STARTS[by_class] = _FromSamples(by_class, draw, by_class=True)
        return draw

    return register


@_register("sample", by_class="class")
def _sample(samples: Samples, size: int, random_state: np.random.RandomState) -> tuple[np.ndarray, None]:
    return random_subset(samples, size, random_state), None


@_register("kmeans", by_class="class_kmeans")
def _kmeans(
    samples: Samples, size: int, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Run k-means from samples drawn as `_sample` does."""
    centres = random_subset(samples, size, random_state)
    if len(np.unique(centres, axis=0)) < size:  # There may be fewer distinct samples than components.
        return centres, assign(samples, centres)[0]
    clusters = lloyd(samples, centres, max_iter=MAX_ITER, tol=TOL * mean_square(samples))
    return clusters.centres, clusters.labels


@_register("k-means++")
def _kmeans_plusplus(
    samples: Samples, size: int, random_state: np.random.RandomState
) -> tuple[np.ndarray, None]:
    return kmeans_plusplus(samples, size, random_state), None


def from_means(means: np.ndarray) -> Start:
    """The initialisation with given means (K, m), equal weights, and the covariance of samples about the nearest mean."""
    return _FromSamples("means", lambda samples, *_: (means, assign(samples, means)[0]))
