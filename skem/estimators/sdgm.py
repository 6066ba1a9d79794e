"""SDGM: the sparse discriminative Gaussian mixture (Hayashi and Uchida 2021)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax, logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from skem.engine.kmeans import assign, lloyd
from skem.engine.samples import Samples
from skem.engine.softmax_mixture import LabelledRows
from skem.engine.sparse_bayes import State, iterations, refuse_more_than_memory
from skem.engine.starts import MAX_ITER
from skem.engine.threads import Workers, single_threaded
from skem.estimators._callbacks import CallbackSupportMixin, Progress, with_callbacks
from skem.estimators._checking import CheckedParameters, check_features, total_weight, weighted_rows
from skem.estimators._declarations import POSITIVE, Array, Record, count, curve, flag, size, word
from skem.estimators._docstrings import documented
from skem.estimators._feature_maps import FeatureMap, Kernel, n_quadratic
from skem.estimators._log_odds import LogOdds
from skem.estimators._saving import Saving
from skem.estimators._training import warn_unless_converged
from skem.estimators._units import all_or_nothing

LARGEST_WEIGHT = 1e100
"""Largest weight in a file: its product with a feature or kernel is finite."""

LARGEST_CURVATURE = 1e290
"""Of the weights of all rows times the largest square of a feature or kernel: sums of such products are finite."""


@documented
class SDGMClassifier(
    CheckedParameters, Saving, CallbackSupportMixin, LogOdds, ClassifierMixin, BaseEstimator
):
    """A sparse mixture per class inside one softmax, trained for P(c|x) itself (Hayashi and Uchida 2021).

    P(c, m|x) is proportional to pi_cm exp(w_cm' phi(x)), eq. 1. Each weight has a prior precision of its own, which the
    evidence chooses; weights whose precision grows without bound are dropped, and components with them.

    Parameters
    ----------
    n_components : int, default=3
        M, components of each class; a class with fewer distinct rows has as many as those. (The other classifiers count
        the components of all classes.)
    form : {"dual", "primal"}, default="dual"
        Whether a weight belongs to a training row through the kernel (section 3.3) or to a second-order feature (eq. 2).
    kernel : {"poly2", "rbf"} or callable, default="poly2"
        Of the dual form: (x'y + 1)^2; exp(-gamma |x - y|^2), which with one component per class is the relevance vector
        machine; or kernel(X, Y) of shape (len(X), len(Y)). All see features as ``standardize`` leaves them.
    gamma : float or "scale", default="scale"
        Of the kernel "rbf". "scale" is one over the sum of the variances of all features.
    init : {"class_kmeans", "class"}, default="class_kmeans"
        Which component a row starts in: k-means within its class, or the nearest of rows drawn from its class.
    standardize : bool, default=True
        Whether features are centred and divided by sqrt(n_features) times their standard deviation. The paper does not
        say; results depend on it more than on anything else.
    max_iter : int, default=500
        Updates of the precisions.
    em_iter : int, default=50
        Passes of EM before each of them.
    tol : float, default=1e-5
        Stop where the sum of squared changes of the precisions is less.
    max_precision : float, default=1e5
        A weight with a larger one is dropped.
    solver : {"auto", "direct", "lowrank"}, default="auto"
        "lowrank" replaces the weights of a component, where there are more of them, by the (n_features + 1)
        (n_features + 2) / 2 numbers that the kernel "poly2" sees of them: the same result, sooner. "direct" never does,
        "auto" where it can.
    random_state : int, RandomState instance or None, default=None
        Of ``init``.

    Attributes
    ----------
    %(classes_)s
    n_components_ : int
        What is left of them, in all classes together. Those of a class that have no weights are one.
    component_classes_ : ndarray of int, shape (n_components_,)
        Index of the class of each.
    weights_ : ndarray of shape (n_components_,)
        pi, which sums to one within each class (eq. 18).
    support_ : ndarray of int
        The training rows, or in the primal form the features of eq. 2, that any component has a weight for.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Those rows; in the dual form only.
    coef_ : ndarray of shape (n_components_, 1 + n_support)
        w: of the constant, then of ``support_``; zero where a weight has been dropped.
    alpha_ : ndarray of shape (n_components_, 1 + n_support)
        Precisions; infinite where a weight has been dropped.
    n_nonzero_weights_ : int
    objective_ : ndarray of shape (n_iter_,)
        log P(T|X, w) - w'Aw/2 at each mode, in nats for all rows. It may fall from one entry to the next: precisions
        and pi change in between.
    n_iter_ : int
        Updates of the precisions.
    converged_ : bool
        Whether ``tol`` ended the fit.
    %(n_features_in_)s

    Notes
    -----
    Where the paper is wrong or silent: eq. 11 lacks a factor of one half, eqs. 14 and 15 the sums over rows, J that over
    components. Components would be determined up to a common function, so the last component of the last class has weights of
    zero; the paper's 1250 = 5 x 250 initial weights imply it. The first M-step takes its responsibilities from ``init``, and
    pi starts at one over the components of the class. Newton's steps are shortened until they gain enough (Armijo). Eq. 18
    does not maximise eq. 11: within one update of the precisions the objective never falls, from one to the next it may. A
    component without weights stays in the softmax as pi exp(0). (x'y + 1)^2 is an inner product of features with factors of
    sqrt(2) that the paper leaves out; the primal form has eq. 2 as it stands. The dual form has a constant beside the kernel.

    Rows that are alike have one weight in common, so that a row of weight two is the same as two rows.

    References
    ----------
    H. Hayashi and S. Uchida, "A discriminative Gaussian mixture model with sparsity", ICLR 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import SDGMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> SDGMClassifier(1, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _one_precision: ClassVar[bool] = False
    _saved: ClassVar[Mapping[str, Any]] = {
        **Saving._saved,
        "classes_": Array("n_classes", kind="numbers, booleans or words", shortest=2, distinct=True),
        "n_components_": size("n_components"),
        "component_classes_": Array("n_components", kind="integers", least=0, most="n_classes"),
        "weights_": Array("n_components", least=POSITIVE),
        "support_": Array("n_support", kind="integers", least=0, shortest=0),
        "support_vectors_": Array("n_support, n_features", shortest=0, optional=True),
        "coef_": Array("n_components, 1+n_support", least=-LARGEST_WEIGHT, most=LARGEST_WEIGHT),
        "alpha_": Array("n_components, 1+n_support", least=0, most=np.inf),
        "n_nonzero_weights_": count(),
        "n_iter_": count("n_iter"),
        "objective_": curve("n_iter"),
        "converged_": flag(),
        "_map": Record(
            FeatureMap,
            {
                "form": word("dual", "primal"),
                "kernel": word("poly2", "rbf"),
                "gamma": Array(least=POSITIVE),
                "shift": Array("n_features"),
                "scale": Array("n_features", least=POSITIVE),
            },
        ),
    }
    _records = (FeatureMap,)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "form": [StrOptions({"dual", "primal"})],
        "kernel": [StrOptions({"poly2", "rbf"}), callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"scale"})],
        "init": [StrOptions({"class_kmeans", "class"})],
        "standardize": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "em_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_precision": [Interval(Real, 1, None, closed="neither")],
        "solver": [StrOptions({"auto", "direct", "lowrank"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 3,
        *,
        form: str = "dual",
        kernel: str | Kernel = "poly2",
        gamma: float | str = "scale",
        init: str = "class_kmeans",
        standardize: bool = True,
        max_iter: int = 500,
        em_iter: int = 50,
        tol: float = 1e-5,
        max_precision: float = 1e5,
        solver: str = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.form = form
        self.kernel = kernel
        self.gamma = gamma
        self.init = init
        self.standardize = standardize
        self.max_iter = max_iter
        self.em_iter = em_iter
        self.tol = tol
        self.max_precision = max_precision
        self.solver = solver
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> SDGMClassifier:
        """Train by sparse Bayesian learning (Algorithm 1).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Computed in float64.
        y : array-like of shape (n_samples,)
            Class labels, of at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative. Whole numbers are counts: a sample of weight two is two samples, and more samples count for
            more against the prior. Of any other weights only the ratios matter: they are divided by their mean. A sample
            of weight zero, or up to 1e-30 of the largest weight, counts as none.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            NaN or infinite features, or features that spread too far or too little for their squares; one class only; weights whose
            sum overflows, or does so times squares of features; fewer rows than components; a kernel that is not finite or
            not symmetric; ``solver="lowrank"`` where there is nothing of low rank.
        MemoryError
            More weights than memory holds, before anything is computed.
        """
        self._validate_params()
        if self.form == "primal" and self.kernel != "poly2":
            raise ValueError(
                'form="primal" has the features of kernel="poly2" only: set form="dual" for another kernel'
            )
        if self.solver == "lowrank" and (self.form, self.kernel) != ("dual", "poly2"):
            raise ValueError(
                'solver="lowrank" needs form="dual" and kernel="poly2", the only kernel of low rank: set solver="auto"'
            )
        progress = Progress(self, self.max_iter, X, y, sample_weight)
        with all_or_nothing(self), single_threaded():
            self._fit(X, y, sample_weight, progress)
            progress.end()
        return self

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, progress: Progress) -> None:
        features, labels = check_features(self, X, y=y)
        check_classification_targets(labels)
        used, labels, weights = weighted_rows(
            np.arange(len(features))[:, None], np.asarray(labels), sample_weight
        )
        if sample_weight is None or not np.mod(sample_weight, 1).any():
            weights *= total_weight(len(features), sample_weight) / weights.sum()
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self._refuse_classes(codes)
        # Rows that are alike become one: the result depends neither on the order of rows nor on how weight is spread.
        points, first, groups = np.unique(
            features[used[:, 0]].astype(np.float64), axis=0, return_index=True, return_inverse=True
        )
        pairs, inverse = np.unique(np.stack([groups.ravel(), codes], axis=1), axis=0, return_inverse=True)
        weights = np.bincount(inverse.ravel(), weights=weights)
        indices, codes = pairs.T
        self._map = FeatureMap.of(
            points[indices], weights, self.form, self.kernel, gamma=self.gamma, standardize=self.standardize
        )
        internal = self._map.internal(points)
        component_classes, responsibilities = self._start(internal[indices], codes, weights)
        refuse_more_than_memory(
            len(codes),
            self._map.n_columns(internal),
            self._map.rank(internal, self.solver),
            len(component_classes),
        )
        rows = LabelledRows(codes, weights, component_classes)
        basis = self._map.basis(internal, indices, self.solver)
        with np.errstate(over="ignore"):
            largest = weights.sum() * np.abs(basis.columns).max() ** 2
        if not largest < LARGEST_CURVATURE:
            raise ValueError(
                f"the weights of all rows, {weights.sum():.3g}, are too large for float64 beside the features: give smaller "
                "ones as sample_weight, or set standardize=True"
            )
        options = {name: getattr(self, name) for name in ("max_iter", "em_iter", "tol", "max_precision")}
        updates = iterations(rows, basis, responsibilities, one_precision=self._one_precision, **options)
        states: list[State] = []
        while len(states) < self.max_iter:
            with progress.task() as task:
                states.append(next(updates))
                if progress.observed:
                    self._keep(states, rows, points, used[first, 0])
            if task.stop or states[-1].converged:
                break
        self._keep(states, rows, points, used[first, 0])
        if not self.n_nonzero_weights_:
            warnings.warn(
                f"{type(self).__name__} dropped all weights and predicts the shares of the classes: set "
                "standardize=True, or a larger max_precision",
                stacklevel=3,
            )
        if not task.stop:
            warn_unless_converged(self)

    def _refuse_classes(self, codes: np.ndarray) -> None:
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, and the rows with a weight are of one class only: "
                f"{self.classes_.tolist()[0]!r}"
            )
        n_components = self.n_components * len(self.classes_)
        if len(codes) < n_components:
            raise ValueError(
                f"n_components={self.n_components} for each of {len(self.classes_)} classes are {n_components} components, "
                f"more than the {len(codes)} rows with a weight: set n_components to "
                f"{max(len(codes) // len(self.classes_), 1)} or less"
            )

    def _start(
        self, internal: np.ndarray, codes: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Class of each component, (S,), and responsibilities of the first M-step, (n, S) (appendix C)."""
        random_state = check_random_state(self.random_state)
        classes, parts, workers = [], [], Workers()
        for c in range(len(self.classes_)):
            mine = np.flatnonzero(codes == c)
            centres = internal[random_state.permutation(mine)[: self.n_components]]
            samples = Samples.of_array(internal[mine], weights[mine], workers)
            if self.init == "class_kmeans":
                labels = lloyd(samples, centres, max_iter=MAX_ITER).labels
            else:
                labels, _ = assign(samples, centres)
            part = np.zeros((len(codes), len(centres)))
            part[mine, labels] = 1.0
            classes += [c] * len(centres)
            parts.append(part)
        return np.array(classes), np.concatenate(parts, axis=1)

    def _keep(self, states: list[State], rows: LabelledRows, points: np.ndarray, indices: np.ndarray) -> None:
        """Keep what the last state has weights for."""
        last = states[-1]
        bare = ~(last.weights != 0).any(axis=1)
        first_bare = {c: s for s, c in reversed(list(enumerate(rows.component_classes))) if bare[s]}
        pi = last.pi.copy()
        for c, s in first_bare.items():  # components without weights are the same function
            alike = bare & (rows.component_classes == c)
            pi[s] = pi[alike].sum()
            pi[alike & (np.arange(len(pi)) != s)] = 0.0
        if bare.all():
            pi *= np.bincount(rows.codes, weights=rows.weights)[rows.component_classes] / rows.weights.sum()
        kept = np.flatnonzero(pi > 0)
        support = np.flatnonzero((last.weights[kept, 1:] != 0).any(axis=0))
        columns = np.concatenate([[0], 1 + support])
        self.weights_, self.component_classes_ = pi[kept], rows.component_classes[kept]
        self.n_components_ = len(kept)
        self.coef_ = last.weights[np.ix_(kept, columns)]
        self.alpha_ = last.precisions[np.ix_(kept, columns)]
        self.n_nonzero_weights_ = int(np.count_nonzero(self.coef_))
        self.__dict__.pop("support_vectors_", None)
        if self._map.form == "dual":
            self.support_, self.support_vectors_ = indices[support], points[support]
        else:
            self.support_ = 1 + support
        self.objective_ = np.array([state.objective for state in states])
        self.n_iter_, self.converged_ = len(states), last.converged

    def _refuse_impossible(self) -> None:
        if self._map.form == "dual" and not hasattr(self, "support_vectors_"):
            raise ValueError("support_vectors_ is missing, which the dual form needs")
        n_features = n_quadratic(self.n_features_in_)
        if self._map.form == "primal" and (self.support_ >= n_features).any():
            raise ValueError(f"support_ must be from 0 to {n_features - 1}, got {self.support_.max()}")
        for c in np.setdiff1d(np.arange(len(self.classes_)), self.component_classes_):
            raise ValueError(f"component_classes_ has no component of class {self.classes_.tolist()[c]!r}")

    def component_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log P(c, m|x), shape (n_samples, ``n_components_``), in the order of ``component_classes_`` (eq. 1)."""
        check_is_fitted(self)
        features = check_features(self, X, reset=False).astype(np.float64)
        with single_threaded():
            if self._map.form == "dual":
                columns = self._map.columns(
                    self._map.internal(features), self._map.internal(self.support_vectors_)
                )
            else:
                columns = self._map.columns(self._map.internal(features))[
                    :, np.concatenate([[0], self.support_])
                ]
            return log_softmax(np.log(self.weights_) + columns @ self.coef_.T, axis=1)

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log P(c|x), shape (n_samples, n_classes)."""
        log_proba = self.component_log_proba(X)
        classes = range(len(self.classes_))
        return np.stack(
            [logsumexp(log_proba[:, self.component_classes_ == c], axis=1) for c in classes], axis=1
        )

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """P(c|x), shape (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of largest posterior, shape (n_samples,)."""
        log_proba = self.predict_log_proba(X)
        return self.classes_[log_proba.argmax(axis=1)]
