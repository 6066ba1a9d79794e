"""PSKEM: a shared-kernel mixture for each feature block (Pulford 2022, section 2.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skem.estimators._base import SharedKernelClassifier
from skem.estimators._docstrings import documented


@documented
class PSKEMClassifier(SharedKernelClassifier):
    """Shared-kernel mixture classifier with one mixture per feature block (Pulford 2022, section 2.3).

    Partitioned SKEM multiplies the densities of R feature blocks, which are taken as independent given the class (eq. 36):
    log p(x|c) = sum_r log sum_k pi_kc^(r) N(x_r; mu_k^(r), P_k^(r)). Small blocks need fewer parameters and less time, and
    suit data with many features. If blocks are dependent given the class, the product is overconfident: trust its
    decisions more than its probabilities.

    Attributes
    ----------
    classes_, class_prior_, n_components_, groups_, n_blocks_, block_indices_, blocks_
    log_likelihood_, objective_, n_iter_, best_iter_, converged_, dtype_used_, validation_scores_, n_features_in_

    Notes
    -----
    %(unusual_data)s

    References
    ----------
    %(pulford2022)s

    %(titsias2001)s
    """

    _returns_lists = True

    def __init__(
        self,
        n_components: int | Sequence[int] | Mapping[Any, int] | None = None,
        *,
        n_blocks: int = 1,
        arrangement: str | Sequence[Sequence[int]] = "sequential",
        block_size: int | None = None,
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
        self.n_blocks = n_blocks
        self.arrangement = arrangement
        self.block_size = block_size
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
