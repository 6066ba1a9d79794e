"""The lambda-PRBF of Titsias and Likas (2001): components reserved for classes in part.

The engine is that of SKEM; lambda is a penalty on log pi in its E-step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from skem.estimators._base import SharedKernelClassifier
from skem.estimators._components import INITIALISATIONS
from skem.estimators._sklearn import StrOptions


class PRBFClassifier(SharedKernelClassifier):
    """Gaussian mixture classifier whose classes share components in part (Titsias and Likas 2001, section III).

    Each class k has the density p(x|C_k) = sum_j pi_jk p(x|j) over one set of M components (eq. 2). In training only, a
    factor lambda reduces the weights of components outside the group of class k (eq. 27). lambda = 0 gives a separate
    mixture per class, lambda = 1 the shared-kernel model of ``SKEMClassifier``. Intermediate values suit classes that
    overlap in part; select one by cross-validation.

    Parameters
    ----------
    n_components : int, sequence of n_classes int, dict or None, default=None
        As for ``PSKEMClassifier``. The paper calls this number M. None takes it from the arrays of ``init_params``, if given. Each class needs
        at least one component; a single component belongs to all classes.
    sharing : float or array-like of shape (n_classes, n_classes), default=0.5
        Factor lambda in [0, 1] on the weights of components that are reserved for other classes. It applies in training only: 0
        keeps the classes separate, 1 lets them share all components. A matrix holds lambda of the components of each class
        (row) in each class (column), with ones on the diagonal.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        As for ``PSKEMClassifier``. The paper uses "spherical" (eq. 39). With ``standardize`` these components are ellipsoids in input units.
    init_params : {"class", "class_kmeans", "sample", "kmeans", "k-means++"}, dict or arrays, default="class"
        Initialisation of EM. "class" and "class_kmeans" draw the components of a group from the samples of its class, the
        others draw all components from all samples. Initial weights are equal for all classes, but zero if lambda is zero.
        ``{"means": array (M, n_features)}`` sets the means, with the covariance of samples about the nearest mean.
        Arrays are a tuple (weights (M, L), means (M, m), covariances) in input units. "uniform" is unavailable: a component
        far from the samples of its class would hide the effect of lambda.
    n_init, standardize
        As for ``PSKEMClassifier``.
    reg_covar : float, default=0.1
        As for ``PSKEMClassifier``. The paper has no such term.
    variance_floor : float, default=0.001
        Minimum variance of a component in any direction, relative to the mean variance of the features (1 with
        ``standardize``). It has no effect if ``reg_covar`` is larger. With neither, a component may collapse onto a sample.
    priors, max_iter, tol
        As for ``PSKEMClassifier``.
    warm_start : bool, default=False
        As for ``PSKEMClassifier``. The next fit may have another lambda; weights of zero stay zero.
    n_jobs, random_state
        As for ``PSKEMClassifier``.

    Attributes
    ----------
    classes_, class_count_, priors_, n_components_
        As for ``PSKEMClassifier``.
    groups_ : list of ndarray
        As for ``PSKEMClassifier``. The paper calls these groups T_k.
    weights_ : ndarray of shape (n_components, n_classes)
        As for ``SKEMClassifier``. Weights are zero where lambda is zero. In the paper, weights, means and covariances are pi_jk, mu_j and Sigma_j in
        eqs. 37, 35 and 36.
    means_, covariances_
        As for ``SKEMClassifier``.
    log_likelihood_, objective_ : ndarray of shape (n_iter_,)
        As for ``PSKEMClassifier``. In the paper they are eqs. 11 and 31, divided by the number of samples.
    n_iter_
        As for ``PSKEMClassifier``.
    best_iter_ : int
        As for ``PSKEMClassifier``. This class has no early stopping.
    converged_, dtype_used_, n_blocks_, block_indices_, blocks_, n_features_in_, feature_names_in_
        As for ``PSKEMClassifier``.

    Notes
    -----
    The notes of ``PSKEMClassifier`` on unusual data apply.

    Prediction uses the trained parameters only, not lambda (eqs. 1 and 2). In the paper's listing, the final ``go to Step
    2`` should read 3.

    References
    ----------
    M. K. Titsias and A. C. Likas, "Shared kernel models for class conditional density estimation", IEEE Trans. Neural
    Networks 12, 987-997, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import PRBFClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PRBFClassifier(6, sharing=0.25, random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).round(3)
    array([[1., 0., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SharedKernelClassifier._parameter_constraints,
        "init_params": [StrOptions(set(INITIALISATIONS) - {"uniform"}), list, tuple, dict],
        "sharing": [Real, "array-like"],
    }

    _no_batches = "sharing needs all samples at once"
    options = None

    def __init__(
        self,
        n_components: int | Sequence[int] | Mapping[Any, int] | None = None,
        *,
        sharing: float | ArrayLike = 0.5,
        covariance_type: str = "full",
        init_params: str | tuple | list | dict = "class",
        n_init: int = 1,
        standardize: bool | str = True,
        reg_covar: float = 0.1,
        variance_floor: float = 1e-3,
        priors: str | dict | ArrayLike = "empirical",
        max_iter: int = 30,
        tol: float = 0.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.sharing = sharing
        self.covariance_type = covariance_type
        self.init_params = init_params
        self.n_init = n_init
        self.standardize = standardize
        self.reg_covar = reg_covar
        self.variance_floor = variance_floor
        self.priors = priors
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
