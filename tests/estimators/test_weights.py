"""Sample weights of a mixture without classes: rows that count more than once, or not at all."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from skem import (
    GaussianMixture,
    GaussianMixturePath,
    KMeans,
    PRBFClassifier,
    PRBFClassifierCV,
    SDGMClassifier,
)

X, SPECIES = load_iris(return_X_y=True)
every_type = pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
every_start = pytest.mark.parametrize("init", ["sample", "kmeans", "k-means++"])


def assert_same(model, expected, rtol=1e-9):
    for name in ("weights_", "means_", "covariances_", "objective_", "log_likelihood_"):
        assert_allclose(getattr(model, name), getattr(expected, name), rtol=rtol, atol=1e-12)


@every_type
@every_start
@pytest.mark.parametrize("standardize", [True, False])
def test_a_row_of_weight_two_is_two_rows(covariance_type, init, standardize):
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    options = {"covariance_type": covariance_type, "init": init, "standardize": standardize}
    options |= {"tol": 0, "max_iter": 8, "reg_covar": 1e-3, "random_state": 0}
    weighted = GaussianMixture(3, **options).fit(X, sample_weight=weights)
    repeated = GaussianMixture(3, **options).fit(np.repeat(X, weights, axis=0))
    assert_same(weighted, repeated)


def test_only_ratios_of_weights_matter_and_rows_without_one_are_none():
    weights = np.random.default_rng(0).uniform(0, 1, len(X))
    weights[::5] = 0
    options = {"max_iter": 8, "tol": 0, "random_state": 0}
    model = GaussianMixture(3, **options).fit(X, sample_weight=weights)
    assert_same(GaussianMixture(3, **options).fit(X, sample_weight=1e300 * weights), model)
    used = weights > 0
    without = GaussianMixture(3, **options).fit(X[used], sample_weight=weights[used])
    for name in ("weights_", "means_", "covariances_", "objective_"):
        assert_array_equal(getattr(model, name), getattr(without, name))
    far = np.concatenate([X, np.full((1, 4), 1e8)])
    tiny = GaussianMixture(3, **options).fit(far, sample_weight=np.r_[weights, 1e-31])
    assert_array_equal(tiny.means_, model.means_)
    assert_array_equal(
        GaussianMixture(3, **options).fit(X, sample_weight=np.ones(len(X))).means_,
        GaussianMixture(3, **options).fit(X).means_,
    )


def test_weights_that_are_none_are_refused():
    for weights, words in [
        (np.zeros(len(X)), "at least one non-zero number"),
        (-np.ones(len(X)), "[Nn]egative"),
        (np.ones(3), "sample_weight.shape"),
        (np.r_[1.0, np.zeros(len(X) - 1)], "n_components=2 exceeds the n_samples=1 samples"),
    ]:
        with pytest.raises(ValueError, match=words):
            GaussianMixture(2).fit(X, sample_weight=weights)


def test_criteria_count_the_rows_they_are_given_once():
    weights = np.random.default_rng(0).uniform(0.1, 3, len(X))
    model = GaussianMixture(2, random_state=0).fit(X, sample_weight=weights)
    log_density = model.score_samples(X)
    assert_allclose(model.log_likelihood_[-1], np.average(log_density, weights=weights), rtol=1e-9)
    n_parameters = 1 + 2 * 4 + 2 * 10
    assert_allclose(model.bic(X), -2 * log_density.sum() + n_parameters * np.log(len(X)))
    assert_allclose(model.aic(X), -2 * log_density.sum() + 2 * n_parameters)
    assert_array_equal(
        GaussianMixture(2, random_state=0).fit_predict(X, sample_weight=weights), model.predict(X)
    )


def test_criteria_take_a_row_of_weight_two_for_two_rows():
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    model = GaussianMixture(2, random_state=0).fit(X)
    repeated = np.repeat(X, weights, axis=0)
    for ask in (model.score, model.bic, model.aic):
        assert_allclose(ask(X, sample_weight=weights), ask(repeated), rtol=1e-12)
    with pytest.raises(ValueError, match="non-zero"):
        model.score(X, sample_weight=np.zeros(len(X)))


@pytest.mark.filterwarnings("ignore:SDGMClassifier did not converge")
def test_one_weight_for_all_rows_is_that_of_each():
    twice = KMeans(3, random_state=0).fit(X, sample_weight=2.0)
    assert_allclose(twice.inertia_, 2 * KMeans(3, random_state=0).fit(X).inertia_)
    one = SDGMClassifier(1, max_iter=5, random_state=0).fit(X, SPECIES, sample_weight=2.0)
    copies = SDGMClassifier(1, max_iter=5, random_state=0).fit(np.r_[X, X], np.r_[SPECIES, SPECIES])
    assert_array_equal(one.coef_, copies.coef_)


@pytest.mark.filterwarnings("error")
def test_where_their_size_matters_weights_whose_sum_overflows_are_refused():
    huge = np.full(len(X), 1e308)
    mixture = GaussianMixture(2, random_state=0).fit(X, sample_weight=huge)
    assert mixture.score(X, sample_weight=huge) == mixture.score(X)
    path = GaussianMixturePath(n_components=1, covariance_types=["diag"])
    for refused in (
        lambda: mixture.bic(X, huge),
        lambda: mixture.aic(X, huge),
        lambda: path.fit(X, sample_weight=huge),
        lambda: KMeans(2).fit(X, sample_weight=huge),
        lambda: SDGMClassifier(1).fit(X, SPECIES, sample_weight=huge),
    ):
        with pytest.raises(ValueError, match="sample_weight: the sum of the weights overflows"):
            refused()


def test_a_fold_without_weight_is_refused():
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    weights = np.repeat([1.0, 0.0], 6)
    search = PRBFClassifierCV(PRBFClassifier(2, max_iter=2), cv=[(np.arange(12), np.arange(6, 12))])
    with pytest.raises(ValueError, match="sample_weight is zero for all of 6 samples"):
        search.fit(X, y, weights)
