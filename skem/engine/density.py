"""log N(x; mu_k, P_k) as a matrix product, exact enough or in another way.

Each pass bounds the rounding error of its log-densities by eps * max_n sum_h |w_kh phi_nh|. Where that
passes ``MAX_ERROR`` nats in float32, the block goes on in float64; where it does in float64, that
component is centred on its own mean and whitened by a triangular solve instead.

The quadratic features serve all components at once, but have to be made. Where a chunk of rows needs only few
components of many features, as after a start by class, each goes by its own whitened features instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from skem.engine.covariances import Full
from skem.engine.linalg import LOG_2PI, whitened, whitening
from skem.engine.parameters import Mixture
from skem.engine.rows import CHUNK_ROWS, Features
from skem.engine.threads import Workers

MAX_ERROR = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-6}
"""Nats of rounding error a log-density may have before a more exact way is taken."""

_NOBODY = np.arange(0)
_TINY = {np.dtype(kind): np.finfo(kind).tiny for kind in (np.float32, np.float64)}


class Sizes:
    """How large w . phi gets at most: first a bound that costs nothing, a closer one where that does not do.

    Parameters
    ----------
    features : Features
    columns : ndarray of int, shape (m,)
    kind : covariance type
    workers : Workers
    """

    def __init__(self, features: Features, columns: np.ndarray, kind: type[Full], workers: Workers) -> None:
        self._rows = features, columns, workers
        self._kind = kind
        self._extent = features.extent[columns, None]
        self.bound = kind.features(self._extent)[:, 0]

    @property
    def spread(self) -> float:
        """max_n |u_n|^2 for u_i = x_i / max |x_i|: m only if in some row every feature is at its largest."""
        features, columns, workers = self._rows
        key = columns.tobytes()
        if key not in features.spread:
            extent = np.where(self._extent > 0, self._extent, 1.0)

            def spread(part: slice) -> float:
                u = features.chunk(columns, part) / extent
                return float(np.einsum("in,in->n", u, u).max())

            features.spread[key] = max(workers.map(spread, features.parts()))
        return features.spread[key]

    def exact_enough(self, w: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """Whether eps * max_n sum_h |w_kh phi_nh| < ``MAX_ERROR``, shape (K,), for |w| of shape (K, H)."""
        number = np.finfo(dtype)
        limit = MAX_ERROR[np.dtype(dtype)] / float(number.eps)
        largest = w * self.bound
        enough = np.asarray(largest.sum(axis=1) < limit)
        if not enough.all():
            enough |= self._kind.size(largest, len(self._extent), self.spread) < limit
        # A small product of a factor that overflows is NaN; sums over the rows of a chunk are not to overflow either.
        if not self.bound.max() * CHUNK_ROWS < number.max:
            return np.zeros_like(enough)
        return enough & (w.max(axis=1) < number.max)


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
    local : ndarray of bool, shape (K,), optional
        Components to centre and whiten in any case.
    """

    def __init__(
        self,
        mixture: Mixture,
        kind: type[Full],
        sizes: Sizes,
        dtype: np.dtype,
        ridge: float = 0.0,
        local: np.ndarray | bool = False,
    ) -> None:
        self.kind = kind
        self.mixture = mixture
        w, precision_traces = kind.natural(mixture.means, mixture.covariances)
        self.penalties = 0.5 * ridge * precision_traces
        w[:, 0] -= self.penalties
        self.local = np.flatnonzero(local | ~sizes.exact_enough(np.abs(w), np.dtype(np.float64)))
        # What all components have in common does not move a responsibility: without it the rest is exact
        # to one more digit, which is what breaks the symmetry of a start with all components nearly equal.
        # Weighted, so that a far-off component nobody uses does not spoil the others.
        share = mixture.weights.sum(axis=1)
        if len(self.local):
            w[self.local], share[self.local] = 0.0, 0.0
        self.common = share @ w / (share.sum() or 1.0)
        w -= self.common
        if len(self.local):
            w[self.local] = 0.0
        self.dtype = np.dtype(dtype)
        if self.dtype != np.float64 and (
            len(self.local) or not sizes.exact_enough(np.abs(w) + np.abs(self.common), self.dtype).all()
        ):
            self.dtype = np.dtype(np.float64)
        self.w = w

    def of(
        self, components: np.ndarray | slice, log_weights: np.ndarray, log_sharing: np.ndarray | None = None
    ) -> OfClasses:
        """The log-densities of some components plus their log-weights, shape (k, C): what C classes need."""
        return OfClasses(self, components, log_weights, log_sharing)

    @cached_property
    def factors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """L^-1 of each P = L L^T, (K, m, m), L^-1 mu, (K, m), and log N(mu; mu, P) - penalty, (K,)."""
        K, m = self.mixture.means.shape
        factors, log_det = whitening(self.mixture.covariances)
        factors = np.broadcast_to(factors, (K, m, m))
        centres = (factors @ self.mixture.means[:, :, None])[:, :, 0]
        return factors, centres, -0.5 * (m * LOG_2PI + log_det) - self.penalties

    @cached_property
    def covariances(self) -> np.ndarray:
        return self.kind.dense(self.mixture.covariances, *self.mixture.means.shape)


