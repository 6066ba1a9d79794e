"""The lambda-PRBF of Titsias and Likas (2001): kernels reserved for classes, in part.

lambda = 0 is a separate mixture for each class, lambda = 1 the shared-kernel model, and what lies between reserves each
kernel for a class as far as lambda says. The engine is that of SKEM; lambda is a penalty on log pi in its E-step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import StrOptions

from skem.estimators._base import SharedKernelClassifier
from skem.estimators._docstrings import documented
from skem.estimators._starting import STARTS

SHARINGS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The lambdas of Titsias and Likas (2001), section IV."""


@documented
class PRBFClassifier(SharedKernelClassifier):
    """Gaussian mixture classifier whose kernels are reserved for classes, in part (Titsias and Likas 2001, section III).

    Every class has the density p(x|C_k) = sum_j pi_jk p(x|j) over one set of M Gaussian kernels, eq. 2. In training, and
    in training only, the kernels outside the group of class k count lambda times, eq. 27: lambda = 0 is a separate
    mixture for each class, lambda = 1 the shared-kernel model of ``SKEMClassifier``.

    Parameters
    ----------
    %(n_components)s
        M in the paper. None is as many as ``groups`` or the arrays of ``init`` name, if they do. At least one per class; a
        single one belongs to all of them.
    %(sharing)s
        Zero is a separate mixture for each class, one the shared-kernel model.
    %(groups)s
    %(covariance_type)s
        The paper has spherical ones (eq. 39); with ``standardize`` these are ellipsoids in input units.
    init : {"class", "class_kmeans", "sample", "kmeans", "k-means++"}, dict or arrays, default="class"
        Where EM starts: the kernels of a group from rows, or k-means, of its class; or all kernels from all rows. All
        classes start with the same weights, but for zeros where lambda is zero. Arrays are a tuple (weights (M, L),
        means (M, m), covariances) in input units; ``{"means": array (M, m)}`` has the covariance of samples about the nearest
        mean. The uniform start of ``SKEMClassifier`` is that of another paper, and a
        kernel that starts far from the rows of its class says nothing of lambda.
    %(n_init)s
    %(standardize)s
    %(reg_covar)s
        The paper has none.
    variance_floor : float, default=1e-3
        Least variance of a kernel in any direction, as a share of the mean variance of the features (one, where they are
        standardised). Without effect where reg_covar is larger. Without either a kernel may collapse onto a row.
    %(class_prior)s
        "empirical" is eq. 10.
    %(max_iter)s
    %(tol)s
    %(warm_start)s
        The next fit may have another lambda; a weight that is zero stays zero.
    %(n_jobs)s
    %(random_state)s

    Attributes
    ----------
    %(classes_)s
    %(class_prior_)s
    %(n_components_)s
    %(groups_)s
        T_k in the paper.
    weights_ : ndarray of shape (n_components, n_classes)
        pi_jk, eq. 37; each column sums to one, and is zero where lambda is zero.
    means_ : ndarray of shape (n_components, n_features)
        mu_j, eq. 35.
    covariances_ : ndarray
        Sigma_j, eq. 36; (M, m, m) full, (m, m) tied, (M, m) diag and, with ``standardize``, spherical, else (M,).
    %(log_likelihood_)s
        They are eqs. 11 and 31, divided by the number of rows.
    %(n_iter_)s
    %(best_iter_)s
        Here always the latter.
    %(converged_)s
    %(dtype_used_)s
    %(n_features_in_)s

    Raises
    ------
    ValueError
        From ``fit``: lambda that is NaN or outside [0, 1]; groups that overlap, leave a kernel out or a class without
        one; fewer rows in a class than kernels in its group.

    Notes
    -----
    On covariances that turn singular, constant columns, identical or far-off rows, weights of zero and interrupted fits
    see ``SKEMClassifier``.

    Prediction does not use lambda, only what training made of it: eqs. 1 and 2. ``go to Step 2`` at the end of the
    paper's listing should read 3.

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
        "init": [StrOptions(set(STARTS) - {"uniform"}), list, tuple, dict],
        "sharing": [Real, "array-like"],
    }

    early_stopping = False
    init_spread = init_scale = 1.0  # of the uniform start, which this class does not offer

    def __init__(
        self,
        n_components: int | Sequence[int] | Mapping[Any, int] | None = None,
        *,
        sharing: float | ArrayLike = 0.5,
        groups: Sequence[Sequence[int]] | None = None,
        covariance_type: str = "full",
        init: str | tuple | list | dict = "class",
        n_init: int = 1,
        standardize: bool = True,
        reg_covar: float = 0.1,
        variance_floor: float = 1e-3,
        class_prior: str | dict | ArrayLike = "empirical",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.sharing = sharing
        self.groups = groups
        self.covariance_type = covariance_type
        self.init = init
        self.n_init = n_init
        self.standardize = standardize
        self.reg_covar = reg_covar
        self.variance_floor = variance_floor
        self.class_prior = class_prior
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state


def check_sharings(sharings: Sequence[float | ArrayLike]) -> None:
    """Refuse an empty list of lambdas, or one that names a lambda twice.

    Raises
    ------
    ValueError
    """
    if not len(sharings):
        raise ValueError("sharings is empty: at least one lambda is needed")
    seen: set[str] = set()
    for sharing in sharings:
        key = str(np.asarray(sharing, dtype=np.float64).tolist())
        if key in seen:
            raise ValueError(f"sharings: lambda {key} is given more than once")
        seen.add(key)
