"""Where the first parameters come from: a registry of starts.

Everything drawn from the data is weighted by the sample weights and does not depend on the order of the
rows: a row of weight two is the same as two rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.metrics import pairwise_distances_argmin

from skem.engine.covariance_type import CovarianceType
from skem.engine.linalg import SINGULAR
from skem.engine.parameters import Mixture
from skem.engine.rows import CHUNK_ROWS, Rows

VARIANCE_FLOOR = 1e-6
"""Least variance of a start taken from rows, relative to the mean variance of the features."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a start for one block is made from.

    Attributes
    ----------
    rows : Rows
    columns : ndarray of int, shape (m,)
        The features of the block.
    n_components : int
        K.
    covariance_type : CovarianceType
    random_state : RandomState
    ridge : float
        Added to covariances taken from rows, as the M-step does.
    strict : bool
        Whether too few rows to draw distinct ones is an error; else some components start as equal copies.
    spread, width : float
        For "uniform": means from U[-spread, spread] about ``centre`` and P = width^2 I, in the units of ``rows``.
    centre : ndarray of shape (m,) or float
        Where the origin of the uniform start lies, in the units of ``rows``.
    groups : list of ndarray of int, optional
        The components of each class, for a start by class; else equal groups, of which the first K mod L get one more.
    labels : list, optional
        What the user calls the classes.
    """

    rows: Rows
    columns: np.ndarray
    n_components: int
    covariance_type: CovarianceType
    random_state: np.random.RandomState
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


class Start(Protocol):
    """A way to start."""

    @property
    def by_class(self) -> bool:
        """Whether each class starts with components of its own."""

    def __call__(self, request: Request) -> Mixture:
        """The parameters EM starts from.

        Raises
        ------
        ValueError
            Too few components for the classes, or too few rows for the components.
        """


class _Uniform:
    """Means drawn from a cube, balls as covariances, equal weights (Pulford 2022, section 3.1)."""

    by_class = False

    def __call__(self, request: Request) -> Mixture:
        K, m, L = request.n_components, len(request.columns), request.n_classes
        means = request.centre + request.random_state.uniform(-request.spread, request.spread, size=(K, m))
        balls = np.broadcast_to(request.width**2 * np.eye(m), (1, m, m))
        covariances = request.covariance_type.of_groups(balls, np.zeros(K, dtype=int))
        return Mixture(np.full((K, L), 1.0 / K), means, covariances)


STARTS: dict[str, Start] = {"uniform": _Uniform()}
"""By the name that users give; `_register` adds those from rows."""


@dataclass(frozen=True)
class _Group:
    """Components that start from the same rows: those of class ``code``, or all rows.

    Attributes
    ----------
    request : Request
    components : ndarray of int, shape (k,)
    begin, stop : int
        Where the rows are.
    code : int or None
    """

    request: Request
    components: np.ndarray
    begin: int
    stop: int
    code: int | None = None

    @property
    def weights(self) -> np.ndarray:
        """Of the rows, shape (n,)."""
        return self.request.rows.weights[self.begin : self.stop]

    def x(self) -> np.ndarray:
        """Features of all rows, shape (n, m), in the type they have, if k-means can square distances in it."""
        features, columns = self.request.rows.features, self.request.columns
        narrow = features.extent[columns].max() < 1e15
        dtype = features.X.dtype if narrow else np.dtype(np.float64)
        return features.read(columns, slice(self.begin, self.stop), dtype).T

    def chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray, slice]]:
        """Features (n, m), weights and positions, counted from the first row of the group, chunk by chunk."""
        rows, columns = self.request.rows, self.request.columns
        for begin in range(self.begin, self.stop, CHUNK_ROWS):
            chunk = slice(begin, min(begin + CHUNK_ROWS, self.stop))
            positions = slice(chunk.start - self.begin, chunk.stop - self.begin)
            yield rows.features.read(columns, chunk).T, rows.weights[chunk], positions

    def scatter(self, centres: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Weighted mean of (x - centre)(x - centre)^T, shape (m, m), where row n has centre ``labels[n]``."""
        m = len(self.request.columns)
        scatter = np.zeros((m, m))
        for x, w, positions in self.chunks():
            deviations = x - centres[labels[positions]]
            scatter += (deviations.T * w) @ deviations
        return scatter / self.weights.sum()

    def scatter_about_mean(self) -> np.ndarray:
        """Weighted covariance of the rows, shape (m, m)."""
        mean = sum(w @ x for x, w, _ in self.chunks()) / self.weights.sum()
        return self.scatter(mean[None], np.zeros(len(self.weights), dtype=int))

    def check(self, start: str) -> None:
        """Raise ValueError where there are fewer rows than components, and that is an error."""
        if not self.request.strict or len(self.weights) >= len(self.components):
            return
        whose, other = "", ""
        if self.request.labels and self.code is not None:
            whose = f" of class {self.request.labels[self.code]!r}"
            other = ', or init="sample", which draws from all classes together'
        raise ValueError(
            f'init="{start}" draws {len(self.components)} components from {len(self.weights)} rows{whose}: too few; '
            f"give a smaller n_components{other}"
        )


@dataclass(frozen=True)
class _Clusters:
    """What is drawn from the rows of a group.

    Attributes
    ----------
    means : ndarray of shape (k, m)
    labels : ndarray of int, shape (n,), or None
        Which of the means each row belongs to, where the start says so.
    """

    means: np.ndarray
    labels: np.ndarray | None = None


Draw = Callable[[_Group], _Clusters]


