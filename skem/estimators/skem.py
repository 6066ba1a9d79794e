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
    """Gaussian mixture classifier whose classes share components (Pulford 2022, section 2.2).

    Each class c has the density p(x|c) = sum_k pi_kc N(x; mu_k, P_k) over one set of K components, trained by supervised
    EM. Shared components need fewer parameters than separate mixtures. They suit classes that overlap or have few samples.

    With ``init="class"`` (the default) or "class_kmeans", and without ``sharing``, each component stays with one class.
    The other initialisations let all classes share all components.

    Attributes
    ----------
    classes_, class_prior_, n_components_, groups_, weights_, means_, covariances_
    log_likelihood_, objective_, n_iter_, best_iter_, converged_, dtype_used_, validation_scores_, n_features_in_

    Notes
    -----
    %(unusual_data)s

    References
    ----------
    %(pulford2022)s

    %(titsias2001)s

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
        standardize: bool | str = True,
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
