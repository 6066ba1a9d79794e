"""GaussianMixturePath: criteria, results for any number of threads, and errors."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from skem import GaussianMixture, GaussianMixturePath

X, _ = load_iris(return_X_y=True)
TYPES = ["full", "tied", "diag", "spherical"]


def clusters(K=3, n=600, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 8 * rng.normal(size=(K, 2))[rng.integers(0, K, n)]


@parametrize_with_checks([GaussianMixturePath(n_components=(1, 2), covariance_types=("full", "diag"))])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("criterion", ["bic", "aic", "icl", "held_out"])
def test_clusters_are_counted(criterion):
    path = GaussianMixturePath(n_components=range(1, 6), covariance_types=["spherical"], criterion=criterion)
    best = path.set_params(random_state=0).fit(clusters()).best_estimator_
    # The Akaike criterion and held-out samples may choose a few more.
    assert best.n_components == 3 or (criterion in ("aic", "held_out") and best.n_components >= 3)


def test_criteria_are_those_of_each_mixture():
    weights = np.random.default_rng(0).integers(1, 3, len(X))
    path = GaussianMixturePath(n_components=(2, 3), random_state=0).fit(X, sample_weight=weights)
    table = pd.DataFrame(path.results_)
    assert table["covariance_type"].tolist() == [t for t in TYPES for _ in (2, 3)]
    best = path.best_estimator_
    row = table[
        (table["covariance_type"] == best.covariance_type) & (table["n_components"] == best.n_components)
    ]
    repeated = np.repeat(X, weights, axis=0)
    assert_allclose(row["bic"], best.bic(repeated))
    assert_allclose(row["aic"], best.aic(repeated))
    z = best.predict_proba(repeated)
    assert_allclose(row["icl"], best.bic(repeated) - 2 * np.sum(z * np.log(np.fmax(z, 1e-300))))
    assert row["bic"].item() == table["bic"].min()
    assert table["held_out"].isna().all()


def test_held_out_samples_are_not_fitted():
    path = GaussianMixturePath(
        n_components=(1, 2), covariance_types=["full"], criterion="held_out", random_state=3
    )
    path.fit(X)
    test = np.zeros(150, dtype=bool)
    test[np.random.RandomState(3).permutation(150)[:30]] = True
    alone = GaussianMixture(1).fit(X[~test])
    assert_allclose(path.results_["held_out"][0], alone.score(X[test]))
    best = path.best_estimator_
    assert best.n_components == 2
    assert best.init == "k-means++"
    # The chosen mixture is fitted to all samples.
    assert_allclose(best.log_likelihood_[-1], best.score(X))


def test_samples_without_weight_are_not_held_out():
    weights = np.zeros(len(X))
    weights[50:] = 1
    path = GaussianMixturePath(
        n_components=2,
        covariance_types=["diag"],
        criterion="held_out",
        validation_fraction=0.01,
        random_state=0,
    )
    scores = path.fit(X, sample_weight=weights).results_["held_out"]
    assert path.fit(X[50:]).results_["held_out"] == scores


def test_the_chosen_mixture_has_the_parameters_of_the_estimator():
    estimator = GaussianMixture(n_jobs=1, warm_start=True, tol=1e-2)
    path = GaussianMixturePath(estimator, n_components=2, covariance_types=["diag"], random_state=0).fit(X)
    best = path.best_estimator_.get_params()
    wanted = estimator.get_params() | {"n_components": 2, "covariance_type": "diag"}
    assert {name for name in wanted if best[name] != wanted[name]} == {"random_state"}


@pytest.mark.parametrize("criterion", ["bic", "held_out"])
def test_results_do_not_depend_on_threads(criterion):
    fits = [
        GaussianMixturePath(n_components=(1, 3), criterion=criterion, n_jobs=n, random_state=0).fit(X)
        for n in (1, 3)
    ]
    for name in ("objective", criterion):
        assert_array_equal(fits[0].results_[name], fits[1].results_[name])
    assert_array_equal(fits[0].best_estimator_.means_, fits[1].best_estimator_.means_)


def test_missing_values():
    X = clusters(n=150)
    X[::5, 1] = np.nan
    path = GaussianMixturePath(n_components=(1, 3), covariance_types=["spherical"], random_state=0).fit(X)
    assert path.best_estimator_.n_components == 3
    assert_allclose(path.results_["bic"][1], path.best_estimator_.bic(X))


@pytest.mark.parametrize("criterion", ["bic", "held_out"])
def test_impossible_sizes_have_no_score(criterion):
    path = GaussianMixturePath(criterion=criterion, random_state=0).fit(X[:6])
    table = pd.DataFrame(path.results_)
    fitted = table["n_components"] <= len(X[:6]) - (criterion == "held_out")
    assert len(table) == 24
    assert_array_equal(table["objective"].isna(), ~fitted)
    assert not table.loc[~fitted, ["converged", "admissible"]].to_numpy().any()
    assert np.isfinite(path.score(X))


def test_three_distinct_samples_are_one_component():
    path = GaussianMixturePath(random_state=0).fit(np.repeat(X[[0, 60, 120]], 20, axis=0))
    assert path.best_estimator_.n_components == 1


def test_identical_samples_are_no_cluster():
    """A component that collapses onto them has any likelihood."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 6])
    X = np.vstack([X, np.repeat(X[:1], 10, axis=0)])
    path = GaussianMixturePath(GaussianMixture(init="kmeans"), random_state=0).fit(X)
    table = pd.DataFrame(path.results_)
    assert path.best_estimator_.n_components == 2
    assert table.loc[table["bic"].idxmin(), "admissible"] == False  # noqa: E712 (a NumPy boolean)


