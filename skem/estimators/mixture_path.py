"""Choice of the number of components and of the covariance type of a Gaussian mixture, along paths of growing mixtures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from skem.engine.threads import Workers
from skem.estimators._callbacks import Progress
from skem.estimators._checking import check_features, check_weights, distinct_samples, integers, numbers
from skem.estimators._held_out import Data, collecting, none_fitted, quiet
from skem.estimators._search import Search, candidates, refuse_init_arrays
from skem.estimators._sklearn import StrOptions
from skem.estimators._splitting import split_components
from skem.estimators._training import exceeds, seeds, warn_unless_converged
from skem.estimators.gaussian_mixture import GaussianMixture, admissible

TYPES = ("full", "tied", "diag", "spherical")


class GaussianMixturePath(Search, DensityMixin, BaseEstimator):
    """Gaussian mixture whose number of components and covariance type are chosen by a criterion.

    For each covariance type the search fits mixtures with more and more components. Each is the better of two fits: one from the
    mixture before, with its heaviest components split in two, and one from the initialisation of ``estimator``.

    Parameters
    ----------
    estimator : GaussianMixture or None, default=None
        Mixture to fit; None is ``GaussianMixture()``. The search sets its number of components and its covariance type. Its
        ``n_init`` is the number of initialisations of each fit, beside the mixture before. Its ``init_params`` must be a string.
    n_components : int or sequence of int, default=(1, 2, 3, 4, 5, 6)
        Candidates for K.
    covariance_types : sequence of str, default=('full', 'tied', 'diag', 'spherical')
        Candidates for the covariance type.
    criterion : {"bic", "aic", "icl", "held_out"}, default="bic"
        Bayesian or Akaike information criterion; "icl" adds twice the entropy of the responsibilities to the former, which
        favours separate clusters. "held_out" is the mean of log p(x) over held-out samples; the chosen mixture is then fitted
        to all samples.
    validation_fraction : float, default=0.2
        Share of the samples that "held_out" holds out.
    n_jobs : int or None, default=None
        Number of threads, without effect on results. None is one thread, -1 is one per core.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices. Set an int for reproducible results.
        None uses the random state of the estimator.

    Attributes
    ----------
    best_estimator_ : GaussianMixture
        Chosen mixture, fitted to all samples.
    cv_results_ : dict of list
        Columns of a table of all mixtures, ready for a DataFrame: "covariance_type", "n_components", "n_parameters",
        "objective", "converged", "admissible", "bic", "aic", "icl" and "held_out". The last four are NaN if they were not
        computed. A mixture that cannot be fitted, for example with more components than distinct samples, has NaN in all columns
        of numbers. Fits with ``tol=0`` have None as "converged".
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of features, and their names if the input has them.

    Notes
    -----
    The search chooses among mixtures that converged and are admissible. Repeated samples alone give a component any likelihood:
    such a maximum is spurious. So each component needs as many distinct samples, counted by responsibility, as its covariance
    has to have: the number of features plus one for "full", two for "diag" and "spherical". For "tied" the mixture needs as many
    as it has components and features. A single component is always admissible.

    Mixtures may be fitted side by side, so a callback observes them and cannot end the search.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skem import GaussianMixturePath
    >>> X, _ = load_iris(return_X_y=True)
    >>> GaussianMixturePath(random_state=0).fit(X).best_estimator_.n_components
    2
    """

    _default = GaussianMixture
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [GaussianMixture, None],
        "n_components": [integers(1), "array-like"],
        "covariance_types": ["array-like"],
        "criterion": [StrOptions({"bic", "aic", "icl", "held_out"})],
        "validation_fraction": [numbers(0, 1, closed="neither")],
        "n_jobs": [integers(), None],
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

    def _n_tasks(self) -> int:
        sizes, types = self._candidates()
        return len(sizes) * len(types)

    def _candidates(self) -> tuple[list[int], list[str]]:
        types = candidates("covariance_types", self.covariance_types, StrOptions(set(TYPES)), in_order=True)
        return candidates("n_components", self.n_components, integers(1)), types

    def _fit(self, X: Any, y: Any, sample_weight: Any, progress: Progress) -> None:
        sizes, types = self._candidates()
        samples = check_features(self, X, missing=True, ensure_min_samples=2)
        data = Data(samples, None, check_weights(sample_weight, samples)).weighted()
        original = self._base()
        refuse_init_arrays(original)
        if original.prune:
            raise ValueError(
                "estimator: prune must be False, got True: the search varies the number of components"
            )
        estimator = clone(original).set_params(n_jobs=None, warm_start=False)
        if self.criterion == "held_out":
            train, test = self._split(data, min(sizes), original.random_state)
        else:
            train = test = data._replace(X=np.ascontiguousarray(data.X))
        errors: list[ValueError] = []

        def path(covariance_type: str) -> list[GaussianMixture]:
            models: list[GaussianMixture] = []
            smaller = None
            first = types.index(covariance_type) * len(sizes)
            random_states = seeds(original.random_state, len(sizes))
            for number, (K, seed) in enumerate(zip(sizes, random_states, strict=True), first):
                model = clone(estimator)
                model.set_params(n_components=K, covariance_type=covariance_type, random_state=seed)
                with progress.task("mixture", number), collecting(errors):
                    smaller = model = _best_fit(model, smaller, train)
                models.append(model)
            return models

        with quiet():
            with Workers(self.n_jobs) as workers:
                models = [model for of_type in workers.map(path, types) for model in of_type]
            if len(errors) == len(models):
                raise none_fitted(f"{len(models)} mixtures can be fitted", errors)
            distinct = train.X[distinct_samples(train.X)]
            entries = [_entry(model, distinct, test, self.criterion == "held_out") for model in models]
            self.cv_results_ = {name: [entry[name] for entry in entries] for name in entries[0]}
            best = models[self._best(len(distinct), estimator)]
            if self.criterion == "held_out":
                start = best.weights_, best.means_, best.covariances_
                best = clone(best).set_params(init_params=start).fit(*data)
        warn_unless_converged(best, best.max_iter)
        names = "init_params", "n_jobs", "warm_start"
        self.best_estimator_ = best.set_params(**{name: getattr(original, name) for name in names})
        validate_data(best, X, skip_check_array=True)

    def _split(self, data: Data, n_components: int, seed: int) -> tuple[Data, Data]:
        n = len(data.X)
        n_test = max(1, round(self.validation_fraction * n))
        if n - n_test < n_components:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} leaves {n - n_test} of {n} samples, too few for "
                f"{n_components} components: decrease it"
            )
        test, train = np.split(check_random_state(seed).permutation(n), [n_test])
        return data.take(np.sort(train)), data.take(np.sort(test))

    def _best(self, n_distinct: int, estimator: GaussianMixture) -> int:
        """The number of the best entry of the results that is eligible."""
        values = np.array(self.cv_results_[self.criterion])
        if self.criterion != "held_out":
            values = -values
        converged = np.array(self.cv_results_["converged"], dtype=bool)
        eligible = np.isfinite(values) & (converged | (estimator.tol == 0))
        if not eligible.any():
            raise ValueError(
                f"none of the {len(values)} mixtures converged in max_iter={estimator.max_iter} iterations: increase "
                "max_iter or tol of the estimator"
            )
        eligible &= np.array(self.cv_results_["admissible"])
        if not eligible.any():
            raise ValueError(
                f"none of the {len(values)} mixtures is admissible: each has a component with too few of the {n_distinct} "
                "distinct samples; add smaller numbers to n_components"
            )
        return int(np.where(eligible, values, -np.inf).argmax())

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """The mean of log p(x) over the samples, in nats, weighted by ``sample_weight`` (n_samples,)."""
        return self._model.score(X, y, sample_weight)

    def fit_predict(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> np.ndarray:
        """``fit`` and ``predict`` on the same samples."""
        return self.fit(X, sample_weight=sample_weight).predict(X)


def _best_fit(model: GaussianMixture, smaller: GaussianMixture | None, data: Data) -> GaussianMixture:
    """The better of two fits, from the initialisation of ``model`` and from a smaller mixture."""
    model.fit(*data)
    if smaller is None:
        return model
    (mixture,) = smaller._fitted.enlarged(split_components, model.n_components).mixtures
    start = mixture.weights[:, 0], mixture.means, mixture.covariances
    other = clone(model).set_params(init_params=start).fit(*data)
    return other if exceeds(other.lower_bound_, model.lower_bound_) else model


def _entry(model: GaussianMixture, distinct: np.ndarray, data: Data, held_out: bool) -> dict[str, Any]:
    """Results of a mixture, on the samples it was fitted to or on held-out samples; NaN if it was not fitted."""
    entry: dict[str, Any] = {
        "covariance_type": model.covariance_type,
        "n_components": model.n_components,
        **dict.fromkeys(("n_parameters", "objective"), np.nan),
        **dict.fromkeys(("converged", "admissible"), False),
        **dict.fromkeys(("bic", "aic", "icl", "held_out"), np.nan),
    }
    if not hasattr(model, "lower_bound_"):
        return entry
    entry["n_parameters"], entry["objective"] = model.n_parameters_, model.lower_bound_
    entry["converged"] = getattr(model, "converged_", None)
    expected = model.predict_proba(distinct).sum(axis=0)
    entry["admissible"] = admissible(model.covariance_type, expected, distinct.shape[1])
    X, _, weights = data
    if held_out:
        entry["held_out"] = model.score(X, sample_weight=weights)
    else:
        entry["bic"] = model.bic(X, sample_weight=weights)
        entry["aic"] = model.aic(X, sample_weight=weights)
        responsibilities = model.predict_proba(X)
        entropy = -float((weights * xlogy(responsibilities, responsibilities).sum(axis=1)).sum())
        entry["icl"] = entry["bic"] + 2 * entropy
    return entry