class OfClasses:
    """Log-densities of some components plus their log-weights, made once for all chunks of one class or of several.

    Parameters
    ----------
    density : LogDensity
    components : ndarray of int, shape (k,), or slice(None)
    log_weights : ndarray of shape (k, C)
        For each class, ``log_sharing`` included.
    log_sharing : ndarray of shape (k, C), optional
        What training takes off a component's log-weight in a class, at most zero: a penalty like the ridge's.
    """

    def __init__(
        self,
        density: LogDensity,
        components: np.ndarray | slice,
        log_weights: np.ndarray,
        log_sharing: np.ndarray | None = None,
    ) -> None:
        self._density, self._components = density, components
        k, n_classes = log_weights.shape
        self._log_weights = log_weights
        self.penalties = density.penalties[components][:, None]
        if log_sharing is not None:
            # A component that a class does not use has nothing to say, whatever its penalty.
            self.penalties = np.where(log_weights > -np.inf, self.penalties - log_sharing, -np.inf)
        self.few = density.kind.few(k, density.mixture.means.shape[1])
        if self.few:
            factors, centres, log_scale = (part[components] for part in density.factors)
            if n_classes == 1:
                log_scale = log_scale + log_weights[:, 0]
            self._factors = factors.reshape(-1, factors.shape[-1]).astype(density.dtype, copy=False)
            self._centres = centres.reshape(-1, 1).astype(density.dtype, copy=False)
            self._log_scale = log_scale[:, None].astype(density.dtype, copy=False)
        else:
            w = np.empty((k + 1, density.w.shape[1]))
            w[:-1] = density.w[components]
            if n_classes == 1:
                w[:-1, 0] += log_weights[:, 0]
            w[-1] = density.common
            self._w = w.astype(density.dtype, copy=False)
        self.local_rows = _NOBODY
        if len(density.local):
            everything = np.arange(len(density.w))[components]
            self.local_rows = np.flatnonzero(np.isin(everything, density.local))
        # log sum_k pi_k N_k = log sum_k pi_k N_k e^-pen_k + log sum_k r_k e^pen_k: the last factor, scaled.
        self.most = self.penalties.max(axis=0)
        self.relief = np.exp(self.penalties - self.most).astype(density.dtype)

    def __call__(
        self, x: np.ndarray, phi: Callable[[], np.ndarray], codes: np.ndarray | int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Log-densities, (k, n), and what was left out of them per row, (n,), to be added to each.

        Parameters
        ----------
        x : ndarray of shape (m, n)
        phi : callable
            Gives the quadratic features, shape (H, n), where they are needed.
        codes : ndarray of int, shape (n,), or 0
            The class of each row, where there are several.
        """
        if self.few:
            log_density, common = self._one_by_one(x), np.zeros(x.shape[1], dtype=x.dtype)
        else:
            log_density = self._w @ phi()
            log_density, common = log_density[:-1], log_density[-1]
        if self._log_weights.shape[1] > 1:
            log_density += self._log_weights.astype(log_density.dtype, copy=False).take(codes, axis=1)
        if len(self.local_rows):
            density = self._density
            everything = np.arange(len(density.w))[self._components]
            for row in self.local_rows:
                k = everything[row]
                exact = whitened(x, density.mixture.means[k], density.covariances[k]) - density.penalties[k]
                log_density[row] = exact + self._log_weights[row, codes] - common
        return log_density, common

    def _one_by_one(self, x: np.ndarray) -> np.ndarray:
        """Log-densities by the squared length of each component's whitened features, (k, n)."""
        distances = self._factors @ x
        distances -= self._centres
        distances *= distances
        log_density = np.add.reduce(distances.reshape(len(self._log_scale), *x.shape), axis=1)
        log_density *= -0.5
        log_density += self._log_scale
        return log_density

    def unpenalised(
        self, objective: np.ndarray, joint: np.ndarray, total: np.ndarray, codes: np.ndarray | int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """log p(x|c) from the penalised one, and the rows where that underflows."""
        if not self.most.any():
            return objective, _NOBODY
        if self.relief.shape[1] == 1:
            ratio, most = self.relief[:, 0] @ joint / total, self.most[0]
        else:
            ratio, most = (
                np.einsum("kn,kn->n", self.relief.take(codes, axis=1), joint) / total,
                self.most[codes],
            )
        lost = _NOBODY
        if ratio.min() < _TINY[ratio.dtype]:
            lost = np.flatnonzero(ratio < _TINY[ratio.dtype])
            ratio[lost] = 1.0
        return objective + most + np.log(ratio), lost
