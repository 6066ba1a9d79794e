"""Supervised EM over class-sorted chunks, as a generator of immutable states, one per pass.

The E-step (Pulford 2022, eq. 15) and the sums of the M-step (eqs. 16-18) are two matrix products per chunk
of rows. A chunk holds rows of one class, so it needs only the components that class still uses: the
class's *active set*. A pair (component, class) leaves it for good when its expected count falls below
``ACTIVE_ROWS`` rows, and a pass gets cheaper as EM separates the classes. Leaving out n rows' worth of a
pair costs about n nats in that pass; but a pair that only a far-off row uses may grow back from 1e-12 rows
to one within a few passes, and from 1e-20 too, so the limit lies where none did.

The ridge is part of the model: with ``ridge`` = r, training uses log N(x; mu, P) - r/2 tr(P^-1), for which
P = S + r I *is* the M-step. The penalised log-likelihood, the ``objective``, therefore never falls.

Each pass bounds the rounding error of its log-densities by eps * sum_h |w_kh| max_n |phi_nh|. Where that
passes ``MAX_ERROR`` nats in float32, the block goes on in float64; where it does in float64, that
component is centred on its own mean and whitened by a triangular solve instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from skem.chunks import Features, Rows
from skem.gaussian import Full, Mixture, whitened
from skem.threads import Workers

ACTIVE_ROWS = 1e-40
"""Expected rows below which a (component, class) pair is dropped; 0 keeps every pair that is not zero. At the settings
of Pulford's Table 1, 1e-8 moves the log-likelihood of MNIST by 2e-5 and 1e-20 that of Fashion-MNIST by 6e-6, relative;
1e-40 moves none by more than 1e-10 and no prediction, and saves half the time that 1e-8 does."""

MAX_ERROR = 1e-3
"""Nats of rounding error a log-density may have before a more exact way is taken."""

KEPT_BYTES = 4 * 2**20
"""Quadratic features of a block up to this size are made once; larger ones anew, chunk by chunk, in every pass."""


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


class Sizes:
    """How large the quadratic features get: first a bound that costs nothing, looked at closely only if it must be.

    Parameters
    ----------
    features : Features
    columns : ndarray of int, shape (m,)
    kind : covariance type
    workers : Workers
    """

    def __init__(self, features: Features, columns: np.ndarray, kind: type[Full], workers: Workers) -> None:
        self._all = features, columns, kind, workers
        self.bound = kind.features(features.extent[columns, None])[:, 0]

    @cached_property
    def largest(self) -> np.ndarray:
        """max_n |phi_nh| over all rows, shape (H,)."""
        features, columns, kind, workers = self._all

        def largest(part: slice) -> np.ndarray:
            phi = kind.features(features.chunk(columns, part, features.X.dtype)).astype(
                np.float64, copy=False
            )
            return np.maximum(phi.max(axis=1), -phi.min(axis=1))

        return np.maximum.reduce(list(workers.map(largest, features.parts())))

    def exact_enough(self, w: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """Whether eps * sum_h |w_kh| max_n |phi_nh| < ``MAX_ERROR``, shape (K,), for |w| of shape (K, H)."""
        eps = np.finfo(dtype).eps
        enough = np.asarray(eps * (w @ self.bound) < MAX_ERROR)
        return enough if enough.all() else np.asarray(eps * (w @ self.largest) < MAX_ERROR)


class LogDensity:
    """log N(x; mu_k, P_k) - penalty_k of all components, exact enough for features up to a given size.

    Parameters
    ----------
    mixture : Mixture
    kind : covariance type
    sizes : Sizes
        Of the features of the rows it will be used on.
    dtype : numpy dtype
        In which to compute if that is exact enough.
    ridge : float
        r of the penalty r/2 tr(P^-1).
    """

    def __init__(
        self, mixture: Mixture, kind: type[Full], sizes: Sizes, dtype: np.dtype, ridge: float = 0.0
    ) -> None:
        self.kind = kind
        self.mixture = mixture
        w, precision_traces = kind.natural(mixture.means, mixture.covariances)
        self.penalties = 0.5 * ridge * precision_traces
        w[:, 0] -= self.penalties
        self.local = np.flatnonzero(~sizes.exact_enough(np.abs(w), np.dtype(np.float64)))
        w[self.local] = 0.0
        # What all components have in common does not move a responsibility: without it the rest is exact
        # to one more digit, which is what breaks the symmetry of a start with all components nearly equal.
        # Weighted, so that a far-off component nobody uses does not spoil the others.
        share = mixture.weights.mean(axis=1)
        share[self.local] = 0.0
        self.common = share @ w / (share.sum() or 1.0)
        w -= self.common
        w[self.local] = 0.0
        self.dtype = np.dtype(dtype)
        if self.dtype != np.float64 and (
            len(self.local) or not sizes.exact_enough(np.abs(w) + np.abs(self.common), self.dtype).all()
        ):
            self.dtype = np.dtype(np.float64)
        self.w = w

    def __call__(
        self, x: np.ndarray, phi: np.ndarray, components: np.ndarray, log_weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Log-densities of some components plus their log-weights, and what was left out of them per row.

        Parameters
        ----------
        x : ndarray of shape (m, n)
        phi : ndarray of shape (H, n)
        components : ndarray of int, shape (k,)
        log_weights : ndarray of shape (k,)

        Returns
        -------
        log_density : ndarray of shape (k, n)
        common : ndarray of shape (n,)
            To be added to every row of ``log_density``.
        """
        w = np.empty((len(components) + 1, len(self.common)))
        w[:-1] = self.w[components]
        w[:-1, 0] += log_weights
        w[-1] = self.common
        log_density = w.astype(self.dtype, copy=False) @ phi
        log_density, common = log_density[:-1], log_density[-1]
        for row in self.local_rows(components):
            k = components[row]
            exact = whitened(x, self.mixture.means[k], self.covariances[k]) - self.penalties[k]
            log_density[row] = exact + log_weights[row] - common
        return log_density, common

    @cached_property
    def covariances(self) -> np.ndarray:
        return self.kind.dense(self.mixture.covariances, *self.mixture.means.shape)

    def local_rows(self, components: np.ndarray) -> np.ndarray:
        """Which of some components are centred and whitened each on its own."""
        return np.flatnonzero(np.isin(components, self.local)) if len(self.local) else self.local


