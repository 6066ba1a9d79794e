"""MDA: shared components with one covariance (Hastie and Tibshirani 1996; Pulford 2022, eq. 32)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skem.estimators._base import SharedKernelClassifier
from skem.estimators._docstrings import documented


@documented
class MDAClassifier(SharedKernelClassifier):
    """Mixture discriminant analysis with shared components: one covariance for all (Pulford 2022, eq. 32).

    With ``init="uniform"`` (the paper's), "sample", "kmeans" or "k-means++" all classes share the components. Started from
    "class" (the default) or "class_kmeans", and without ``sharing``, each class keeps its own: that is the mixture
    discriminant analysis of Hastie and Tibshirani (1996).

    Parameters
    ----------
    %(n_components)s
        Each block has as many.
    %(n_blocks)s
        Each block has a covariance of its own.
    %(arrangement)s
    %(block_size)s
    %(sharing)s
        The same in every block. None reserves nothing: what is shared is left to ``init``.
    %(groups)s
        The same in every block.
    %(init)s
        With several blocks, a list with one tuple per block.
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
    weights_, means_, covariances_ : ndarray
        (K, L), (K, m) and (m, m); for a model with one block.
    %(n_blocks_)s
    %(block_indices_)s
    %(blocks_)s
    %(log_likelihood_)s
    %(n_iter_)s
    %(best_iter_)s
    %(converged_)s
    %(dtype_used_)s
    %(validation_scores_)s
    %(n_features_in_)s

    Notes
    -----
    On covariances that turn singular, constant columns, identical or far-off rows, weights of zero and interrupted fits
    see ``SKEMClassifier``.

    References
    ----------
    G. W. Pulford, "Improvements to Supervised EM Learning of Shared Kernel Models by Feature Space
    Partitioning", 2022. T. Hastie and R. Tibshirani, "Discriminant analysis by Gaussian mixtures", J. R.
    Statist. Soc. B 58, 155-176, 1996.

    M. K. Titsias and A. C. Likas, "Shared kernel models for class conditional density estimation", IEEE Trans. Neural
    Networks 12, 987-997, 2001.
    """

    covariance_type = "tied"

    def __init__(
        self,
        n_components: int | Sequence[int] | Mapping[Any, int] | None = None,
        *,
        n_blocks: int = 1,
        arrangement: str | Sequence[Sequence[int]] = "sequential",
        block_size: int | None = None,
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
        self.n_blocks = n_blocks
        self.arrangement = arrangement
        self.block_size = block_size
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
