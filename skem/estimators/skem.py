"""SKEM: one mixture whose components all classes share (Pulford 2022, section 2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skem.estimators._base import SharedKernelClassifier
from skem.estimators._docstrings import documented


@documented
class SKEMClassifier(SharedKernelClassifier):
    """Shared-kernel Gaussian mixture classifier trained by supervised EM (Pulford 2022, section 2.2).

    Every class has the density p(x|c) = sum_k pi_kc N(x; mu_k, P_k) over one set of K Gaussian kernels. With ``init="class"``
    (the default) or "class_kmeans", and no ``sharing``, each kernel keeps to one class; the other starts let all classes share
    them.

    Parameters
    ----------
    %(n_components)s
    %(covariance_type)s
    %(sharing)s
        None reserves nothing: what is shared is left to ``init``.
    %(groups)s
    %(init)s
    %(n_init)s
    %(init_spread)s
    %(standardize)s
    %(reg_covar)s
    %(class_prior)s
        Pulford (2022) assumes "uniform" (section 2.3).
    %(max_iter)s
    %(tol)s
    %(early_stopping)s
    %(validation_fraction)s
    %(n_iter_no_change)s
    %(warm_start)s
    %(n_jobs)s
    %(random_state)s

    Attributes
    ----------
    %(classes_)s
    %(class_prior_)s
    %(n_components_)s
    %(groups_)s
    weights_ : ndarray of shape (n_components, n_classes)
        pi_kc.
    means_ : ndarray of shape (n_components, n_features)
        mu_k.
    covariances_ : ndarray
        P_k; (K, m, m) full, (m, m) tied, (K, m) diag and, with ``standardize``, spherical, else (K,).
    %(log_likelihood_)s
    %(n_iter_)s
    %(best_iter_)s
    %(converged_)s
    %(dtype_used_)s
    %(validation_scores_)s
    %(n_features_in_)s

    Notes
    -----
    A component that loses all its rows keeps its place with weight zero. A covariance that turns singular stays as it
    was; where the ridge is lost in rounding only, it is raised until it just is not, if that is better. A constant
    column, identical rows, or a class with one row are harmless with reg_covar > 0. Rows may lie far from zero, and
    narrow components far apart: only digits that the input lacks are lost. Rows of weight zero are left out before
    anything is learned, and with them a class that has no others. A fit that is interrupted or fails leaves the
    estimator as it was.

    References
    ----------
    G. W. Pulford, "Improvements to Supervised EM Learning of Shared Kernel Models by Feature Space
    Partitioning", 2022.

    M. K. Titsias and A. C. Likas, "Shared kernel models for class conditional density estimation", IEEE Trans. Neural
    Networks 12, 987-997, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import SKEMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SKEMClassifier(random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).round(3)
    array([[1., 0., 0.]])
    """

    def __init__(
        self,
        n_components: int | Sequence[int] | Mapping[Any, int] | None = None,
        *,
        covariance_type: str = "full",
        sharing: float | ArrayLike | None = None,
        groups: Sequence[Sequence[int]] | None = None,
        init: str | tuple | list | dict = "class",
        n_init: int = 1,
        init_spread: float = 2.0,
        init_scale: float = 2.0,
        standardize: bool = True,
        reg_covar: float = 0.1,
        class_prior: str | dict | ArrayLike = "empirical",
        max_iter: int = 30,
        tol: float = 0.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.sharing = sharing
        self.groups = groups
        self.init = init
        self.n_init = n_init
        self.init_spread = init_spread
        self.init_scale = init_scale
        self.standardize = standardize
        self.reg_covar = reg_covar
        self.class_prior = class_prior
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
