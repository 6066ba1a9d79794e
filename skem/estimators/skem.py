"""SKEM: one mixture whose components all classes share (Pulford 2022, section 2.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from skem.estimators._base import SharedKernelClassifier


class SKEMClassifier(SharedKernelClassifier):
    """Shared-kernel Gaussian mixture classifier trained by supervised EM (Pulford 2022, section 2.2).

    Every class has the density p(x|c) = sum_k pi_kc N(x; mu_k, P_k) over one set of K Gaussian kernels.

    Parameters
    ----------
    n_components : int or None, default=None
        K, the number of kernels; None is max(20, 3 per class).
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        One covariance per kernel; one for all; one variance per kernel and feature; one per kernel.
    init : {"class", "class_kmeans", "sample", "kmeans", "uniform"} or arrays, default="class"
        Where EM starts. "class" and "class_kmeans" reserve n_components / n_classes components for each class
        (the first ones get one more) and start them from rows, or k-means, of that class; a weight that
        starts at zero stays zero, so no component is ever shared. Fewer components than classes are an
        error, but for a single one, which all classes share. "sample" and "kmeans" start all classes
        from all rows with equal weights. "uniform" is the paper's: means uniform on
        [-init_spread, init_spread], covariances init_scale^2 I, weights 1/K (section 3.1). Arrays are a tuple
        (weights (K, L), means (K, m), covariances) in input units.
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
    weights_ : ndarray of shape (n_components, n_classes)
        pi_kc.
    means_ : ndarray of shape (n_components, n_features)
        mu_k.
    covariances_ : ndarray
        P_k; (K, m, m) full, (m, m) tied, (K, m) diag and, with ``standardize``, spherical, else (K,).
    log_likelihood_, objective_ : ndarray of shape (n_iter_,)
        Mean over rows of log p(x|c), plain and with the ridge's penalty, in nats; element p - 1
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
        n_components: int | None = None,
        *,
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
