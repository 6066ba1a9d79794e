"""How far log-densities computed as w . phi are off, bounded for all rows or measured on some.

The bound is 2 eps * max_n sum_h |w_kh phi_nh|: sums of terms of one sign were seen to lose nearly as much. It costs next to
nothing, and what it lets pass needs no more. But no row has all features at their largest, and few roundings go in one
direction: of real data the error is a twentieth of it. So where float32 does not pass, its error is measured: the product is
made in float32, as for all other rows, and in float64 at

- some rows: the same number of steps apart in the order of the rows, the ones with the largest features, and the longest.
  A component counts where a class has it within ``NEAR`` nats of its best one; elsewhere nobody sees its error;
- points where each component has its own rows, drawn from it, so that narrow components are seen which none of these rows
  belongs to. There the component counts in any case.

``SAFETY`` times the largest error found is taken for the error at all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from skem.engine import compiled
from skem.engine.covariance_type import CovarianceType
from skem.engine.far_rows import FarRows
from skem.engine.linalg import EPS
from skem.engine.parameters import MATRICES, Mixture
from skem.engine.pauses import Pauses
from skem.engine.rows import CHUNK_ROWS
from skem.engine.threads import Workers

MAX_ERROR: dict[np.dtype, float] = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-6}
"""Nats of rounding error a log-density may have before a more exact way is taken."""

SAFETY = 4.0
"""How much larger than the largest error at some points the error at any row may be."""

NEAR = 25.0
"""Nats below the best component of a class down to which a component is seen: e^-25 is 1e-11."""

EVEN_ROWS = 128
"""Rows to measure at that are evenly spread; those far off come in addition, see ``far_rows``."""

OWN_POINTS = 4
"""Points to measure at that belong to a component: its mean, and some of its far rows."""

MANY_PER_POINT = 50
"""Rows per point to measure at from which they are many."""

_FLOAT32 = np.dtype(np.float32)
_ROUNDING = {dtype: 2.0 * float(np.finfo(dtype).eps) for dtype in MAX_ERROR}
_LARGEST = {dtype: float(np.finfo(dtype).max) for dtype in MAX_ERROR}


class MeasuredRows(Protocol):
    """What has to be known of rows to say how exact products of their features are."""

    @property
    def n_rows(self) -> int: ...
    @property
    def extent(self) -> np.ndarray:
        """max_n |x_n| of each feature, shape (M,)."""

    def far_rows(self, columns: np.ndarray, workers: Workers) -> FarRows: ...
    def at(self, columns: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Some features of some rows, (m, n) in float64, and their classes, (n,), if they have any."""


