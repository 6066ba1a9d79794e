"""log N(x; mu_k, P_k) as a matrix product, exact enough or in another way.

Each pass bounds or measures the rounding error of its log-densities, see ``rounding``. A component where that is
``MAX_ERROR`` nats or more is local: centred on its own mean and whitened, it keeps the digits that the rows have. Where
that takes longer than float64 for all (`many_local`), or is not exact enough either, the block goes on in float64.

The quadratic features serve all components at once, but have to be made. Where a chunk of rows needs only few
components, they are not.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from skem.engine import compiled
from skem.engine.linalg import Whitening
from skem.engine.parameters import Mixture
from skem.engine.rounding import MAX_ERROR, Measurement, RoundingBound

LOCAL_CALLS = 70
"""Quadratic features that take as long as what a local component takes beyond one that is not."""

LEAST_MEASURED = 2**23
"""Rows times components times quadratic features up to which float64 takes the place of measuring errors in float32. Where
errors had to be measured in most passes (8 to 36 features, 4 to 40 components, with AVX-512), a pass in float32 took 1.3 to 6
times as long as one in float64 from 1 to 7 million on, and .7 to 1.3 times as long at 14 million."""

Joint = tuple[np.ndarray, np.ndarray, np.ndarray]
"""What `components.joint_terms` returns."""

Natural = tuple[np.ndarray, tuple[Any, ...], Joint | None]
"""What `components.next_parameters` returns but for the parameters: w, less the penalties, the terms, and where it is of use the joint."""

_NO_INDICES = np.arange(0)
_FLOAT64 = np.dtype(np.float64)

LEAST_LOG_RATIO: dict[np.dtype, float] = {np.dtype(np.float32): -80.0, np.dtype(np.float64): -700.0}
"""Log of a density over the largest one of its row up to which it counts as zero. A little below, numbers are subnormal: a
matrix product with one of them in ten takes fifty times as long."""

LEAST_SUM: dict[np.dtype, float] = {
    dtype: float(np.exp(least)) / float(np.finfo(dtype).eps) for dtype, least in LEAST_LOG_RATIO.items()
}
"""Sums of such ratios down to which what counts as zero is lost in rounding."""

LEAST = {dtype: (dtype.type(least), LEAST_SUM[dtype]) for dtype, least in LEAST_LOG_RATIO.items()}
"""Both, as `kernels.e_step` takes them."""


def log_sum_exp(log_joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn (k, n) log-densities into exp(. - max over k) in place; return log sum_k exp, in float64, and the max, (n,)."""
    return compiled.kernels().log_sum_exp(log_joint, log_joint.dtype.type(LEAST_LOG_RATIO[log_joint.dtype]))


