"""log N(x; mu_k, P_k) as a matrix product, exact enough or in another way.

Each pass bounds the rounding error of its log-densities by eps * max_n sum_h |w_kh phi_nh|. Where that
passes ``MAX_ERROR`` nats in float32, the block goes on in float64; where it does in float64, that
component is local: centred on its own mean and whitened by a triangular solve instead.

The quadratic features serve all components at once, but have to be made. Where a chunk of rows needs only few
components, they are not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from skem.engine.covariance_type import CovarianceType
from skem.engine.linalg import log_normal
from skem.engine.parameters import Mixture
from skem.engine.rows import CHUNK_ROWS, Features
from skem.engine.threads import Workers

MAX_ERROR = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-6}
"""Nats of rounding error a log-density may have before a more exact way is taken."""

_NO_INDICES = np.arange(0)

LEAST_LOG_RATIO: dict[np.dtype, float] = {np.dtype(np.float32): -80.0, np.dtype(np.float64): -700.0}
"""Log of a density over the largest one of its row up to which it counts as zero. A little below, numbers are subnormal: a
matrix product with one of them in ten takes fifty times as long."""

LEAST_SUM = {
    dtype: float(np.exp(least)) / float(np.finfo(dtype).eps) for dtype, least in LEAST_LOG_RATIO.items()
}
"""Sums of such ratios down to which what counts as zero is lost in rounding."""


def log_sum_exp(log_joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn (k, n) log-densities into exp(. - max over k) in place; return log sum_k exp, in float64, and the max, (n,)."""
    from skem.engine import kernels

    return kernels.log_sum_exp(log_joint, log_joint.dtype.type(LEAST_LOG_RATIO[log_joint.dtype]))


class RoundingBound:
    """How large w . phi gets at most: first a bound that costs nothing, a closer one where that does not do.

    Parameters
    ----------
    features : Features
    columns : ndarray of int, shape (m,)
    covariance_type : CovarianceType
    workers : Workers

    Attributes
    ----------
    largest_features : ndarray of shape (H,)
        No less than max_n |phi_nh|.
    """

    def __init__(
        self, features: Features, columns: np.ndarray, covariance_type: CovarianceType, workers: Workers
    ) -> None:
        self.covariance_type = covariance_type
        self._features, self._columns, self._workers = features, columns, workers
        self._extent = features.extent[columns, None]
        self.largest_features = covariance_type.features(self._extent)[:, 0]

    @property
    def spread(self) -> float:
        """max_n |u_n|^2 for u_i = x_i / max |x_i|: m only if in some row every feature is at its largest."""
        features, columns = self._features, self._columns
        key = columns.tobytes()
        if key not in features.spread:
            extent = np.where(self._extent > 0, self._extent, 1.0)

            def spread(chunk: slice) -> float:
                u = features.read(columns, chunk) / extent
                return float(np.einsum("in,in->n", u, u).max())

            features.spread[key] = max(self._workers.map(spread, features.chunks))
        return features.spread[key]

    def exact_enough(self, w: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """Whether eps * max_n sum_h |w_kh phi_nh| < ``MAX_ERROR``, shape (K,), for |w| of shape (K, H)."""
        number = np.finfo(dtype)
        limit = MAX_ERROR[np.dtype(dtype)] / float(number.eps)
        largest = w * self.largest_features
        enough = np.asarray(largest.sum(axis=1) < limit)
        if not enough.all():
            enough |= self.covariance_type.bound(largest, len(self._extent), self.spread) < limit
        # A small product of a factor that overflows is NaN; sums over the rows of a chunk are not to overflow either.
        if not self.largest_features.max() * CHUNK_ROWS < number.max:
            return np.zeros_like(enough)
        return enough & (w.max(axis=1) < number.max)


class LogDensity:
    """log N(x; mu_k, P_k) - penalty_k of all components, exact enough for features up to a given size.

    Parameters
    ----------
    mixture : Mixture
    bound : RoundingBound
        Of the features of the rows it will be used on.
    dtype : numpy dtype
        In which to compute if that is exact enough.
    ridge : float
        r of the penalty r/2 tr(P^-1).
    local : ndarray of bool, shape (K,), optional
        Components to centre and whiten in any case.

    Attributes
    ----------
    w : ndarray of shape (K, H)
        Of each component, less ``common``; zero for local ones.
    common : ndarray of shape (H,)
    penalties : ndarray of shape (K,)
    local : ndarray of int
        The components to centre and whiten.
    dtype : numpy dtype
        In which to compute.
    """

    def __init__(
        self,
        mixture: Mixture,
        bound: RoundingBound,
        dtype: np.dtype,
        *,
        ridge: float = 0.0,
        local: np.ndarray | bool = False,
    ) -> None:
        self.covariance_type = bound.covariance_type
        self.mixture = mixture
        w, precision_traces = self.covariance_type.natural(mixture.means, mixture.covariances)
        self.penalties = 0.5 * ridge * precision_traces
        w[:, 0] -= self.penalties
        self.local = np.flatnonzero(local | ~bound.exact_enough(np.abs(w), np.dtype(np.float64)))
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
            len(self.local) or not bound.exact_enough(np.abs(w) + np.abs(self.common), self.dtype).all()
        ):
            self.dtype = np.dtype(np.float64)
        self.w = w

    @cached_property
    def matrices(self) -> np.ndarray:
        """P_k, (K, m, m)."""
        return self.covariance_type.dense(self.mixture.covariances, *self.mixture.means.shape)