class RoundingBound:
    """How large w . phi gets at most: first a bound that costs nothing, a closer one where that does not do.

    Parameters
    ----------
    rows : Features or Parts
        Where the latter know the class of a row, its log-density in the others does not matter.
    columns : ndarray of int, shape (m,)
    covariance_type : CovarianceType
    workers : Workers

    Attributes
    ----------
    n_rows : int
    largest_features : ndarray of shape (H,)
        No less than max_n |phi_nh|.
    known : Known
        What was measured in earlier passes.
    """

    def __init__(
        self,
        rows: MeasuredRows,
        columns: np.ndarray,
        covariance_type: CovarianceType,
        workers: Workers,
    ) -> None:
        self.covariance_type = covariance_type
        self._rows, self._columns, self._workers = rows, columns, workers
        self.n_rows = rows.n_rows
        self.extent = rows.extent[columns, None]
        self.largest_features = np.ascontiguousarray(covariance_type.features(self.extent)[:, 0])
        # Sums over the rows of a block are not to overflow either.
        largest_feature = float(self.largest_features.max()) * CHUNK_ROWS
        self._largest_factor = {
            dtype: largest if largest_feature < largest else 0.0 for dtype, largest in _LARGEST.items()
        }
        self.known = Known()

    def limits(self, dtype: np.dtype) -> tuple[float, float, float]:
        """How far a sum of one is off at most, how far one may be, and which factor is too large."""
        return _ROUNDING[dtype], MAX_ERROR[dtype], self._largest_factor[dtype]

    def suffices(self, largest: tuple[float, float], dtype: np.dtype) -> bool:
        """Whether the errors of all components are small enough, as far as their largest sum and factor tell."""
        (of_sums, of_factors), (rounding, limit, largest_factor) = largest, self.limits(dtype)
        return rounding * of_sums < limit and of_factors < largest_factor

    def errors(self, w: np.ndarray, common: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, bool]:
        """2 eps * max_n sum_h |w_kh phi_nh|, shape (K,), infinite where a number overflows; and whether all are small enough.

        Parameters
        ----------
        w : ndarray of shape (K, H)
        common : ndarray of shape (H,)
            What is taken apart.
        dtype : numpy dtype
        """
        of_matrices = self.covariance_type.family == MATRICES
        return compiled.components().error_bounds(
            w,
            common,
            self.largest_features,
            len(self.extent) if of_matrices else 0,
            float(self._far_rows.squares[0]) if of_matrices else 0.0,
            EPS,
            *self.limits(dtype),
        )

    def few_rows(self, n_components: int) -> bool:
        """Whether measuring takes long beside a pass: with 100 components as long with 1,000 rows, a quarter with 8,000."""
        return MANY_PER_POINT * (self.rows.x.shape[1] + OWN_POINTS * n_components) > self.n_rows

    @cached_property
    def rows(self) -> Points:
        """The rows to measure at."""
        n = self.n_rows
        even = np.arange(n) if n <= EVEN_ROWS else (2 * np.arange(EVEN_ROWS) + 1) * n // (2 * EVEN_ROWS)
        x, codes = self._rows.at(self._columns, np.union1d(even, self._far_rows.rows))
        return Points(x, self.covariance_type.features(x), x.astype(_FLOAT32), codes)

    @property
    def squared_extent(self) -> float:
        """|x|^2 of the longest row, once that was asked for; before, a negative number."""
        return float(self._far_rows.squares[0]) if "_far_rows" in vars(self) else -1.0

    @cached_property
    def _far_rows(self) -> FarRows:
        return self._rows.far_rows(self._columns, self._workers)

    def own_points(self, mixture: Mixture, components: np.ndarray) -> np.ndarray:
        """Points where components have their rows, (m, k * ``OWN_POINTS``), those of each in a row, none beyond all rows."""
        means = mixture.means[components]
        k, m = means.shape
        factors = self.covariance_type.factors(mixture.covariances, components, m)
        # As far as the far ones of its rows: two deviations beyond the mean distance.
        z = np.random.default_rng(0).standard_normal((m, OWN_POINTS - 1))
        z *= (np.sqrt(m) + 2.0) / np.sqrt((z * z).sum(axis=0))
        x = np.repeat(means[:, :, None], OWN_POINTS, axis=2)
        x[:, :, 1:] += factors @ z if factors.shape[2] == m else factors * z
        return np.clip(x.transpose(1, 0, 2).reshape(m, k * OWN_POINTS), -self.extent, self.extent)


class Known:
    """Measured errors as shares of the bound, from which those of the next passes follow.

    A pass changes parameters little, and errors as much as the bound. So where they were well below the limit they are not
    measured again, until they may no longer be: what is known counts for ``GROWTH`` more in each pass. And where they were
    too large, and the rows are so few that measuring takes long beside a pass, the next time is after a pause.
    """

    GROWTH = 1.2

    def __init__(self) -> None:
        self._shares: dict[tuple[int, bool], float] = {}
        self._pauses = Pauses()

    def a_pass_later(self) -> bool:
        """Whether it is time to measure."""
        self._shares = {key: share * self.GROWTH for key, share in self._shares.items()}
        return self._pauses.over()

    def pause(self, needed: bool) -> None:
        """Measure again some passes later, if that is needed."""
        self._pauses.after(needed)

    def errors(self, which: np.ndarray, bounds: np.ndarray, local: bool) -> np.ndarray:
        """Of some components, of the way that is local or the other, shape (k,); infinite where nothing is known."""
        shares = [self._shares.get((k, local), np.inf) for k in which.tolist()]
        return np.array(shares) * bounds[which]

    def learn(self, which: np.ndarray, bounds: np.ndarray, local: bool, errors: np.ndarray) -> None:
        """Keep what was measured of some components, shape (k,)."""
        for k, error, limit in zip(which.tolist(), errors.tolist(), bounds[which].tolist(), strict=True):
            self._shares[k, local] = error / limit


class Points(NamedTuple):
    """Where to measure: x, (m, n), and phi, (H, n), in float64, x in float32, and the class of each, (n,), or None for all."""

    x: np.ndarray
    phi: np.ndarray
    rounded_x: np.ndarray
    codes: np.ndarray | None = None