def _exponentiate(log_joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn (k, n) log-densities into exp(. - max over k) in place; return log sum_k exp and the new sums."""
    largest = log_joint.max(axis=0)
    log_joint -= largest
    np.exp(log_joint, out=log_joint)
    total = log_joint.sum(axis=0)
    return (np.log(total) + largest).astype(np.float64), total


def _unpenalised(
    objective: np.ndarray, joint: np.ndarray, total: np.ndarray, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """log sum_k pi_k N_k = log sum_k pi_k N_k e^-pen_k + log sum_k r_k e^pen_k, and the rows where that underflows."""
    largest = penalties.max()
    if largest == 0.0:
        return objective, _NOBODY
    ratio = np.exp(penalties - largest).astype(joint.dtype) @ joint / total
    tiny = np.finfo(ratio.dtype).tiny
    lost = np.flatnonzero(ratio < tiny) if ratio.min() < tiny else _NOBODY
    ratio[lost] = 1.0
    return objective + largest + np.log(ratio), lost


_NOBODY = np.arange(0)


@dataclass
class _Expectations:
    """The sums over rows one E-step leaves: a mutable accumulator, private to a pass."""

    counts: np.ndarray
    sums: np.ndarray
    origins: np.ndarray
    log_likelihood: float = 0.0
    objective: float = 0.0


def _expect(
    rows: Rows,
    read: Callable[[int, int, np.dtype], tuple[np.ndarray, np.ndarray]],
    mixture: Mixture,
    kind: type[Full],
    density: LogDensity,
    workers: Workers,
    moments: bool,
) -> _Expectations:
    """The E-step, and the sums of the M-step about ``origins`` unless ``moments`` is False.

    ``read`` gives x and phi of the rows between two borders.
    """
    K, L = mixture.weights.shape
    active = [np.flatnonzero(mixture.weights[:, c]) for c in range(L)]
    # Adding to everything is several times faster than adding to an index list of everything.
    places = [slice(None) if len(components) == K else components for components in active]
    with np.errstate(divide="ignore"):
        log_weights = np.log(mixture.weights)

    def chunk(item: tuple[int, slice]) -> tuple[float, float, np.ndarray | None]:
        c, part = item
        components = active[c]
        x, phi = read(part.start, part.stop, density.dtype)
        responsibilities, common = density(x, phi, components, log_weights[components, c])
        objective, total = _exponentiate(responsibilities)
        objective += common
        penalties = density.penalties[components]
        log_likelihood, lost = _unpenalised(objective, responsibilities, total, penalties)
        if len(lost):
            # The component that carries a row without the penalty has none of it with the penalty.
            again, common = density(
                x[:, lost], phi[:, lost], components, log_weights[components, c] + penalties
            )
            log_likelihood[lost] = _exponentiate(again)[0] + common
        w = rows.weights[part]
        totals = float(w @ log_likelihood), float(w @ objective)
        if not moments:
            return *totals, None
        responsibilities *= (w / total).astype(density.dtype, copy=False)
        sums = (phi @ responsibilities.T).T.astype(np.float64)
        for row in density.local_rows(components):
            local = kind.features(x - mixture.means[components[row]][:, None])
            sums[row] = local @ responsibilities[row]
        return *totals, sums

    origins = np.zeros(mixture.means.shape)
    origins[density.local] = mixture.means[density.local]
    total = _Expectations(np.zeros((K, L)), np.zeros((K, density.w.shape[1])), origins)
    chunks = rows.chunks()
    for (c, _), (log_likelihood, objective, sums) in zip(chunks, workers.map(chunk, chunks), strict=True):
        total.log_likelihood += log_likelihood
        total.objective += objective
        if sums is not None:
            total.counts[places[c], c] += sums[:, 0]
            total.sums[places[c]] += sums
    n = rows.total_weight
    total.log_likelihood /= n
    total.objective /= n
    return total


def _maximise(
    expected: _Expectations, previous: Mixture, kind: type[Full], ridge: float, active_rows: float
) -> Mixture:
    """The M-step, Pulford 2022, eqs. 16-18 (32 for a tied covariance).

    A component without rows keeps its place with weight zero; a covariance that turned singular is kept
    while its mean moves on, which still cannot lower the objective.
    """
    counts = expected.counts
    rows_per_class = counts.sum(axis=0)
    counts = np.where(counts < active_rows * np.minimum(1.0, rows_per_class), 0.0, counts)
    n = expected.sums[:, 0]
    alive = counts.sum(axis=1) > 0
    moments = expected.sums / np.where(alive, n, 1.0)[:, None]
    m = previous.means.shape[1]
    offsets = np.where(alive[:, None], moments[:, 1 : m + 1], 0.0)
    means = np.where(alive[:, None], expected.origins + offsets, previous.means)
    covariances = kind.maximise(moments, offsets, np.where(alive, n, 0.0), ridge, previous.covariances)
    return Mixture(counts / counts.sum(axis=0), means, covariances)


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
    """
    sizes = Sizes(rows.features, columns, kind, workers)
    dtype = rows.features.X.dtype

    def read(start: int, stop: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        x = rows.features.chunk(columns, slice(start, stop), dtype)
        return x, kind.features(x)

    if len(rows.weights) * len(sizes.bound) * dtype.itemsize <= KEPT_BYTES:
        read = cache(read)

    def expect(mixture: Mixture, moments: bool) -> tuple[_Expectations, np.dtype]:
        density = LogDensity(mixture, kind, sizes, dtype, ridge)
        return _expect(rows, read, mixture, kind, density, workers, moments), density.dtype

    mixture = start
    expected, dtype = expect(mixture, moments=True)
    for p in range(1, max_iter + 1):
        mixture = _maximise(expected, mixture, kind, ridge, active_rows)
        expected, dtype = expect(mixture, moments=p < max_iter)
        yield State(p, mixture, expected.log_likelihood, expected.objective, dtype)


def class_log_density(
    features: Features, columns: np.ndarray, mixture: Mixture, kind: type[Full], workers: Workers
) -> np.ndarray:
    """log p(x|c) of one block, Pulford 2022, eq. 1.

    Parameters
    ----------
    features : Features
        In the units of ``mixture``.
    columns : ndarray of int, shape (m,)
        The features of the block.
    mixture : Mixture
    kind : covariance type
    workers : Workers

    Returns
    -------
    ndarray of shape (L, n), float64
    """
    K, L = mixture.weights.shape
    active = [np.flatnonzero(mixture.weights[:, c]) for c in range(L)]
    log_weights = [np.log(mixture.weights[active[c], c]) for c in range(L)]

    def exact(log_density: np.ndarray, c: int) -> np.ndarray:
        joint = log_density[active[c]] + log_weights[c].astype(log_density.dtype)[:, None]
        return _exponentiate(joint)[0]

    def per_chunk(log_density: np.ndarray, common: np.ndarray) -> np.ndarray:
        if sum(map(len, active)) <= 2 * K:
            return np.stack([exact(log_density, c) for c in range(L)]) + common
        # One exponential per component serves all classes, but for rows a class finds all but impossible.
        largest = log_density.max(axis=0)
        density = np.exp(log_density - largest)
        mixed = mixture.weights.T.astype(density.dtype) @ density
        limits = np.finfo(density.dtype)
        with np.errstate(divide="ignore"):
            result = np.log(mixed).astype(np.float64) + largest
        impossible = mixed < limits.tiny / limits.eps
        for c in np.flatnonzero(impossible.any(axis=1)).tolist():
            result[c, impossible[c]] = exact(log_density[:, impossible[c]], c)
        return result + common

    return np.concatenate(map_log_density(per_chunk, features, columns, mixture, kind, workers), axis=1)


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
    density = LogDensity(mixture, kind, Sizes(features, columns, kind, workers), features.X.dtype)
    everything = np.arange(len(mixture.means))
    zeros = np.zeros(len(everything))

    def chunk(part: slice) -> np.ndarray:
        x = features.chunk(columns, part, density.dtype)
        return function(*density(x, kind.features(x), everything, zeros))

    return list(workers.map(chunk, features.parts()))
