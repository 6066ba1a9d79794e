"""PSKEM: a SKEM for each block of features (Pulford 2022, section 2.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from skem.estimators._base import SharedKernelClassifier


class PSKEMClassifier(SharedKernelClassifier):
    """Partitioned SKEM: one shared-kernel mixture per block of features (Pulford 2022, section 2.3).

    log p(x|c) = sum_r log sum_k pi_kc^(r) N(x_r; mu_k^(r), P_k^(r)), eq. 36. Where the blocks are not
    independent given the class, the product is overconfident: trust its decisions more than its
    probabilities.

    Parameters
    ----------
    n_components : int or None, default=None
        K, the number of kernels of each block; None is max(20, 3 per class).
    n_blocks : int, default=3
        R; at most one per feature, see ``n_blocks_``.
    arrangement : {"sequential", "interleaved", "random"} or list of index lists, default="sequential"
        Which feature goes to which block. Index lists may overlap or leave features out, and make
        ``n_blocks`` unused.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        One covariance per kernel; one for all; one variance per kernel and feature; one per kernel.
    sharing : float or array-like of shape (n_classes, n_classes), optional
        lambda in [0, 1] of Titsias and Likas (2001): in training, how far a class may use the kernels reserved for
        the others, in every block; equal groups of kernels, the same for all blocks. See ``PRBFClassifier``. None is
        no such reservation: what is shared is left to ``init``.
    init : {"class", "class_kmeans", "sample", "kmeans", "uniform"} or arrays, default="class"
        Where EM starts. "class" and "class_kmeans" reserve n_components / n_classes components for each class
        (the first ones get one more) and start them from rows, or k-means, of that class; a weight that
        starts at zero stays zero, so no component is ever shared (with ``sharing``, all classes start with the same
        weights). Fewer components than classes are an
        error, but for a single one, which all classes share. "sample" and "kmeans" start all classes
        from all rows with equal weights. "uniform" is the paper's: means uniform on
        [-init_spread, init_spread], covariances init_scale^2 I, weights 1/K (section 3.1). Arrays are a tuple
        (weights (K, L), means (K, m), covariances) in input units, in a list with one tuple per block.
    init_spread, init_scale : float, default=2.0
        For the uniform start; see ``standardize`` for their units.
    standardize : bool, default=True
        Whether init_spread, init_scale and reg_covar are in units of each feature's standard deviation in
        the training data; else in input units, as in the paper. Fitted parameters and densities are in
        input units either way.
    reg_covar : float, default=0.1
        Ridge r added to each covariance's diagonal; training maximises the likelihood of
        log N(x; mu, P) - r/2 tr(P^-1), which this ridge is the exact M-step of.
    class_prior : {"uniform", "empirical"} or array-like of shape (n_classes,), default="uniform"
        The paper assumes "uniform" (section 2.3).
    max_iter : int, default=30
        Passes, N_P.
    tol : float, default=0.0
        Stop when the objective gains less than this in a pass; 0 never stops, and never warns.
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of the rows, stratified; stop when their accuracy has not gained
        ``tol`` for ``n_iter_no_change`` passes, and go back to the best pass.
    validation_fraction : float, default=0.1
    n_iter_no_change : int, default=5
    warm_start : bool, default=False
        Go on from the parameters of the last fit.
    n_jobs : int, default=None
        Threads; the result does not depend on it. None is one.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    n_components_ : int
    n_blocks_ : int
    block_indices_ : list of ndarray
        The features of each block.
    blocks_ : list of Mixture
        ``weights`` (K, L), ``means`` (K, m) and ``covariances`` of each block.
    log_likelihood_, objective_ : ndarray of shape (n_iter_,)
        Mean over rows of log p(x|c), plain and with the ridge's penalty, in nats, summed over blocks; element p - 1
        belongs to the parameters after pass p. ``objective_`` falls by rounding only, by less than
        1e-4 nats in a pass, 2e-3 where rows are float32.
    n_iter_ : int
    converged_ : bool
        Whether ``tol`` or early stopping ended the fit.
    dtype_used_ : str
        "float32" where the input was and its precision sufficed to the end, else "float64".
    validation_scores_, best_validation_score_
        With early stopping: accuracy after each pass, and the best one.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    On covariances that turn singular, constant columns, identical or far-off rows, weights of zero and interrupted fits
    see ``SKEMClassifier``.

    References
    ----------
    G. W. Pulford, "Improvements to Supervised EM Learning of Shared Kernel Models by Feature Space
    Partitioning", 2022. M. K. Titsias and A. C. Likas, "Shared kernel models for class conditional density estimation",
    IEEE Trans. Neural Networks 12, 987-997, 2001.
    """

    _always_lists = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_blocks: int = 3,
        arrangement: str | Sequence[Sequence[int]] = "sequential",
        covariance_type: str = "full",
        sharing: float | ArrayLike | None = None,
        groups: Sequence[Sequence[int]] | None = None,
        init: str | tuple | list = "class",
        n_init: int = 1,
        init_spread: float = 2.0,
        init_scale: float = 2.0,
        standardize: bool = True,
        reg_covar: float = 0.1,
        class_prior: str | ArrayLike = "uniform",
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