class LogJoint:
    """log pi_kc + log N(x; mu_k, P_k) - penalty_k of some components, made once for all chunks of the same classes.

    Parameters
    ----------
    density : LogDensity
    components : ndarray of int, shape (k,), or slice(None)
    log_weights : ndarray of shape (k, C)
        log pi_kc for each of the C classes, ``log_sharing`` included.
    log_sharing : ndarray of shape (k, C), optional
        What training takes off a component's log-weight in a class, at most zero: a penalty like the ridge's.

    Attributes
    ----------
    components
        As given.
    directly : bool
        Whether the quadratic features are not made.
    w : ndarray of shape (k + 1, H)
        Of the components, with the log-weights of a single class, and of what they have in common.
    terms : tuple of ndarray
        What `kernels.posterior` has to know of the components: log-weights still to be added, (k, C), what it takes to
        undo the penalties but for a factor, (k, C), and log of that factor, (C,).
    local : ndarray of int
        Which of ``components`` are centred and whitened by a triangular solve.
    """

    def __init__(
        self,
        density: LogDensity,
        components: np.ndarray | slice,
        log_weights: np.ndarray,
        log_sharing: np.ndarray | None = None,
    ) -> None:
        self._density, self.components = density, components
        k, n_classes = log_weights.shape
        self._log_weights = log_weights
        self._penalties = density.penalties[components][:, None]
        if log_sharing is not None:
            # A component that a class does not use has nothing to say, whatever its penalty.
            self._penalties = np.where(log_weights > -np.inf, self._penalties - log_sharing, -np.inf)
        w = np.empty((k + 1, density.w.shape[1]))
        w[:-1] = density.w[components]
        w[-1] = density.common
        if n_classes == 1:
            w[:-1, 0] += log_weights[:, 0]
        self.w = w.astype(density.dtype, copy=False)
        self.local = _NO_INDICES
        if len(density.local):
            numbers = np.arange(len(density.w))[components]
            self.local = np.flatnonzero(np.isin(numbers, density.local))
        self.directly = not len(self.local) and density.covariance_type.directly(
            k, density.mixture.means.shape[1]
        )
        # log sum_k pi_k N_k = log sum_k pi_k N_k e^-pen_k + log sum_k w_k e^pen_k: the last factor, scaled.
        largest_penalty = self._penalties.max(axis=0)
        relief = np.exp(self._penalties - largest_penalty).astype(density.dtype)
        if relief.shape[1] < n_classes:
            relief, largest_penalty = relief.repeat(n_classes, axis=1), largest_penalty.repeat(n_classes)
        self.terms = log_weights.astype(density.dtype, copy=False), relief, largest_penalty

    def __call__(
        self, x: np.ndarray, phi: Callable[[], np.ndarray], empty: Callable[..., np.ndarray] = np.empty
    ) -> tuple[np.ndarray, np.ndarray]:
        """Log joint densities, (k, n), and what was left out of them per row, (n,), to be added to each.

        Those of several classes are without the log-weights.

        Parameters
        ----------
        x : ndarray of shape (m, n)
        phi : callable
            Gives the quadratic features, shape (H, n), where they are needed.
        empty : callable
            Makes an array for the result, as `numpy.empty` does.
        """
        if self.directly:
            from skem.engine import kernels

            log_joint = kernels.quadratic_forms(np.ascontiguousarray(x), self.w)
        else:
            features = phi()
            log_joint = empty((len(self.w), features.shape[1]), features.dtype)
            np.matmul(self.w, features, out=log_joint)
        log_joint, common = log_joint[:-1], log_joint[-1]
        if len(self.local):
            density = self._density
            numbers = np.arange(len(density.w))[self.components]
            one_class = self._log_weights.shape[1] == 1
            for place in self.local:
                k = numbers[place]
                exact = log_normal(x, density.mixture.means[k], density.matrices[k]) - density.penalties[k]
                log_joint[place] = exact + (self._log_weights[place, 0] if one_class else 0.0) - common
        return log_joint, common

    def without_penalties(
        self, x: np.ndarray, phi: Callable[[], np.ndarray], codes: np.ndarray | int = 0
    ) -> np.ndarray:
        """log p(x|c) of rows, (n,), computed without the penalties of ridge and sharing.

        Parameters
        ----------
        x, phi
            As above.
        codes : ndarray of int, shape (n,), or 0
            The class of each row, where there are several.
        """
        log_weights = self._log_weights + self._penalties
        joint, common = LogJoint(self._density, self.components, log_weights)(x, phi)
        if log_weights.shape[1] > 1:
            joint += log_weights.astype(joint.dtype).take(codes, axis=1)
        return log_sum_exp(joint)[0] + common