@dataclass(frozen=True)
class _FromRows:
    """A start whose means are drawn from all rows, or those of each class from its own; covariances follow."""

    name: str
    draw: Draw
    by_class: bool = False

    def __call__(self, request: Request) -> Mixture:
        K, m, covariance_type = request.n_components, len(request.columns), request.covariance_type
        groups = self._groups(request)
        one_group = len(groups) == 1
        weights = np.full((K, request.n_classes), 1.0 / K if one_group else 0.0)
        means, scatters, group_of = np.empty((K, m)), [], np.empty(K, dtype=int)
        for number, group in enumerate(groups):
            group.check(self.name)
            clusters = self.draw(group)
            share: np.ndarray | float = 1.0 / len(group.components)
            if clusters.labels is None:
                scatters.append(group.scatter_about_mean())
            else:
                scatters.append(group.scatter(clusters.means, clusters.labels))
                counts = np.bincount(clusters.labels, weights=group.weights, minlength=len(group.components))
                share = counts / group.weights.sum()
            means[group.components], group_of[group.components] = clusters.means, number
            if not one_group:
                weights[group.components, number] = share
        return Mixture(weights, means, covariance_type.of_groups(_regular(scatters, request), group_of))

    def _groups(self, request: Request) -> list[_Group]:
        """Components that start together."""
        K, L = request.n_components, request.n_classes
        # One component leaves nothing to reserve: it is the same Gaussian for all classes, whatever the start.
        if not self.by_class or K == 1:
            return [_all_rows(request)]
        if K < L:
            raise ValueError(
                f'init="{self.name}" reserves components for each class: n_components={K} is fewer '
                f"than the {L} classes"
            )
        borders = request.rows.borders.tolist()
        components = request.groups or np.array_split(np.arange(K), L)
        return [_Group(request, components[c], borders[c], borders[c + 1], c) for c in range(L)]


def _all_rows(request: Request) -> _Group:
    return _Group(request, np.arange(request.n_components), 0, len(request.rows.weights))


def _regular(scatters: list[np.ndarray], request: Request) -> np.ndarray:
    """The (m, m) covariances of groups with what makes them regular added to their diagonals, shape (groups, m, m)."""
    m = len(request.columns)
    squares = sum(w @ x**2 for x, w, _ in _all_rows(request).chunks())
    overall = float(np.mean(squares / request.rows.weights.sum()))
    # A block of constant columns has no variance to be relative to.
    floor = max(request.ridge, VARIANCE_FLOOR * (overall or 1.0))
    largest = np.array([scatter.diagonal().max() for scatter in scatters])
    # A class of little weight may spread so far that the rest is lost in its rounding.
    floors = np.maximum(floor, 4 * m * SINGULAR * largest)
    return np.stack(scatters) + floors[:, None, None] * np.eye(m)


def _register(name: str, by_class: str | None = None) -> Callable[[Draw], Draw]:
    """Decorator of what draws the means of components from rows.

    The start called ``name`` draws all components from all rows, that called ``by_class`` those of each class from the
    rows of that class.
    """

    def register(draw: Draw) -> Draw:
        STARTS[name] = _FromRows(name, draw)
        if by_class is not None:
            STARTS[by_class] = _FromRows(by_class, draw, by_class=True)
        return draw

    return register


@_register("sample", by_class="class")
def _sample(group: _Group) -> _Clusters:
    """Systematic sampling of rows with probabilities proportional to their weights.

    The rows are lined up by their projection on a random direction, so the draw depends on what the rows
    are and not on their order; equal steps along the cumulated weights give distinct rows where there are
    enough of them.
    """
    request, size = group.request, len(group.components)
    direction = request.random_state.standard_normal(len(request.columns))
    # Not a matrix product: its rounding depends on where in the array a row stands.
    projections = [(x * direction).sum(axis=1) for x, _, _ in group.chunks()]
    order = np.argsort(np.concatenate(projections), kind="stable")
    edges = np.cumsum(group.weights[order])
    steps = (np.arange(size) + request.random_state.uniform()) / size * edges[-1]
    chosen = group.begin + order[np.searchsorted(edges, steps, side="right").clip(max=len(order) - 1)]
    features = request.rows.features
    return _Clusters(np.concatenate([features.read(request.columns, slice(n, n + 1)).T for n in chosen]))


@_register("kmeans", by_class="class_kmeans")
def _kmeans(group: _Group) -> _Clusters:
    """Lloyd's iterations from rows drawn by `_sample`."""
    centres, x = _sample(group).means, group.x()
    if len(np.unique(centres, axis=0)) < len(centres):
        # Fewer distinct rows than components: k-means has nothing to add.
        distances = ((x[:, None, :] - centres[None]) ** 2).sum(axis=2)
        return _Clusters(centres, distances.argmin(axis=1))
    model = KMeans(
        len(centres), init=centres.astype(x.dtype), n_init=1, random_state=group.request.random_state
    )
    labels = model.fit_predict(x, sample_weight=group.weights)
    return _Clusters(model.cluster_centers_, labels)


@_register("k-means++")
def _kmeans_plusplus(group: _Group) -> _Clusters:
    """The seeds of k-means++."""
    size, random_state = len(group.components), group.request.random_state
    seeds, _ = kmeans_plusplus(group.x(), size, sample_weight=group.weights, random_state=random_state)
    return _Clusters(seeds)


def from_means(means: np.ndarray) -> Start:
    """The start with given means (K, m), equal weights, and the covariance of rows about the nearest mean."""

    def draw(group: _Group) -> _Clusters:
        x = group.x()
        return _Clusters(means, pairwise_distances_argmin(x, means.astype(x.dtype)))

    return _FromRows("means", draw)
