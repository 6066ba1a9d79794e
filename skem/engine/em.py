"""Supervised EM over class-sorted chunks, as a generator of immutable states, one per pass.

The E-step (Pulford 2022, eq. 15) and the sums of the M-step (eqs. 16-18) are two matrix products per chunk
of rows. A chunk holds rows of one class (but of small data all rows), so it needs only the components that
class still uses: the class's *active set*. A pair (component, class) leaves it for good when its expected
count falls below ``ACTIVE_ROWS`` rows, and a pass gets cheaper as EM separates the classes. Leaving out n
rows' worth of a pair costs about n nats in that pass; but a pair that only a far-off row uses may grow back
from 1e-12 rows to one within a few passes, and from 1e-20 too, so the limit lies where none did.

The ridge is part of the model: with ``ridge`` = r, training uses log N(x; mu, P) - r/2 tr(P^-1), for which
P = S + r I *is* the M-step. The penalised log-likelihood, the ``objective``, therefore never falls but by rounding: that
of log-densities (``log_density.MAX_ERROR``) and that of covariances, which have three digits in any direction or stay as
they were. Where sums in float32 do not have as many, the pass is done again in float64, and all that follow.

A component may be reserved, in part, for a class: ``log_sharing`` is added to its log-weights in the other classes in
the E-step and nowhere else (Titsias and Likas 2001, eqs. 27-37). It is one more penalty of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from skem.engine.covariances import Full, Moments
from skem.engine.density import LogDensity, Sizes
from skem.engine.parameters import Mixture
from skem.engine.rows import CHUNK_ROWS, Features, Rows
from skem.engine.threads import Workers, single_threaded

ACTIVE_ROWS = 1e-40
"""Expected rows below which a (component, class) pair is dropped; 0 keeps every pair that is not zero. At the settings
of Pulford's Table 1, 1e-8 moves the log-likelihood of MNIST by 2e-5 and 1e-20 that of Fashion-MNIST by 6e-6, relative;
1e-40 moves none by more than 1e-10 and no prediction, and saves half the time that 1e-8 does."""

PHI_BYTES = 4 * 2**20
"""Quadratic features of a block up to this size are made once; larger ones anew, chunk by chunk, in every pass."""


TOGETHER = 2**20
"""Rows times components times quadratic features up to which all classes are one chunk: computing what active sets
would leave out then takes less time than calling the same functions for every class."""


@dataclass(frozen=True)
class State:
    """What is known after a pass.

    Attributes
    ----------
    n_passes : int
        Passes done, p.
    mixture : Mixture
        The parameters after pass p.
    log_likelihood : float
        Weighted mean over rows of log p(x|c) under these parameters, in nats.
    objective : float
        The same with the penalised densities; what EM maximises.
    dtype : numpy dtype
        In which the log-densities were computed.
    """

    n_passes: int
    mixture: Mixture
    log_likelihood: float
    objective: float
    dtype: np.dtype


def _exponentiate(log_joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn (k, n) log-densities into exp(. - max over k) in place; return log sum_k exp and the new sums."""
    largest = log_joint.max(axis=0)
    log_joint -= largest
    np.exp(log_joint, out=log_joint)
    total = log_joint.sum(axis=0)
    return (np.log(total) + largest).astype(np.float64), total


@dataclass
class _Expectations:
    """The sums over rows one E-step leaves: a mutable accumulator, private to a pass."""

    counts: np.ndarray
    sums: np.ndarray
    origins: np.ndarray
    dtype: np.dtype
    log_likelihood: float = 0.0
    objective: float = 0.0


