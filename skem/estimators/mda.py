"""MDA: shared components with one covariance (Hastie and Tibshirani 1996; Pulford 2022, eq. 32)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skem.estimators._base import SharedKernelClassifier


class MDAClassifier(SharedKernelClassifier):
    """Mixture discriminant analysis: a mixture classifier with one common covariance (Pulford 2022, eq. 32).

    A common covariance needs fewest parameters, and suits few samples relative to the number of features.

    With ``init_params="class"`` (the default) or "class_kmeans", and without ``sharing``, each component stays with one class. This
    is the model of Hastie and Tibshirani (1996). With the other initialisations all classes share the components; Pulford
    (2022) uses "uniform".

    Parameters
    ----------
    n_components
        As for ``PSKEMClassifier``.
    n_blocks : int, default=1
        As for ``PSKEMClassifier``. Each block has its own covariance.
    arrangement, init_params, n_init, standardize, reg_covar, priors, max_iter, tol, early_stopping, warm_start, options, n_jobs, random_state
        As for ``PSKEMClassifier``.

    Attributes
    ----------
    classes_, class_count_, priors_, n_components_, groups_
        As for ``PSKEMClassifier``.
    weights_, means_, covariances_ : ndarray
        Parameters of a model with one feature block: (K, L), (K, m) and (m, m).
    n_blocks_, block_indices_, blocks_, log_likelihood_, objective_, n_iter_, best_iter_, converged_, dtype_used_, validation_scores_, best_validation_score_, n_features_in_, feature_names_in_
        As for ``PSKEMClassifier``.

    Notes
    -----
    The notes on unusual data and the references of ``PSKEMClassifier`` apply.

    References
    ----------
    T. Hastie and R. Tibshirani, "Discriminant analysis by Gaussian mixtures", J. R. Statist. Soc. B 58, 155-176, 1996.
    """

    covariance_type = "tied"

    def __init__(
        self,
        n_components: int | Sequence[int] | Mapping[Any, int] | None = None,
        *,
        n_blocks: int = 1,
        arrangement: str | Sequence[Sequence[int]] = "sequential",
        init_params: str | tuple | list | dict = "class",
        n_init: int = 1,
        standardize: bool | str = True,
        reg_covar: float = 0.1,
        priors: str | dict | ArrayLike = "empirical",
        max_iter: int = 30,
        tol: float = 0.0,
        early_stopping: bool = False,
        warm_start: bool = False,
        options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_blocks = n_blocks
        self.arrangement = arrangement
        self.init_params = init_params
        self.n_init = n_init
        self.standardize = standardize
        self.reg_covar = reg_covar
        self.priors = priors
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.options = options
        self.n_jobs = n_jobs
        self.random_state = random_state