def many_local(local: np.ndarray, n_quadratic: int) -> bool:
    """Whether float64 for all components takes less time than float32 with these local ones, of a mask (K,)."""
    # Measured with 8 to 36 features, all types, with and without AVX-512: borders are .8 to 1.3 times this.
    return bool(local.sum() * (n_quadratic + LOCAL_CALLS) > 0.75 * len(local) * n_quadratic)


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
    log_sharing : ndarray of shape (K, C), optional
        As for `LogJoint`.
    natural : tuple, optional
        What `components.next_parameters` found for these arguments.
    parameters : tuple of ndarray, optional
        Result of `CovarianceType.natural`, if it is known.

    Attributes
    ----------
    w : ndarray of shape (K, H)
        Of each component, less ``common``; zero for local ones.
    common : ndarray of shape (H,)
    log_weights : ndarray of shape (K, L)
        log pi_kc.
    all_active : bool
        Whether every class uses every component.
    penalties : ndarray of shape (K,)
    local : ndarray of int
        The components to centre and whiten.
    dtype : numpy dtype
        In which to compute.
    joint : tuple or None
        Where it is known, what `components.joint_terms` makes of all components and classes.
    """

    joint: Joint | None

    def __init__(
        self,
        mixture: Mixture,
        bound: RoundingBound,
        dtype: np.dtype,
        *,
        ridge: float = 0.0,
        local: np.ndarray | bool = False,
        log_sharing: np.ndarray | None = None,
        natural: Natural | None = None,
        parameters: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.covariance_type = bound.covariance_type
        self.mixture = mixture
        self.dtype = np.dtype(dtype)
        self._whitenings: dict[int, tuple[Whitening, Whitening]] = {}
        components, largest = compiled.components(), bound.largest_features
        local = np.zeros(len(mixture.means), dtype=bool) if isinstance(local, bool) else local
        if natural is not None:
            w, terms, self.joint = natural
        else:
            # What all components have in common does not move a responsibility: without it the rest is exact
            # to one more digit, which is what breaks the symmetry of a start with all components nearly equal.
            # Weighted, so that a component nobody uses, or a narrow one with much larger numbers, does not spoil the others.
            w, precision_traces = parameters or self.covariance_type.natural(
                mixture.means, mixture.covariances
            )
            weights = np.ascontiguousarray(mixture.weights)
            terms, self.joint = components.apart(w, precision_traces, ridge, weights, local, largest), None
        self.log_weights, self.all_active, self.penalties, self.w, self.common, of_all, of_rest = terms
        if not bound.suffices(of_all, _FLOAT64):
            nothing = np.zeros(w.shape[1])
            local = local | ~(bound.errors(w, nothing, _FLOAT64)[0] < MAX_ERROR[_FLOAT64])
            weights = np.ascontiguousarray(mixture.weights)
            terms = components.apart(w, np.zeros(len(w)), 0.0, weights, local, largest)
            *_, self.w, self.common, _, of_rest = terms
            self.joint = None
        if self.dtype != _FLOAT64:
            local_in_float32 = self._local_in_float32(bound, w, of_rest, local, log_sharing)
            if local_in_float32 is None:
                self.dtype = _FLOAT64
            else:
                local = local_in_float32
        self.local = local.nonzero()[0] if True in local.tolist() else _NO_INDICES
        # What is common stays as it is, and so do the errors of the others.
        if len(self.local):
            self.w[self.local] = 0.0

    def _local_in_float32(
        self,
        bound: RoundingBound,
        w: np.ndarray,
        largest: tuple[float, float],
        local: np.ndarray,
        log_sharing: np.ndarray | None,
    ) -> np.ndarray | None:
        """The components to be local so that float32 is exact enough for all, (K,); None where it is not, or they are many."""
        limit, known, some_local = MAX_ERROR[self.dtype], bound.known, True in local.tolist()
        if not some_local and bound.suffices(largest, self.dtype):
            return local
        bounds, fine = bound.errors(w, self.common, self.dtype)
        if fine and not some_local:
            return local
        suspects = ~local & ~(bounds < limit)
        if bound.n_rows * w.size <= LEAST_MEASURED:
            return None
        if many_local(local, w.shape[1]) or not (local | (bounds < np.inf)).all():
            return None
        if not known.a_pass_later():
            return None
        largest_penalty = float(self.penalties.max())
        if log_sharing is not None:
            largest_penalty -= float(log_sharing.min(initial=0.0, where=self.mixture.weights > 0))
        measurement = cache(
            lambda: Measurement(
                bound,
                self.mixture,
                self.w,
                self.common,
                self.log_normal,
                np.flatnonzero(local),
                largest_penalty,
            )
        )

        def too_coarse(which: np.ndarray, of_local: bool) -> np.ndarray:
            """Those of some components whose error is too large one way or the other."""
            with np.errstate(all="ignore"):  # what overflows is an error that is too large
                unsure = which[~(known.errors(which, bounds, of_local) < limit)]
                if not len(unsure):
                    return unsure
                errors = (measurement().of_local if of_local else measurement().of_products)(unsure)
                known.learn(unsure, bounds, of_local, errors)
            return unsure[~(errors < limit)]

        local = local.copy()
        local[too_coarse(np.flatnonzero(suspects), False)] = True
        exact = not (many_local(local, w.shape[1]) or len(too_coarse(np.flatnonzero(local), True)))
        known.pause(not exact and bound.few_rows(len(w)))
        return local if exact else None

    def log_normal(self, k: int, x: np.ndarray) -> np.ndarray:
        """log N(x; mu_k, P_k) - penalty_k of one component by whitening, (n,), in the type of x, (m, n)."""
        return self.whitening(k, x.dtype).log_normal(x)

    def whitening(self, k: int, dtype: np.dtype) -> Whitening:
        """What `log_normal` computes with for one component."""
        if k not in self._whitenings:
            mean = self.mixture.means[k]
            factors = self.covariance_type.factors(self.mixture.covariances, np.array([k]), len(mean))
            exact = Whitening.of(mean, factors[0], self.penalties[k])
            self._whitenings[k] = exact, exact if self.dtype == np.float64 else exact.rounded(self.dtype)
        exact, rounded = self._whitenings[k]
        return exact if dtype == np.float64 else rounded

    def origins(self, local: np.ndarray | bool, centres: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """About which an E-step takes its sums, (K, m): zero, but for the components of a mask (K,), which is returned too.

        Those are about ``centres``, by default their means; parameters as for `em`.
        """
        means = self.mixture.means
        centred, origins = np.zeros(len(means), dtype=bool), np.zeros(means.shape)
        if len(self.local):
            # In float32 most local components are sharp only, not too narrow for sums about zero.
            centred[self.local if self.dtype == np.float64 else local] = True
            # Rounded to the type of the rows, which is then what they are taken about.
            origins[centred] = (means if centres is None else centres)[centred].astype(self.dtype)
        return origins, centred


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
    joint : tuple, optional
        What `components.joint_terms` made of these arguments.

    Attributes
    ----------
    components
        As given.
    family : int or None
        What phi is; None where the E-step does not make it.
    w : ndarray of shape (k + 1, H)
        Of the components, with the log-weights of a single class, and of what they have in common.
    terms : tuple of ndarray
        What `kernels.e_step` has to know of the components: log-weights still to be added, (k, C), what it takes to
        undo the penalties but for a factor, (k, C), and log of that factor, (C,).
    local, numbers : ndarray of int, shape (l,)
        Which of ``components`` are centred and whitened by themselves, and their numbers among all.
    """

    def __init__(
        self,
        density: LogDensity,
        components: np.ndarray | slice,
        log_weights: np.ndarray,
        log_sharing: np.ndarray | None = None,
        joint: Joint | None = None,
    ) -> None:
        self._density, self.components = density, components
        self._log_weights = log_weights
        self._penalties = density.penalties[components, None]
        if log_sharing is not None:
            # A component that a class does not use has nothing to say, whatever its penalty.
            self._penalties = np.where(log_weights > -np.inf, self._penalties - log_sharing, -np.inf)
        self.local = self.numbers = _NO_INDICES
        if len(density.local):
            numbers = np.arange(len(density.w))[components]
            self.local = np.flatnonzero(np.isin(numbers, density.local))
            self.numbers = numbers[self.local]
        self.family = density.covariance_type.made_for(len(log_weights))
        # log sum_k pi_k N_k = log sum_k pi_k N_k e^-pen_k + log sum_k w_k e^pen_k: the last factor, scaled.
        log_weights = np.ascontiguousarray(log_weights)
        made: Joint = joint or compiled.components().joint_terms(
            density.w[components], density.common, log_weights, self._penalties
        )
        self.w, relief, largest_penalty = made
        self.terms = log_weights, relief, largest_penalty

    def of_local(self, x: np.ndarray) -> np.ndarray:
        """What `__call__` finds for the local components, with what it leaves out: shape (l, n), in float64."""
        result = np.empty((len(self.local), x.shape[1]))
        x = np.ascontiguousarray(x)
        one_class = self._log_weights.shape[1] == 1
        for i, (place, k) in enumerate(zip(self.local, self.numbers.tolist(), strict=True)):
            result[i] = self._density.log_normal(k, x) + (self._log_weights[place, 0] if one_class else 0.0)
        return result

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log joint densities, (k, n), and what was left out of them per row, (n,), to be added to each.

        Those of several classes are without the log-weights. ``x`` has shape (m, n).
        """
        log_joint = compiled.kernels().linear_forms(np.ascontiguousarray(x), self.w, self.family)
        log_joint, common = log_joint[:-1], log_joint[-1]
        if len(self.local):
            log_joint[self.local] = self.of_local(x) - common
        return log_joint, common

    def without_penalties(self, x: np.ndarray, codes: np.ndarray | int = 0) -> np.ndarray:
        """log p(x|c) of rows, (n,), computed without the penalties of ridge and sharing.

        Parameters
        ----------
        x : ndarray of shape (m, n)
        codes : ndarray of int, shape (n,), or 0
            The class of each row, where there are several.
        """
        log_weights = self._log_weights + self._penalties
        joint, common = LogJoint(self._density, self.components, log_weights)(x)
        if log_weights.shape[1] > 1:
            joint += log_weights.astype(joint.dtype).take(codes, axis=1)
        return log_sum_exp(joint)[0] + common
