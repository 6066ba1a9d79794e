"""SDGM: the sparse discriminative Gaussian mixture (Hayashi and Uchida 2021)."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax, logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from skem.engine.threads import single_threaded
from skem.engine.warn import warn
from skem.estimators._callbacks import CallbackSupportMixin, Progress, fitting, with_callbacks
from skem.estimators._checking import (
    check_attribute,
    check_features,
    check_weights,
    integers,
    numbers,
    weighted_samples,
)
from skem.estimators._log_odds import log_odds
from skem.estimators._sklearn import StrOptions
from skem.estimators._training import keep_convergence, warn_unless_converged
from skem.sdgm.feature_maps import FeatureMap, Kernel, n_quadratic
from skem.sdgm.fit_cost import refuse_more_than_memory, warn_of_long_fit
from skem.sdgm.softmax_mixture import LabelledRows
from skem.sdgm.sparse_bayes import State, initial_responsibilities, iterations

logger = logging.getLogger("skem")

LEAST_SHARE = float(np.finfo(np.float64).smallest_subnormal)
"""Least mixture weight: its logarithm is finite."""

LARGEST_CURVATURE = 1e290
"""Largest sum of sample weights times the square of a feature or kernel; sums of such products are finite."""


class SDGMClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """A sparse mixture per class inside one softmax, trained for P(c|x) directly (Hayashi and Uchida 2021).

    P(c, m|x) is proportional to pi_cm exp(w_cm' phi(x)), eq. 1. Each weight has its own prior precision, which maximises the
    evidence. A weight whose precision grows without bound is dropped, and a component without weights with it.

    Parameters
    ----------
    n_components : int, default=3
        Number of components of each class, M. A class with fewer distinct samples has one component for each of them. Other
        classifiers count the components of all classes together.
    form : {"dual", "primal"}, default="dual"
        Meaning of a weight: a training sample, through the kernel (section 3.3), or a second-order feature (eq. 2). "primal"
        is faster with few features and many samples, and needs more memory if second-order features outnumber samples.
    kernel : {"poly2", "rbf"} or callable, default="poly2"
        Kernel of the dual form: (x'y + 1)^2; exp(-gamma |x - y|^2), which with one component per class makes the relevance
        vector machine; or kernel(X, Y) of shape (len(X), len(Y)). Features are scaled by ``standardize`` first.
    gamma : float or "scale", default="scale"
        Inverse squared width of the kernel "rbf". "scale" is one over the sum of the variances of all features.
    init : {"class_kmeans", "class"}, default="class_kmeans"
        Initial component of each sample: by k-means within its class, or by the nearest of samples drawn from its class.
    standardize : bool, default=True
        True centres features and divides them by sqrt(n_features) times their standard deviation. The paper does not
        specify it; no other choice affects results more.
    max_iter : int, default=500
        Maximum number of updates of the precisions.
    em_iter : int, default=50
        Maximum number of EM iterations, or steps of Newton's method in a large fit, before each update.
    tol : float, default=1e-05
        Tolerance: the fit stops once the sum of squared changes of the precisions' logarithms is less. Precisions on their way
        above ``max_precision`` do not count.
    max_precision : float, default=100000.0
        Largest precision; a weight with a larger one is dropped. A weight whose evidence is largest above it is dropped once
        the other precisions are settled. Lower it for fewer weights.
    solver : {"auto", "direct", "lowrank"}, default="auto"
        Method of the Newton steps. "lowrank" replaces the weights of a component by the (n_features + 1) (n_features + 2) / 2
        coefficients that the kernel "poly2" depends on, if these are fewer: the result is the same, and faster. "direct" keeps
        the weights. "auto" is "lowrank" wherever it applies.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices. Set an int for reproducible results.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels. A class needs one sample of positive weight; other classes are left out.
    n_components_ : int
        Number of remaining components of all classes. Components of a class without weights are merged into one.
    component_classes_ : ndarray of int, shape (n_components_,)
        Index of the class of each component.
    weights_ : ndarray of shape (n_components_,)
        Mixture weights pi, which sum to one within each class (eq. 18).
    support_ : ndarray of int, shape (n_support,)
        Indices of the training samples, or in the primal form of the features of eq. 2, with a weight in any component.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Samples of ``support_``; in the dual form only.
    coef_ : ndarray of shape (n_components_, 1 + n_support)
        Weights w of the constant, then of ``support_``; zero for a dropped weight.
    alpha_ : ndarray of shape (n_components_, 1 + n_support)
        Precisions; infinite for a dropped weight.
    n_nonzero_weights_ : int
        Number of weights that were not dropped.
    objective_ : ndarray of shape (n_iter_,)
        log P(T|X, w) - w'Aw/2 at each mode, in nats for all samples. It may fall from one entry to the next, as precisions
        and pi change in between.
    n_iter_ : int
        Number of updates of the precisions.
    converged_ : bool
        True if ``tol`` ended the fit. It exists after iterations of ``fit`` with ``tol`` > 0 only: with
        ``tol=0`` there is no criterion to fulfil.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of features, and their names if the input has them.

    Notes
    -----
    Differences from the paper, where it is wrong or silent:

    - Eq. 11 lacks a factor of one half, eqs. 14 and 15 the sums over samples, J the sum over components.
    - Components are determined up to a common function only, so the last component of the last class has weights of zero. The
      paper's 1250 = 5 x 250 initial weights imply it.
    - The first M-step takes its responsibilities from ``init``, and pi begins at one over the components of the class.
    - Newton steps are shortened until they gain enough (Armijo).
    - Eq. 18 does not maximise eq. 11. The objective never falls within one update of the precisions, and may fall from one
      update to the next.
    - A component without weights stays in the softmax as pi exp(0).
    - (x'y + 1)^2 is an inner product of features with factors of sqrt(2) that the paper omits. The primal form follows eq. 2.
    - The dual form has a constant beside the kernel.

    Eq. 17 multiplies the precision of a weight that is not needed by a constant factor, often 1.01, in each iteration. So a fit
    drops such weights, one at a time, once the other precisions are settled. It has converged if no such weight is left.

    A fit with more than 1,500 initial coefficients is large. A component has as many coefficients as weights, or fewer with
    ``solver="lowrank"``. A large fit takes Newton steps for the posterior itself once EM is near its mode. It may end in another of
    the maxima than EM alone. With n samples, S components and R coefficients of each, a Newton step takes about S n R (n + R)
    operations and S n R numbers of memory. A fit that may take more than a minute warns before it begins.
    ``logging.basicConfig(level="INFO")`` shows the progress of each iteration; callbacks report it too.

    Duplicate samples share one weight, so that a sample of weight two is the same as two samples.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [integers(1)],
        "form": [StrOptions({"dual", "primal"})],
        "kernel": [StrOptions({"poly2", "rbf"}), callable],
        "gamma": [numbers(0, None, closed="neither"), StrOptions({"scale"})],
        "init": [StrOptions({"class_kmeans", "class"})],
        "standardize": ["boolean"],
        "max_iter": [integers(1)],
        "em_iter": [integers(1)],
        "tol": [numbers(0)],
        "max_precision": [numbers(1, None, closed="neither")],
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
            Features; computations are in float64.
        y : array-like of shape (n_samples,)
            Class labels, of at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights, which are counts: a sample of weight two is two samples, and samples of more weight in all
            count for more against the prior. Divide weights by their mean if only their ratios have a meaning. A sample of
            weight zero, or up to 1e-30 of the largest weight, counts as none.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Features that are NaN, infinite, or of too wide or narrow a spread; too large weights; one class only; fewer samples
            than components; a kernel that is not finite or symmetric; ``solver="lowrank"`` with another kernel or form.
        MemoryError
            Weights that need more memory than available, before anything is computed.
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
        with fitting(self, self.max_iter, X, y, sample_weight) as progress:
            self._fit(X, y, sample_weight, progress)
        return self

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, progress: Progress) -> None:
        features, labels = check_features(self, X, y=y)
        check_classification_targets(labels)
        index, weights = weighted_samples(features, sample_weight)
        used = np.arange(len(features))[index]
        # A prior is involved: the weights count.
        weights *= check_weights(sample_weight, features).sum() / weights.sum()
        self.classes_, codes = np.unique(labels[index], return_inverse=True)
        self._refuse_classes(codes)
        # Duplicates become one: the result depends neither on the order of samples nor on how weight is spread over them.
        points, first, groups = np.unique(
            features[used].astype(np.float64), axis=0, return_index=True, return_inverse=True
        )
        pairs, inverse = np.unique(np.stack([groups.ravel(), codes], axis=1), axis=0, return_inverse=True)
        weights = np.bincount(inverse.ravel(), weights=weights)
        indices, codes = pairs.T
        self._map = FeatureMap.of(
            points[indices], weights, self.form, self.kernel, gamma=self.gamma, standardize=self.standardize
        )
        internal = self._map.internal(points)
        sizes = np.minimum(np.bincount(codes), self.n_components)
        samples = LabelledRows(codes, weights, np.repeat(np.arange(len(sizes)), sizes))
        responsibilities = initial_responsibilities(
            internal[indices], samples, self.init == "class_kmeans", check_random_state(self.random_state)
        )
        n_columns, rank = self._map.size(internal, self.solver)
        size = len(codes), n_columns, rank, len(samples.component_classes)
        other = None
        if self.kernel == "poly2" and self.solver != "lowrank":
            form = "primal" if self.form == "dual" else "dual"
            other = form, *replace(self._map, form=form).size(internal, self.solver)
        refuse_more_than_memory(*size, other)
        warn_of_long_fit(type(self).__name__, *size)
        basis = self._map.basis(internal, indices, self.solver)
        with np.errstate(over="ignore"):
            largest = weights.sum() * np.abs(basis.columns).max() ** 2
        if not largest < LARGEST_CURVATURE:
            raise ValueError(
                f"sample_weight: the sum of the weights, {weights.sum():.3g}, is too large for float64 beside the features: "
                "give smaller weights, or set standardize=True"
            )
        options = {name: getattr(self, name) for name in ("max_iter", "em_iter", "tol", "max_precision")}
        updates = iterations(samples, basis, responsibilities, one_precision=self._one_precision, **options)
        states: list[State] = []
        while len(states) < self.max_iter:
            with progress.task():
                states.append(next(updates))
                logger.info(
                    "%s: iteration %d of at most %d, %d weights, objective %.6g",
                    *(type(self).__name__, len(states), self.max_iter),
                    *(np.count_nonzero(states[-1].weights), states[-1].objective),
                )
                if progress.observed:
                    self._keep(states, samples, points, used[first])
            if progress.stop or states[-1].converged:
                break
        self._keep(states, samples, points, used[first])
        if not self.n_nonzero_weights_:
            warn(
                f"{type(self).__name__} dropped all weights and predicts the shares of the classes: set "
                "standardize=True or a larger max_precision, or scale sample weights to a mean of one",
            )
        if not progress.stop:
            warn_unless_converged(self, self.max_iter)

    def _refuse_classes(self, codes: np.ndarray) -> None:
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, and the samples with a weight are of one class only: "
                f"{self.classes_.tolist()[0]!r}"
            )
        n_components = self.n_components * n_classes
        if len(codes) < n_components:
            raise ValueError(
                f"n_components={self.n_components} for each of {n_classes} classes are {n_components} components, more than "
                f"the {len(codes)} samples with a weight: set n_components to {max(len(codes) // n_classes, 1)} or less"
            )

    def _keep(
        self, states: list[State], samples: LabelledRows, points: np.ndarray, indices: np.ndarray
    ) -> None:
        """Set the fitted attributes to the last state, without dropped weights and components."""
        last = states[-1]
        bare = ~(last.weights != 0).any(axis=1)
        pi = last.pi.copy()
        for c in np.unique(
            samples.component_classes[bare]
        ):  # components without weights are the same function
            constants = np.flatnonzero(bare & (samples.component_classes == c))
            pi[constants[0]], pi[constants[1:]] = pi[constants].sum(), 0.0
        if bare.all():
            shares = np.bincount(samples.codes, weights=samples.weights)[samples.component_classes]
            pi *= shares / samples.weights.sum()
        kept = np.flatnonzero(pi > 0)
        support = np.flatnonzero((last.weights[kept, 1:] != 0).any(axis=0))
        columns = np.concatenate([[0], 1 + support])
        self.weights_, self.component_classes_ = pi[kept], samples.component_classes[kept]
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
        self.n_iter_ = len(states)
        keep_convergence(self, last.converged if self.tol else None)

    def _check_arrays(self) -> None:
        """Raise ValueError for assigned arrays that give no probabilities."""
        L, m = len(self.classes_), self.n_features_in_
        K, primal = (
            len(check_attribute("weights_", self.weights_, ("K",), least=LEAST_SHARE)),
            self._map.form == "primal",
        )
        classes = self.component_classes_
        check_attribute("component_classes_", classes, (K,), least=0, most=L - 1, integer=True)
        for c in np.setdiff1d(np.arange(L), classes):
            raise ValueError(f"component_classes_ has no component of class {self.classes_.tolist()[c]!r}")
        n_support = check_attribute("coef_", self.coef_, (K, "S")).shape[1] - 1
        most = n_quadratic(m) - 1 if primal else np.inf
        check_attribute("support_", self.support_, (n_support,), least=0, most=most, integer=True)
        if not primal:
            check_attribute("support_vectors_", self.support_vectors_, (n_support, m))

    def component_log_proba(self, X: ArrayLike) -> np.ndarray:
        """log P(c, m|x), shape (n_samples, ``n_components_``), in the order of ``component_classes_`` (eq. 1)."""
        check_is_fitted(self)
        self._check_arrays()
        internal = self._map.internal(check_features(self, X, reset=False).astype(np.float64))
        with single_threaded():
            if self._map.form == "dual":
                columns = self._map.columns(internal, self._map.internal(self.support_vectors_))
            else:
                columns = self._map.columns(internal)[:, np.concatenate([[0], self.support_])]
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
        """Class of largest posterior, shape (n_samples,)."""
        log_proba = self.predict_log_proba(X)
        return self.classes_[log_proba.argmax(axis=1)]

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Log-odds of each class, of ``classes_[1]`` for two, in nats; beyond 36 compressed to 36 + log(1 + d - 36)."""
        return log_odds(self.predict_log_proba(X))