def _expect(
    rows: Rows,
    chunks: list[tuple[slice, slice]],
    read: Callable[[int, int], tuple[np.ndarray, Callable[[], np.ndarray]]],
    mixture: Mixture,
    kind: type[Full],
    density: LogDensity,
    workers: Workers,
    moments: bool,
    log_sharing: np.ndarray | None,
    centres: np.ndarray,
) -> _Expectations:
    """The E-step, and the sums of the M-step about ``origins`` unless ``moments`` is False.

    The origins are zero, and of local components their ``centres``, (K, m). ``chunks`` are pairs of classes and their
    rows; ``read`` gives x and phi of the rows between two borders.
    """
    K, L = mixture.weights.shape
    with np.errstate(divide="ignore"):
        log_weights = np.log(mixture.weights)
    if log_sharing is not None:
        log_weights += log_sharing
    places, owns = {}, {}
    for of in {classes.start: classes for classes, _ in chunks}.values():
        active = np.flatnonzero(mixture.weights[:, of].any(axis=1))
        # Adding to everything is several times faster than adding to an index list of everything.
        place: np.ndarray | slice = slice(None) if len(active) == K else active
        places[of.start] = place
        sharing = None if log_sharing is None else log_sharing[place, of]
        owns[of.start] = density.of(place, log_weights[place, of], sharing)

    def chunk(item: tuple[slice, slice]) -> tuple[float, float, np.ndarray | None, np.ndarray | None]:
        of, part = item
        own, place = owns[of.start], places[of.start]
        several = of.stop - of.start > 1
        codes = rows.codes[part] if several else 0
        x, phi = read(part.start, part.stop)
        responsibilities, common = own(x, phi, codes)
        objective, total = _exponentiate(responsibilities)
        objective += common
        log_likelihood, lost = own.unpenalised(objective, responsibilities, total, codes)
        if len(lost):
            # The component that carries a row without the penalty has none of it with the penalty.
            plain = density.of(place, log_weights[place, of] + own.penalties)
            again, common = plain(
                x[:, lost], lambda: phi()[:, lost], codes[lost] if isinstance(codes, np.ndarray) else 0
            )
            log_likelihood[lost] = _exponentiate(again)[0] + common
        w = rows.weights[part]
        totals = float(w @ log_likelihood), float(w @ objective)
        if not moments:
            return *totals, None, None
        responsibilities *= (w / total).astype(density.dtype, copy=False)
        # A small product is twice as fast with rows in a row.
        transposed = np.ascontiguousarray(responsibilities.T) if several else responsibilities.T
        # `@` lets no other thread run while it makes fewer than 500 numbers, however long that takes; `np.dot` does.
        sums = kind.sums(x, responsibilities) if own.few else np.dot(phi(), transposed).T
        sums = sums.astype(np.float64, copy=False)
        for row in own.local_rows:
            local = kind.features(x - origins[place][row][:, None])
            sums[row] = local @ responsibilities[row]
        counts = sums[:, :1]
        if several:
            counts = np.add.reduceat(responsibilities, rows.borders[:-1], axis=1, dtype=np.float64)
        return *totals, counts, sums

    origins = np.zeros(mixture.means.shape)
    origins[density.local] = centres[density.local]
    total = _Expectations(np.zeros((K, L)), np.zeros((K, density.w.shape[1])), origins, density.dtype)
    for (of, _), (log_likelihood, objective, counts, sums) in zip(
        chunks, workers.map(chunk, chunks), strict=True
    ):
        total.log_likelihood += log_likelihood
        total.objective += objective
        if counts is not None:
            total.counts[places[of.start], of] += counts
            total.sums[places[of.start]] += sums
    n = rows.total_weight
    total.log_likelihood /= n
    total.objective /= n
    return total


def _maximise(
    expected: _Expectations,
    previous: Mixture,
    kind: type[Full],
    ridge: float,
    active_rows: float,
    variance_floor: float,
) -> tuple[Mixture, np.ndarray]:
    """The M-step, Pulford 2022, eqs. 16-18 (32 for a tied covariance), and the components, (K,), it is in doubt about.

    A component without rows keeps its place with weight zero; a covariance that turned singular is kept
    while its mean moves on, which still cannot lower the objective. In doubt is a component so narrow, and so far
    from where its sums were taken about, that little or nothing is left of its scatter.
    """
    counts = expected.counts
    rows_per_class = counts.sum(axis=0)
    small = counts < active_rows * np.minimum(1.0, rows_per_class)
    if small.any():
        counts = np.where(small, 0.0, counts)
    m = previous.means.shape[1]
    n = expected.sums[:, 0]
    alive = counts.sum(axis=1) > 0
    if alive.all():
        phi = expected.sums / n[:, None]
        offsets = phi[:, 1 : m + 1]
        means = expected.origins + offsets
    else:
        phi = expected.sums / np.where(alive, n, 1.0)[:, None]
        offsets = np.where(alive[:, None], phi[:, 1 : m + 1], 0.0)
        means = np.where(alive[:, None], expected.origins + offsets, previous.means)
        n = np.where(alive, n, 0.0)
    moments = Moments(phi, offsets, means, n, float(np.finfo(expected.dtype).eps))
    covariances, doubtful = kind.maximise(moments, previous.covariances, ridge, variance_floor)
    return Mixture(counts / counts.sum(axis=0), means, covariances), doubtful