class Measurement:
    """The errors of log-densities in float32 where they matter, times ``SAFETY``.

    Parameters
    ----------
    bound : RoundingBound
    mixture : Mixture
    w : ndarray of shape (K, H)
        Less ``common``; zero for components that are local.
    common : ndarray of shape (H,)
    log_normal : callable
        Gives log N(x; mu_k, P_k) - penalty_k of one component at points, (m, n), the local way and in their type.
    local : ndarray of int
    penalty : float
        Nats by which penalties may change which component of a class is its best.
    """

    def __init__(
        self,
        bound: RoundingBound,
        mixture: Mixture,
        w: np.ndarray,
        common: np.ndarray,
        log_normal: Callable[[int, np.ndarray], np.ndarray],
        local: np.ndarray,
        penalty: float,
    ) -> None:
        self._bound, self._mixture, self._log_normal = bound, mixture, log_normal
        self._w, self._common = w, common
        self._with_common = np.vstack([w, common])
        points = bound.rows
        self._rounded, self._common_at_rows = self._product(points.rounded_x)
        self._exact = (w + common) @ points.phi
        for k in local:
            self._exact[k] = log_normal(k, points.x)
        log_density = self._exact - self._common_at_rows
        with np.errstate(divide="ignore"):
            self._log_weights = np.log(mixture.weights)
        self._least = np.stack(
            [(log_density + of_class[:, None]).max(axis=0) for of_class in self._log_weights.T]
        ) - (NEAR + penalty)
        if points.codes is not None:
            self._least[points.codes != np.arange(len(self._least))[:, None]] = np.inf

    def of_products(self, which: np.ndarray) -> np.ndarray:
        """The largest error of some components as products, shape (k,)."""
        at_rows = self._largest(which, self._rounded[which], self._exact[which])
        x, features = self._bound.own_points(self._mixture, which), self._bound.covariance_type.features
        k, n = len(which), len(which) * OWN_POINTS
        # BLAS sums in another order, with up to ten times the error, where a product is small: this one is not to be.
        rounded, common = self._product(np.hstack([self._bound.rows.rounded_x, x.astype(_FLOAT32)]))
        rounded, common = rounded[which, -n:], common[-n:]
        own = np.arange(n).reshape(k, OWN_POINTS)
        phi = features(x).reshape(-1, k, OWN_POINTS).transpose(1, 0, 2)
        exact = ((self._w[which] + self._common)[:, None] @ phi)[:, 0]
        error = _error(np.take_along_axis(rounded, own, axis=1), common[own], exact)
        return self._worse(which, at_rows, error)

    def _product(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is computed of components at points, (m, n) in float32, and what they have in common: (K, n), (n,) in float64."""
        covariance_type = self._bound.covariance_type
        family = covariance_type.made_for(len(self._w))
        product = compiled.kernels().linear_forms(x, self._with_common, family)
        return product[:-1].astype(np.float64), product[-1].astype(np.float64)

    def of_local(self, which: np.ndarray) -> np.ndarray:
        """The largest error of some components the local way, shape (k,)."""
        own_x = self._bound.own_points(self._mixture, which)
        n, k = self._bound.rows.x.shape[1], len(which)
        rounded_common = self._common.astype(_FLOAT32)[None]
        common = rounded_common @ self._bound.covariance_type.features(own_x.astype(_FLOAT32))
        common = np.hstack([np.broadcast_to(self._common_at_rows, (k, n)), common.reshape(k, OWN_POINTS)])
        exact, rounded = np.empty((2, k, n + OWN_POINTS))
        for i, number in enumerate(which):
            x = np.hstack([self._bound.rows.x, own_x[:, i * OWN_POINTS : (i + 1) * OWN_POINTS]])
            exact[i] = self._log_normal(number, x)
            rounded[i] = (self._log_normal(number, x.astype(_FLOAT32)) - common[i]).astype(_FLOAT32)
        at_rows = self._largest(which, rounded[:, :n], exact[:, :n])
        return self._worse(which, at_rows, _error(rounded[:, n:], common[:, n:], exact[:, n:]))

    def _largest(self, which: np.ndarray, rounded: np.ndarray, exact: np.ndarray) -> np.ndarray:
        """The largest error at rows a class has a component near its best at; either number may be the wrong one."""
        larger = np.fmax(rounded, exact - self._common_at_rows)
        counts = np.zeros(larger.shape, dtype=bool)
        for of_class, least in zip(self._log_weights[which].T, self._least, strict=True):
            counts |= larger + of_class[:, None] >= least
        return np.where(counts, _error(rounded, self._common_at_rows, exact), 0.0).max(axis=1)

    def _worse(self, which: np.ndarray, at_rows: np.ndarray, at_own_points: np.ndarray) -> np.ndarray:
        # Nobody sees a component that no class uses.
        used = self._mixture.weights[which].any(axis=1)
        return SAFETY * np.where(used, np.maximum(at_rows, at_own_points.max(axis=1)), 0.0)


def _error(rounded: np.ndarray, common: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """How far log-densities are off, and will be by being added to others of their size; infinite where one is NaN."""
    error = np.abs(rounded + common - exact) + float(np.finfo(_FLOAT32).eps) * np.abs(rounded)
    return np.nan_to_num(error, nan=np.inf)
