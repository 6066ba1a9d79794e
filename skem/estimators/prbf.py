"""The lambda-PRBF of Titsias and Likas (2001): kernels reserved for classes, in part.

lambda = 0 is a separate mixture for each class, lambda = 1 the shared-kernel model, and what lies between reserves each
kernel for a class as far as lambda says. The engine is that of SKEM; lambda is a penalty on log pi in its E-step.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from skem.engine import starts
from skem.estimators._base import SharedKernelClassifier

SHARINGS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The lambdas of Titsias and Likas (2001), section IV."""


class PRBFClassifier(SharedKernelClassifier):
    """Gaussian mixture classifier whose kernels are reserved for classes, in part (Titsias and Likas 2001, section III).

    Every class has the density p(x|C_k) = sum_j pi_jk p(x|j) over one set of M Gaussian kernels, eq. 2. In training, and
    in training only, the kernels outside the group of class k count lambda times, eq. 27: lambda = 0 is a separate
    mixture for each class, lambda = 1 the shared-kernel model of ``SKEMClassifier``.

    Parameters
    ----------
    n_components : int or None, default=None
        M, the number of kernels; None is max(20, 3 per class), or as many as ``groups`` or the arrays of ``init`` name.
        At least one per class; a single one belongs to all of them.
    sharing : float or array-like of shape (n_classes, n_classes), default=0.5
        lambda in [0, 1]. As a matrix, lambda of the kernels of each class (row) in each class (column), with ones on
        the diagonal.
    groups : sequence of n_classes lists of int, optional
        The kernels of each class, in the order of ``classes_``. None is groups of equal size, consecutive (the first M
        mod L get one more).
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        One covariance per kernel; one for all; one variance per kernel and feature; one per kernel (eq. 39; with
        ``standardize`` per kernel in units of each feature's standard deviation).
    init : {"class", "class_kmeans", "sample", "kmeans"} or arrays, default="class"
        Where EM starts: the kernels of a group from rows, or k-means, of its class; or all kernels from all rows. All
        classes start with the same weights, but for zeros where lambda is zero. Arrays are a tuple (weights (M, L),
        means (M, m), covariances) in input units.
    n_init : int, default=1
        Fits from that many starts; the one with the best objective is kept. Arrays are one start.
    standardize : bool, default=True
        Whether reg_covar is in units of each feature's standard deviation in the training data; else in input units.
        Fitted parameters and densities are in input units either way.
    reg_covar : float, default=0.1
        Ridge r added to each covariance's diagonal; training maximises the likelihood of
        log N(x; mu, P) - r/2 tr(P^-1), which this ridge is the exact M-step of. The paper has none.
    variance_floor : float, default=1e-3
        Least variance of a kernel in any direction, as a share of the mean variance of the features (one, where they are
        standardised). Without effect where reg_covar is larger. Without either a kernel may collapse onto a row.
    class_prior : {"uniform", "empirical"} or array-like of shape (n_classes,), default="empirical"
        "empirical" is eq. 10.
    max_iter : int, default=100
        Passes.
    tol : float, default=1e-4
        Stop when the objective gains less than this in a pass; 0 never stops, and never warns.
    warm_start : bool, default=False
        Go on from the parameters of the last fit, with another lambda if it was changed; a weight that is zero stays
        zero.
    n_jobs : int, default=None
        Threads; the result does not depend on it. None is one.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    n_components_ : int
    groups_ : list of ndarray
        T_k, the kernels of each class.
    weights_ : ndarray of shape (n_components, n_classes)
        pi_jk, eq. 37; each column sums to one, and is zero where lambda is zero.
    means_ : ndarray of shape (n_components, n_features)
        mu_j, eq. 35.
    covariances_ : ndarray
        Sigma_j, eq. 36; (M, m, m) full, (m, m) tied, (M, m) diag and, with ``standardize``, spherical, else (M,).
    log_likelihood_, objective_ : ndarray of shape (n_iter_,)
        Mean over rows of log p(x|C_k), eq. 11, and of log p_lambda(x|C_k), eq. 31, with the ridge's penalty, in nats;
        element p - 1 belongs to the parameters after pass p. ``objective_`` falls by rounding only, by less than 1e-4 nats
        in a pass, 2e-3 where rows are float32.
    n_iter_ : int
        Passes of the fit that was kept.
    converged_ : bool
        Whether ``tol`` ended it.
    dtype_used_ : str
        "float32" where the input was and its precision sufficed to the end, else "float64".
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
        "init": [StrOptions(set(starts.STARTS) - {"uniform", "k-means++"}), list, tuple],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "groups": ["array-like", None],
    }

    early_stopping = False
    init_spread = init_scale = 1.0  # of the uniform start, which this class does not offer

    def __init__(
        self,
        n_components: int | None = None,
        *,
        sharing: float | ArrayLike = 0.5,
        groups: Sequence[Sequence[int]] | None = None,
        covariance_type: str = "full",
        init: str | tuple | list = "class",
        n_init: int = 1,
        standardize: bool = True,
        reg_covar: float = 0.1,
        variance_floor: float = 1e-3,
        class_prior: str | ArrayLike = "empirical",
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

    def fit_passes(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Generator[PRBFClassifier, bool | None, None]:
        """Fit, and yield the estimator itself after every pass of the last start, ready to predict.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.

        Yields
        ------
        self
            Fitted with the passes so far. Sending True into the generator ends the fit.
        """
        best: PRBFClassifier | None = None
        drawn = isinstance(self.init, str) and not (self.warm_start and hasattr(self, "blocks_"))
        for seed in _seeds(self.random_state, self.n_init - 1 if drawn else 0):
            other = clone(self).set_params(n_init=1, random_state=seed)
            fit = other.fit_passes(X, y, sample_weight)
            with suppress(StopIteration):
                next(fit)
                while True:
                    # Ended here it does not warn; filters of warnings are not for threads.
                    fit.send(other.n_iter_ == self.max_iter)
            if best is None or other.objective_[-1] > best.objective_[-1]:
                best = other
        yield from super().fit_passes(X, y, sample_weight)
        if best is not None and best.objective_[-1] > self.objective_[-1]:
            learned = {name: value for name, value in vars(best).items() if name not in self.get_params()}
            self.__dict__.update(learned)


def one_seed(*random_states: int | np.random.RandomState | None) -> int:
    """The first random state that is given, as a number that gives several fits the same start."""
    given = next((state for state in random_states if state is not None), None)
    return int(given) if isinstance(given, Integral) else _seeds(given, 1)[0]


def _seeds(random_state: int | np.random.RandomState | None, n: int) -> list[int]:
    return check_random_state(random_state).randint(2**31 - 1, size=n).tolist() if n else []


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