def test_standardised_paths_do_not_depend_on_units():
    units = np.array([1e-40, 1.0, 1e6, 1e120])
    estimator = GaussianMixture(standardize=True, tol=1e-6, max_iter=500)
    plain, scaled = (
        GaussianMixturePath(estimator, n_components=(1, 2, 4), random_state=0).fit(rows)
        for rows in (X, X * units)
    )
    volume = np.log(units).sum()
    assert_allclose(np.array(scaled.results_["objective"]) + volume, plain.results_["objective"], atol=1e-6)
    assert_array_equal(scaled.predict(X * units), plain.predict(X))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": []}, "n_components is empty"),
        ({"covariance_types": []}, "covariance_types is empty"),
        ({"n_components": [0, 1]}, "n_components contains 0: each value must be an int"),
        ({"n_components": [2.5]}, "n_components contains 2.5"),
        (
            {"covariance_types": ["round"]},
            "covariance_types contains 'round': each value must be a str among",
        ),
        ({"criterion": "mdl"}, "'criterion'"),
        (
            {"criterion": "held_out", "validation_fraction": 0.99, "n_components": [3, 4]},
            "validation_fraction=0.99 leaves 2 of 150 samples, too few for 3 components",
        ),
        (
            {"estimator": GaussianMixture(2, init=(np.ones(2) / 2, X[:2], [np.eye(4)] * 2))},
            "init of GaussianMixture must be a string, got a tuple",
        ),
        (
            {"n_components": [200]},
            "none of the 4 mixtures can be fitted; .*n_components=200 exceeds the n_samples=150 samples",
        ),
        ({"n_components": [149], "covariance_types": ["tied"]}, "none of the 1 mixtures is admissible"),
        (
            {"estimator": GaussianMixture(max_iter=1, tol=1e-9)},
            "none of the 24 mixtures converged in max_iter=1 iterations: increase",
        ),
    ],
)
def test_errors(options, words):
    path = GaussianMixturePath(random_state=0).set_params(**options)
    with pytest.raises(ValueError, match=words):
        path.fit(X)
    assert not hasattr(path, "best_estimator_")
