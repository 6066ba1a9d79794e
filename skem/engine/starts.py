"""Where the first parameters come from.

Everything drawn from the data is weighted by the sample weights and does not depend on the order of the
rows: a row of weight two is the same as two rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.cluster import KMeans, kmeans_plusplus

from skem.engine.covariances import Full
from skem.engine.linalg import SINGULAR
from skem.engine.parameters import Mixture
from skem.engine.rows import CHUNK_ROWS, Rows

BY_CLASS = ("class", "class_kmeans")
METHODS = ("uniform", "sample", "kmeans", *BY_CLASS)
VARIANCE_FLOOR = 1e-6
"""Least variance of a start taken from rows, relative to the mean variance of the features."""


def start(
    rows: Rows,
    columns: np.ndarray,
    method: str,
    n_components: int,
    *,
    kind: type[Full],
    spread: float,
    width: float,
    centre: np.ndarray,
    ridge: float,
    strict: bool,
    random_state: np.random.RandomState,
    groups: list[np.ndarray] | None = None,
    labels: list | None = None,
) -> Mixture:
    """The parameters EM starts from, for one block.

    Parameters
    ----------
    rows : Rows
    columns : ndarray of int, shape (m,)
        The features of the block.
    method : {"uniform", "sample", "kmeans", "k-means++", "class", "class_kmeans"}
    n_components : int
        K.
    kind : covariance type
    spread, width : float
        For "uniform" (Pulford 2022, section 3.1): means from U[-spread, spread] about ``centre`` and P =
        width^2 I, in the units of ``rows``.
    centre : ndarray of shape (m,)
        Where the origin of the uniform start lies, in the units of ``rows``.
    ridge : float
        Added to covariances taken from rows, as the M-step does.
    strict : bool
        Whether too few rows to draw distinct ones is an error; else some start as equal copies.
    random_state : RandomState
    groups : list of ndarray of int, optional
        The components of each class, for a start by class; else equal groups.
    labels : list, optional
        What the user calls the classes.

    Returns
    -------
    Mixture
    """
    n_classes, m = len(rows.borders) - 1, len(columns)
    if method == "uniform":
        means = centre + random_state.uniform(-spread, spread, size=(n_components, m))
        covariances = np.broadcast_to(width**2 * np.eye(m), (1, m, m))
        nobody = np.zeros(n_components, dtype=int)
        return Mixture(
            np.full((n_components, n_classes), 1.0 / n_components),
            means,
            _compressed(kind, covariances, nobody),
        )
    # One component leaves nothing to reserve: it is the same Gaussian for all classes, whatever the start.
    if method in ("sample", "kmeans", "k-means++") or n_components == 1:
        sizes, limits = [n_components], [(0, int(rows.borders[-1]))]
    else:
        if n_components < n_classes:
            raise ValueError(
                f'init="{method}" reserves components for each class: n_components={n_components} is fewer '
                f"than the {n_classes} classes"
            )
        # The first K mod L classes get one more.
        parts = groups or np.array_split(np.arange(n_components), n_classes)
        sizes = [len(part) for part in parts]
        limits = list(zip(rows.borders[:-1].tolist(), rows.borders[1:].tolist(), strict=True))

    # k-means squares distances in the type of its rows.
    narrow = rows.features.extent[columns].max() < 1e15
    dtype = rows.features.X.dtype if narrow else np.dtype(np.float64)
    drawn_means: list[np.ndarray] = []
    scatters: list[np.ndarray] = []
    weights = np.zeros((n_components, n_classes))
    for group, (size, (begin, stop)) in enumerate(zip(sizes, limits, strict=True)):
        w = rows.weights[begin:stop]
        if strict and len(w) < size:
            whose, other = "", ""
            if labels and len(sizes) > 1:
                whose, other = (
                    f" of class {labels[group]!r}",
                    ', or init="sample", which draws from all classes together',
                )
            raise ValueError(
                f'init="{method}" draws {size} components from {len(w)} rows{whose}: too few; give a smaller '
                f"n_components{other}"
            )
        share = np.full(size, 1.0 / size)
        centre = sum(v @ x for x, v, _ in _chunks(rows, columns, begin, stop))[None] / w.sum()
        nearest = np.zeros(len(w), dtype=int)
        if method == "k-means++":
            x = rows.features.chunk(columns, slice(begin, stop), dtype).T
            drawn = kmeans_plusplus(x, size, sample_weight=w, random_state=random_state)[0]
        else:
            drawn = _draw_rows(rows, columns, begin, stop, size, random_state)
        if method.endswith("kmeans"):
            x = rows.features.chunk(columns, slice(begin, stop), dtype).T
            drawn, nearest = _kmeans(x, w, drawn, random_state)
            centre = drawn
            if len(sizes) > 1:
                share = np.bincount(nearest, weights=w, minlength=size) / w.sum()
        drawn_means.append(drawn.astype(np.float64))
        scatters.append(_scatter(rows, columns, begin, stop, centre, nearest))
        first = sum(sizes[:group])
        if len(sizes) == 1:
            weights[:] = 1.0 / n_components
        else:
            weights[first : first + size, group] = share
    squares = sum(v @ x**2 for x, v, _ in _chunks(rows, columns, 0, len(rows.weights)))
    overall = float(np.mean(squares / rows.weights.sum()))
    # A block of constant columns has no variance to be relative to.
    floor = max(ridge, VARIANCE_FLOOR * (overall or 1.0))
    largest = np.array([scatter.diagonal().max() for scatter in scatters])
    # A class of little weight may spread so far that the rest is lost in its rounding.
    floors = np.maximum(floor, 4 * m * SINGULAR * largest)
    regular = np.stack(scatters) + floors[:, None, None] * np.eye(m)
    means, owners = np.concatenate(drawn_means), np.repeat(np.arange(len(sizes)), sizes)
    if groups and len(sizes) > 1:
        order = np.argsort(np.concatenate(groups))
        weights, means, owners = weights[order], means[order], owners[order]
    return Mixture(weights, means, _compressed(kind, regular, owners))


def given(
    init: tuple | list, r: int, n_blocks: int, sizes: tuple[int | None, int, int], kind: type[Full]
) -> Mixture:
    """The user's own start for block ``r``, checked; ``sizes`` are (K or None, m, L)."""
    several = isinstance(init, list)
    if several and len(init) != n_blocks:
        raise ValueError(f"init: {len(init)} starts for {n_blocks} blocks")
    if not several and n_blocks > 1:
        raise ValueError(
            f"init: one start for {n_blocks} blocks; give a list of (weights, means, covariances)"
        )
    start = init[r] if several else init
    if not isinstance(start, tuple) or len(start) != 3:
        raise ValueError("init: a start is a tuple (weights, means, covariances)")
    weights, means, covariances = (np.array(part, dtype=np.float64) for part in start)
    K, m, L = sizes
    K = K or len(means)
    for name, array, allowed in (
        ("weights", weights, [(K, L)]),
        ("means", means, [(K, m)]),
        ("covariances", covariances, kind.shapes(K, m)),
    ):
        if array.shape not in allowed:
            wanted = " or ".join(map(str, allowed))
            raise ValueError(f"init: {name} of block {r} must have shape {wanted}, got {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"init: {name} of block {r} contain NaN or infinite values")
    if (weights < 0).any() or not np.allclose(weights.sum(axis=0), 1.0):
        raise ValueError(
            f"init: weights of block {r} must be non-negative, each class's column summing to one"
        )
    if not kind.regular(covariances):
        raise ValueError(f"init: covariances of block {r} must be symmetric and positive definite")
    return Mixture(weights / weights.sum(axis=0), means, covariances)


def _compressed(kind: type[Full], covariances: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """One (m, m) covariance per group of components to what the covariance type keeps."""
    if kind.name == "tied":
        return kind.compress(covariances[groups])
    return kind.compress(covariances)[groups]


def _chunks(
    rows: Rows, columns: np.ndarray, begin: int, stop: int
) -> Iterator[tuple[np.ndarray, np.ndarray, slice]]:
    """Features (n, m), weights and places, counted from ``begin``, of the rows up to ``stop``, chunk by chunk."""
    for first in range(begin, stop, CHUNK_ROWS):
        part = slice(first, min(first + CHUNK_ROWS, stop))
        place = slice(part.start - begin, part.stop - begin)
        yield rows.features.chunk(columns, part).T, rows.weights[part], place


def _scatter(
    rows: Rows, columns: np.ndarray, begin: int, stop: int, centres: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Weighted mean of (x - centre)(x - centre)', shape (m, m), where row n has centre ``labels[n]``."""
    scatter = np.zeros((len(columns), len(columns)))
    for x, w, place in _chunks(rows, columns, begin, stop):
        deviations = x - centres[labels[place]]
        scatter += (deviations.T * w) @ deviations
    return scatter / rows.weights[begin:stop].sum()


def _draw_rows(
    rows: Rows, columns: np.ndarray, begin: int, stop: int, size: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Systematic sampling of ``size`` rows with probabilities proportional to their weights, shape (size, m).

    The rows are lined up by their projection on a random direction, so the draw depends on what the rows
    are and not on their order; equal steps along the cumulated weights give distinct rows where there are
    enough of them.
    """
    direction = random_state.standard_normal(len(columns))
    # Not a matrix product: its rounding depends on where in the array a row stands.
    projections = [(x * direction).sum(axis=1) for x, _, _ in _chunks(rows, columns, begin, stop)]
    order = np.argsort(np.concatenate(projections), kind="stable")
    edges = np.cumsum(rows.weights[begin:stop][order])
    steps = (np.arange(size) + random_state.uniform()) / size * edges[-1]
    chosen = begin + order[np.searchsorted(edges, steps, side="right").clip(max=len(order) - 1)]
    return np.concatenate([rows.features.chunk(columns, slice(n, n + 1)).T for n in chosen])


def _kmeans(
    x: np.ndarray, weights: np.ndarray, centres: np.ndarray, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Lloyd's iterations from given centres: the centres and the label of each row."""
    if len(np.unique(centres, axis=0)) < len(centres):
        # Fewer distinct rows than components: k-means has nothing to add.
        distances = ((x[:, None, :] - centres[None]) ** 2).sum(axis=2)
        return centres, distances.argmin(axis=1)
    model = KMeans(len(centres), init=centres.astype(x.dtype), n_init=1, random_state=random_state)
    labels = model.fit_predict(x, sample_weight=weights)
    return model.cluster_centers_, labels
