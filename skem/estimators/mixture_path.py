"""How many components, and of which shape: a path of mixtures, each begun from the one before."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skem.engine.threads import Workers
from skem.estimators._best_estimator import BestEstimator
from skem.estimators._callbacks import CallbackSupportMixin, Progress, with_callbacks
from skem.estimators._checking import CheckedParameters, check_features, check_weights, total_weight
from skem.estimators._docstrings import documented
from skem.estimators._splitting import split_components
from skem.estimators._training import one_seed, seeds
from skem.estimators._units import all_or_nothing
from skem.estimators.gaussian_mixture import GaussianMixture

TYPES = ("full", "tied", "diag", "spherical")


@documented
class GaussianMixturePath(
    CheckedParameters, BestEstimator, CallbackSupportMixin, DensityMixin, BaseEstimator
):
    """A Gaussian mixture whose number of components and covariance type are chosen by a criterion.

    For each covariance type mixtures are fitted in the order of their sizes. Each is the best of a fit from the last one,
    whose heaviest components are split in two, and of one from the starts of ``estimator``.

    Parameters
    ----------
    estimator : GaussianMixture or None, default=None
        What is fitted, but for the number of components and the covariance type. Its ``n_init`` is how many starts each fit
        has beside the last mixture.
    n_components : int or sequence of int, default=(1, 2, 3, 4, 5, 6)
        The numbers K to choose from.
    covariance_types : sequence of str, default=('full', 'tied', 'diag', 'spherical')
        The types to choose from.
    criterion : {"bic", "aic", "icl", "held_out"}, default="bic"
        The Bayesian or Akaike criterion; the Bayesian one plus twice the entropy of the responsibilities, which asks for
        separate clusters; or the mean of log p(x) over rows held out. The chosen mixture is then fitted to all rows.
    validation_fraction : float, default=0.2
        Of the rows, for "held_out".
    %(n_jobs)s
    %(random_state)s
        None leaves it to the estimator's own.

    Attributes
    ----------
    best_estimator_ : GaussianMixture
        The chosen mixture, fitted to all rows.
    results_ : dict of list
        By column, ready for a DataFrame, one entry per mixture: "covariance_type", "n_components", "n_parameters",
        "objective", "converged", "admissible", "bic", "aic", "icl" and "held_out" (NaN without). A mixture that cannot be
        fitted, for example with more components than distinct samples, has NaN in all of them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A mixture that did not converge is not chosen, nor one that is not admissible. It is admissible if each component has as many
    distinct samples, counted by responsibility, as its covariance needs: the number of features plus one for "full", two for
    "diag" and "spherical". The one covariance of "tied" needs as many in all as there are features and components. Repeated
    samples alone give a component any likelihood: such a maximum is spurious. A single component is always admissible.
    Criteria on the rows that were fitted, and held-out rows, are in the same results, but only one of the two kinds is known
    in one fit. Mixtures may be fitted side by side, so a callback observes them and cannot end the search.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import GaussianMixturePath
    >>> X, _ = load_iris(return_X_y=True)
    >>> GaussianMixturePath(random_state=0).fit(X).best_estimator_.n_components
    2
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [GaussianMixture, None],
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "covariance_types": ["array-like"],
        "criterion": [StrOptions({"bic", "aic", "icl", "held_out"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: GaussianMixture | None = None,
        *,
        n_components: int | Sequence[int] = (1, 2, 3, 4, 5, 6),
        covariance_types: Sequence[str] = TYPES,
        criterion: str = "bic",
        validation_fraction: float = 0.2,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_components = n_components
        self.covariance_types = covariance_types
        self.criterion = criterion
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> GaussianMixturePath:
        """Fit all mixtures, and choose one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN is a missing value, as in ``GaussianMixture``.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            For fits and criteria alike: a row of weight two counts as two rows.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            No sizes or types to choose from, arrays as the estimator's ``init``, too few rows left by
            ``validation_fraction``, weights whose sum overflows, or none of the mixtures can be fitted, converged or is
            admissible, beside what ``GaussianMixture`` refuses.
        """
        self._validate_params()
        sizes, types = self._choices()
        progress = Progress(self, len(sizes) * len(types), X, sample_weight=sample_weight, parallel=True)
        with all_or_nothing(self):
            self._fit(X, sample_weight, progress)
            progress.end()
        return self

    def _fit(self, X: ArrayLike, sample_weight: ArrayLike | None, progress: Progress) -> None:
        sizes, types = self._choices()
        rows = check_features(self, X, missing=True, ensure_min_samples=2)
        weights = check_weights(sample_weight, rows)
        used = weights > 0
        if not used.all():  # so that rows without weight are not those held out
            rows, weights = rows[used], weights[used]
        original = GaussianMixture() if self.estimator is None else self.estimator
        if not isinstance(original.init, str):
            raise ValueError("estimator: its init must be a word, since the number of components varies")
        estimator = clone(original)
        seed = one_seed(self.random_state, estimator.random_state)
        estimator.set_params(n_jobs=None, warm_start=False, random_state=seed)
        train = test = np.ones(len(rows), dtype=bool)
        if self.criterion != "held_out":
            total_weight(len(weights), weights)  # which the criterion goes by: refused before the fits
        else:
            test = np.zeros(len(rows), dtype=bool)
            n_test = max(1, round(self.validation_fraction * len(rows)))
            if len(rows) - n_test < min(sizes):
                raise ValueError(
                    f"validation_fraction={self.validation_fraction} of {len(rows)} rows leaves {len(rows) - n_test}, too few "
                    f"for {min(sizes)} components"
                )
            test[check_random_state(seed).permutation(len(rows))[:n_test]] = True
            train = ~test
        fitted, held_out = (rows[train], weights[train]), (rows[test], weights[test])

        distinct = np.unique(fitted[0], axis=0)
        errors: list[ValueError] = []

        def path(covariance_type: str) -> list[GaussianMixture]:
            models: list[GaussianMixture] = []
            last = None
            first = types.index(covariance_type) * len(sizes)
            for number, (K, start) in enumerate(zip(sizes, seeds(seed, len(sizes)), strict=True), first):
                model = clone(estimator)
                model.set_params(n_components=K, covariance_type=covariance_type, random_state=start)
                with progress.task("mixture", number):
                    try:
                        last = model = _best_fit(model, last, *fitted)
                    except ValueError as error:
                        errors.append(error)
                models.append(model)
            return models

        with Workers(self.n_jobs) as workers:
            models = [model for of_type in workers.map(path, types) for model in of_type]
        if len(errors) == len(models):
            raise ValueError(
                f"none of the {len(models)} mixtures can be fitted; one failed with: {min(map(str, errors))}"
            )
        entries = [_entry(model, distinct, *held_out, self.criterion == "held_out") for model in models]
        self.results_ = {name: [entry[name] for entry in entries] for name in entries[0]}
        values = np.array(self.results_[self.criterion])
        if self.criterion != "held_out":
            values = -values
        eligible = np.isfinite(values) & (np.array(self.results_["converged"]) | (estimator.tol == 0))
        if not eligible.any():
            raise ValueError(
                f"none of the {len(models)} mixtures converged in max_iter={estimator.max_iter} passes: increase "
                "max_iter or tol of the estimator"
            )
        eligible &= np.array(self.results_["admissible"])
        if not eligible.any():
            raise ValueError(
                f"none of the {len(models)} mixtures is admissible: each has a component that rests on too few distinct "
                f"samples, of which there are {len(distinct)}; add smaller numbers to n_components"
            )
        best = models[int(np.where(eligible, values, -np.inf).argmax())]
        if self.criterion == "held_out":
            start = best.weights_, best.means_, best.covariances_
            best = _quietly(clone(best).set_params(init=start), rows, weights)
            best.init = estimator.init
        best.set_params(n_jobs=original.n_jobs, warm_start=original.warm_start)
        if hasattr(self, "feature_names_in_"):
            best.feature_names_in_ = self.feature_names_in_
        self.best_estimator_ = best

    def _choices(self) -> tuple[list[int], list[str]]:
        sizes: list[Any] = np.ravel(self.n_components).tolist()
        types = list(self.covariance_types)
        if not sizes or not types:
            raise ValueError("n_components and covariance_types must each have something to choose from")
        for K in sizes:
            if not isinstance(K, int) or isinstance(K, bool) or K < 1:
                raise ValueError(f"n_components must be whole numbers from 1 on, got {K!r}")
        for covariance_type in types:
            if covariance_type not in TYPES:
                raise ValueError(
                    f"covariance_types must be some of {', '.join(TYPES)}, got {covariance_type!r}"
                )
        return sorted({int(K) for K in sizes}), list(dict.fromkeys(types))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit_predict(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> np.ndarray:
        """``fit`` and ``predict`` on the same samples."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    # What the chosen mixture knows

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """log p(x) under the chosen mixture, in nats, shape (n_samples,)."""
        check_is_fitted(self)
        return self.best_estimator_.score_samples(X)

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """The mean of log p(x) over the rows, in nats, weighted by ``sample_weight`` (n_samples,)."""
        check_is_fitted(self)
        return self.best_estimator_.score(X, sample_weight=sample_weight)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The most probable component of each row under the chosen mixture, shape (n_samples,)."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Pr(z = k | x) under the chosen mixture, shape (n_samples, n_components)."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)


def _quietly(model: GaussianMixture, rows: np.ndarray, weights: np.ndarray) -> GaussianMixture:
    """Fit a mixture; whether it converged is in the results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows, sample_weight=weights)


def _best_fit(
    model: GaussianMixture, smaller: GaussianMixture | None, rows: np.ndarray, weights: np.ndarray
) -> GaussianMixture:
    """The better of a fit from its own starts and one from a smaller mixture."""
    fits = [_quietly(model, rows, weights)]
    if smaller is not None:
        start = split(smaller, model.n_components)
        fits.append(_quietly(clone(model).set_params(init=start), rows, weights))
        fits[-1].init = model.init  # as the user asked for
    return max(fits, key=lambda fit: fit.lower_bound_)


def split(mixture: GaussianMixture, n_components: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, means and covariances of a mixture with more components, see `split_components`."""
    columns = np.arange(mixture.n_features_in_)
    # In the engine's units, where features are of one size.
    larger = split_components(
        mixture._to_internal(mixture._mixture(), columns), mixture._fitted_type, n_components
    )
    start = mixture._to_input_units(larger, columns)
    return start.weights[:, 0], start.means, start.covariances


def _admissible(model: GaussianMixture, distinct: np.ndarray) -> bool:
    """True if each covariance rests on as many distinct samples as it needs, so that the fit is no spurious maximum.

    A sample counts by its responsibility. One Gaussian has no spurious maximum.
    """
    K, (n, m) = model.n_components, distinct.shape
    if K == 1 or model.covariance_type == "tied":
        return K == 1 or n >= K + m
    needed = m + 1 if model.covariance_type == "full" else 2
    return bool((model.predict_proba(distinct).sum(axis=0) > needed - 0.01).all())


def _entry(
    model: GaussianMixture, distinct: np.ndarray, rows: np.ndarray, weights: np.ndarray, held_out: bool
) -> dict[str, Any]:
    """Results of a mixture, by samples it was fitted to or by samples that were held out; NaN if it was not fitted."""
    entry: dict[str, Any] = {
        "covariance_type": model.covariance_type,
        "n_components": model.n_components,
        **dict.fromkeys(("n_parameters", "objective"), np.nan),
        **dict.fromkeys(("converged", "admissible"), False),
        **dict.fromkeys(("bic", "aic", "icl", "held_out"), np.nan),
    }
    if not hasattr(model, "lower_bound_"):
        return entry
    entry |= {
        "n_parameters": model.n_parameters_,
        "objective": model.lower_bound_,
        "converged": model.converged_,
        "admissible": _admissible(model, distinct),
    }
    if held_out:
        return entry | {"held_out": model.score(rows, sample_weight=weights)}
    responsibilities = model.predict_proba(rows)
    entropy = -float(weights @ xlogy(responsibilities, responsibilities).sum(axis=1))
    bic = model.bic(rows, sample_weight=weights)
    return entry | {
        "bic": bic,
        "aic": model.aic(rows, sample_weight=weights),
        "icl": bic + 2 * entropy,
    }
