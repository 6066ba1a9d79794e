"""Sample weights: samples that count more than once, or not at all."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

import skem

X, SPECIES = load_iris(return_X_y=True)
QUICK = {"tol": 0, "max_iter": 8, "random_state": 0}


def assert_same(model, expected, rtol=1e-9):
    for name in ("weights_", "means_", "covariances_", "objective_", "log_likelihood_"):
        assert_allclose(getattr(model, name), getattr(expected, name), rtol=rtol, atol=1e-12)


def test_samples_without_weight_are_left_out():
    weights = np.random.default_rng(0).uniform(0, 1, len(X))
    weights[::5] = 0
    model = skem.GaussianMixture(3, **QUICK).fit(X, sample_weight=weights)
    one_more = np.concatenate([X, np.full((1, 4), 1e8)])
    for samples, w in ((one_more, np.r_[weights, 1e-31]), (X, 2.0**990 * weights)):
        other = skem.GaussianMixture(3, **QUICK).fit(samples, sample_weight=w)
        assert_same(other, model)
    plain, ones = (skem.GaussianMixture(3, **QUICK).fit(X, None, w) for w in (None, np.ones(150)))
    assert_array_equal(plain.means_, ones.means_)
    assert_allclose(model.log_likelihood_[-1], np.average(model.score_samples(X), weights=weights), rtol=1e-9)


@pytest.mark.parametrize(
    "model", [skem.SKEMClassifier(4, **QUICK), skem.DiscriminativePSKEMClassifier(random_state=0)]
)
def test_classes_of_negligible_weights_are_left_out(model):
    weights = np.array([1e-20, 1e-20, 1e-35])[SPECIES]
    weights[0] = 1.0  # a fold without this sample leaves the same class out
    expected = clone(model).fit(X, SPECIES, np.where(SPECIES == 2, 0.0, weights))
    fitted = clone(model).fit(X, SPECIES, weights)
    assert fitted.classes_.tolist() == [0, 1]
    assert_array_equal(fitted.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("weight", [1e308, 1e-300, 5e-324])
@pytest.mark.parametrize("model", [skem.SKEMClassifier(4, **QUICK), skem.PRBFClassifier(4, **QUICK)])
def test_only_ratios_of_weights_matter(model, weight):
    plain = clone(model).fit(X, SPECIES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weighted = clone(model).fit(X, SPECIES, np.full(150, weight))
    assert_allclose(weighted.objective_, plain.objective_, rtol=1e-12)


OF_MIXTURES = {"max_iter": 3, "random_state": 0}
DISCRIMINATIVE = {"discriminative_iter": 2} | OF_MIXTURES
SMALL_SEARCH = {"n_components": 3, "n_blocks": 1, "reg_covar": 0.1, "cv": 2, "random_state": 0}
REPEATABLE = [
    skem.KMeans(3, random_state=0),
    skem.GaussianMixture(3, **OF_MIXTURES),
    skem.GaussianMixturePath(n_components=[1, 2], covariance_types=["diag"], random_state=0),
    skem.DensityOutlierDetector(skem.GaussianMixture(2, **OF_MIXTURES)),
    *(
        kind(6, **OF_MIXTURES)
        for kind in (skem.SKEMClassifier, skem.PSKEMClassifier, skem.MDAClassifier, skem.PRBFClassifier)
    ),
    skem.SDGMClassifier(1, max_iter=3, em_iter=3, random_state=0),
    skem.DiscriminativePSKEMClassifier(6, temperature=1.0, strength=0.3, **DISCRIMINATIVE),
]
SPLITTING = [
    skem.GaussianMixturePath(
        n_components=[1, 2], covariance_types=["diag"], criterion="held_out", random_state=0
    ),
    skem.DiscriminativePSKEMClassifier(6, **DISCRIMINATIVE),
    skem.DiscriminativePSKEMClassifierCV(
        max_doublings=0, scaling="robust", training_temperature=2.0, **SMALL_SEARCH
    ),
]


def values(model, *arguments):
    fitted = clone(model).fit(*arguments)
    names = "predict_log_proba", "score_samples", "transform"
    return next(getattr(fitted, name) for name in names if hasattr(fitted, name))(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", REPEATABLE + SPLITTING, ids=lambda model: type(model).__name__)
def test_whole_numbers_are_no_special_weights(model):
    odd, labels = X[1:], SPECIES[1:]  # rounding decides no median
    weights = np.full(len(odd), 2.0)
    two = values(model, odd, labels, weights)
    assert_allclose(values(model, odd, labels, weights + 1e-9), two, rtol=1e-5, atol=1e-7)
    used = np.arange(len(odd)) > 20
    expected = values(model, odd[used], labels[used], weights[used])
    assert_allclose(values(model, odd, labels, weights * used), expected, rtol=1e-12)
    if model in REPEATABLE:
        repeated = values(model, np.repeat(odd, 2, axis=0), np.repeat(labels, 2))
        assert_allclose(repeated, two, rtol=1e-9, atol=1e-11)