def passes(
    rows: Rows,
    columns: np.ndarray,
    start: Mixture,
    *,
    kind: type[Full],
    ridge: float = 0.0,
    max_iter: int,
    workers: Workers,
    active_rows: float = ACTIVE_ROWS,
    log_sharing: np.ndarray | None = None,
    variance_floor: float = 0.0,
) -> Iterator[State]:
    """Yield the state after each of ``max_iter`` passes of supervised EM on one block of features.

    Parameters
    ----------
    rows : Rows
        All features of all rows.
    columns : ndarray of int, shape (m,)
        The features of this block.
    start : Mixture
        Where to begin, in the units of ``rows``.
    kind : covariance type
        One of ``gaussian.COVARIANCE_TYPES``.
    ridge : float
        r >= 0, in squared units of ``rows``.
    max_iter : int
        How many passes.
    workers : Workers
        Who works on the chunks; the result does not depend on how many they are.
    active_rows : float
        See ``ACTIVE_ROWS``.
    log_sharing : ndarray of shape (K, L), optional
        log lambda of each component in each class, at most zero. Where it is -inf, ``start`` has weight zero.
    variance_floor : float
        Least variance of a component in any direction, in squared units of ``rows``.
    """
    sizes = Sizes(rows.features, columns, kind, workers)
    N, H = len(rows.weights), len(sizes.bound)
    together = N <= CHUNK_ROWS and N * H * len(start.means) <= TOGETHER
    chunks = rows.together if together else rows.chunks
    small = N * H * rows.features.X.dtype.itemsize <= PHI_BYTES

    @lru_cache(maxsize=1)
    def reader(dtype: np.dtype) -> Callable[[int, int], tuple[np.ndarray, Callable[[], np.ndarray]]]:
        block = rows.features.reader(columns, dtype)

        def read(start: int, stop: int) -> tuple[np.ndarray, Callable[[], np.ndarray]]:
            x = block(slice(start, stop))
            return x, cache(lambda: kind.features(x))

        return cache(read) if small else read

    def expect(
        mixture: Mixture,
        dtype: np.dtype,
        moments: bool = True,
        centres: np.ndarray | None = None,
        local: np.ndarray | bool = False,
    ) -> _Expectations:
        density = LogDensity(mixture, kind, sizes, dtype, ridge, local)
        read = reader(density.dtype)
        centres = mixture.means if centres is None else centres
        return _expect(rows, chunks, read, mixture, kind, density, workers, moments, log_sharing, centres)

    def maximise(expected: _Expectations, previous: Mixture) -> tuple[Mixture, np.dtype]:
        """The next parameters, and the type their densities may be computed in."""
        mixture, doubtful = _maximise(expected, previous, kind, ridge, active_rows, variance_floor)
        if doubtful.any() and expected.dtype != np.float64:
            return maximise(expect(previous, np.dtype(np.float64)), previous)
        if doubtful.any():
            # Its scatter once more, about its new mean: from there nothing is lost.
            again = expect(previous, expected.dtype, centres=mixture.means, local=doubtful)
            expected.sums[doubtful] = again.sums[doubtful]
            expected.origins[doubtful] = again.origins[doubtful]
            mixture, _ = _maximise(expected, previous, kind, ridge, active_rows, variance_floor)
        return mixture, expected.dtype

    mixture = start
    expected = expect(mixture, rows.features.X.dtype)
    for p in range(1, max_iter + 1):
        mixture, dtype = maximise(expected, mixture)
        expected = expect(mixture, dtype, moments=p < max_iter)
        yield State(p, mixture, expected.log_likelihood, expected.objective, expected.dtype)


def class_log_density(
    features: Features,
    blocks: Sequence[tuple[np.ndarray, Mixture]],
    kind: type[Full],
    workers: Workers,
    log_volumes: Sequence[float],
) -> np.ndarray:
    """log p(x|c) summed over blocks, Pulford 2022, eqs. 1 and 36.

    Parameters
    ----------
    features : Features
        In the units of the mixtures.
    blocks : sequence of (ndarray of int, shape (m,), Mixture)
        The features of each block and its density.
    kind : covariance type
    workers : Workers
    log_volumes : sequence of float
        What is to be taken off the log-density of each block.

    Returns
    -------
    ndarray of shape (n, L), float64, one class after the other in memory
    """
    # Factors of large covariances differ in last bits from one number of BLAS threads to another.
    with single_threaded():
        ways = [
            (_log_density(features, columns, mixture, kind, workers), _Mixed(mixture))
            for columns, mixture in blocks
        ]
        # Rows of classes: what is done with classes next, column by column, is several times faster.
        result = np.zeros((blocks[0][1].weights.shape[1], len(features.X)))

        def chunk(part: slice) -> None:
            total, common = result[:, part], np.full(len(features.X[part]), -sum(log_volumes))
            for log_density, mixed in ways:
                own, left_out = mixed(*log_density(part))
                total += own
                common += left_out
            total += common

        for _ in workers.map(chunk, features.parts()):
            pass
    return result.T


class _Mixed:
    """From log N(x; mu_k, P_k) of a chunk to log p(x|c), for one block."""

    def __init__(self, mixture: Mixture) -> None:
        self._weights = mixture.weights
        K, L = mixture.weights.shape
        self._active = [np.flatnonzero(mixture.weights[:, c]) for c in range(L)]
        self._log_weights = [np.log(mixture.weights[active, c]) for c, active in enumerate(self._active)]
        self._few = sum(map(len, self._active)) <= 2 * K

    def _exact(self, log_density: np.ndarray, c: int) -> np.ndarray:
        joint = log_density[self._active[c]] + self._log_weights[c].astype(log_density.dtype)[:, None]
        return _exponentiate(joint)[0]

    def __call__(self, log_density: np.ndarray, common: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For log-densities of shape (K, n_chunk) less ``common``: those of classes, (L, n_chunk), less another such row.

        ``log_density`` is overwritten.
        """
        if self._few:
            return np.stack([self._exact(log_density, c) for c in range(len(self._active))]), common
        # One exponential per component serves all classes, but for rows a class finds all but impossible.
        largest = log_density.max(axis=0)
        log_density -= largest
        density = np.exp(log_density)
        mixed = self._weights.T.astype(density.dtype) @ density
        limits = np.finfo(density.dtype)
        least = limits.tiny / limits.eps
        impossible = mixed < least if mixed.min() < least else None
        with np.errstate(divide="ignore"):
            result = np.log(mixed, out=mixed)
        if impossible is not None:
            result = result.astype(np.float64, copy=False)
            for c in np.flatnonzero(impossible.any(axis=1)).tolist():
                result[c, impossible[c]] = self._exact(log_density[:, impossible[c]], c)
        return result, largest.astype(np.float64) + common


def map_log_density(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    features: Features,
    columns: np.ndarray,
    mixture: Mixture,
    kind: type[Full],
    workers: Workers,
) -> list[np.ndarray]:
    """``function(log_density, common)`` for each chunk of rows, with log N(x; mu_k, P_k) of all components.

    ``log_density`` has shape (K, n_chunk); ``common``, shape (n_chunk,), is to be added to each of its rows.
    """
    with single_threaded():
        log_density = _log_density(features, columns, mixture, kind, workers)
        return list(workers.map(lambda part: function(*log_density(part)), features.parts()))


def _log_density(
    features: Features, columns: np.ndarray, mixture: Mixture, kind: type[Full], workers: Workers
) -> Callable[[slice], tuple[np.ndarray, np.ndarray]]:
    """What gives the log-densities of all components for a chunk of rows, and what they have in common."""
    density = LogDensity(mixture, kind, Sizes(features, columns, kind, workers), features.X.dtype)
    everything = density.of(slice(None), np.zeros((len(mixture.means), 1)))
    block = features.reader(columns, density.dtype)

    def chunk(part: slice) -> tuple[np.ndarray, np.ndarray]:
        x = block(part)
        return everything(x, lambda: kind.features(x))

    return chunk
