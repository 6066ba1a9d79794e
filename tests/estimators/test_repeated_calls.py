"""Fits in a loop, and predictions from parameters that were made once."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_iris

from skem import GaussianMixture, PSKEMClassifier, SKEMClassifier

X, SPECIES = load_iris(return_X_y=True)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_type = pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])


def test_a_warm_start_from_a_file_has_the_same_numbers_of_components(tmp_path):
    numbers = dict.fromkeys(np.unique(SPECIES), 2)  # NumPy integers as labels, which a file has as Python's
    model = SKEMClassifier(numbers, warm_start=True, max_iter=1, random_state=0).fit(X, SPECIES)
    model.save(tmp_path / "model.npz")
    loaded = SKEMClassifier.load(tmp_path / "model.npz").fit(X, SPECIES)
    model.set_params(n_components=[2, 2, 2]).fit(X, SPECIES)
    assert_allclose(loaded.blocks_[0].means, model.blocks_[0].means, rtol=0)
    with pytest.raises(ValueError, match=r"n_components changed from \[2, 2, 2\] to \[2, 2, 3\]"):
        loaded.set_params(n_components=[2, 2, 3]).fit(X, SPECIES)


@pytest.mark.parametrize("Estimator", [GaussianMixture, SKEMClassifier])
def test_a_loop_of_warm_starts_converges_as_one_fit(Estimator):
    options = {"tol": 1e-3, "random_state": 0}
    whole = Estimator(3, **options).fit(X, SPECIES)
    loop = Estimator(3, warm_start=True, max_iter=1, **options)
    fits = 0
    while fits < 100 and not (fits and loop.converged_):
        loop.fit(X, SPECIES)
        fits += 1
    assert fits == whole.n_iter_
    assert_allclose(loop.objective_[-1], whole.objective_[-1], rtol=1e-9)


def test_a_warm_start_on_other_samples_starts_from_their_objective():
    model = GaussianMixture(3, warm_start=True, random_state=0).fit(X)
    model.set_params(tol=1e-2).fit(X * 1.5 + 4)  # at first far less likely than the samples before
    assert model.converged_
    assert model.n_iter_ > 1


def assert_predicts_as_its_parameters(model):
    """Few samples and many have the densities of the public parameters."""
    given = GaussianMixture.from_parameters(
        model.weights_, model.means_, model.covariances_, covariance_type=model.covariance_type
    )
    for samples in (X[:3], X):
        assert_allclose(model.score_samples(samples), given.score_samples(samples), rtol=1e-9)
    assert_allclose(model.score_samples(X[:3]), model.score_samples(X)[:3], rtol=1e-9)


@every_type
def test_assigned_parameters_are_the_model(covariance_type):
    model = GaussianMixture(3, covariance_type=covariance_type, max_iter=2, random_state=0).fit(X)
    assert_predicts_as_its_parameters(model)
    model.means_ = model.means_ + 0.1
    assert_predicts_as_its_parameters(model)
    model.covariances_ = 1.5 * model.covariances_
    assert_predicts_as_its_parameters(model)
    model.weights_ = model.weights_[::-1]
    assert_predicts_as_its_parameters(model)
    model.fit(X[:100])
    assert_predicts_as_its_parameters(model)


def test_fitted_arrays_cannot_be_edited():
    """Densities are computed from factors of the covariances, which an edit would not change."""
    mixture = GaussianMixture(3, random_state=0).fit(X)
    classifier = PSKEMClassifier(6, n_blocks=2, random_state=0).fit(X, SPECIES)
    for model in (mixture, copy.deepcopy(mixture), pickle.loads(pickle.dumps(mixture))):
        for array in (model.weights_, model.means_, model.covariances_):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        classifier.blocks_[0].means[0] = 0
    with pytest.raises(TypeError, match="does not support item assignment"):
        classifier.blocks_[0] = classifier.blocks_[1]
    given = np.zeros((3, 4))
    mixture.means_ = given
    given[0] = 1  # The caller's array stays the caller's.
    assert not mixture.means_.any()


def test_copies_and_pickles_are_without_factors():
    model = GaussianMixture(3, random_state=0).fit(X)
    size, attributes = len(pickle.dumps(model)), set(vars(model))
    expected = model.score_samples(X[:3])
    model.score_samples(X)
    assert len(pickle.dumps(model)) == size
    assert set(vars(model)) == attributes
    other = copy.deepcopy(model)
    other.means_ = other.means_ + 1
    assert np.abs(other.score_samples(X[:3]) - expected).max() > 0.1
    assert_allclose(model.score_samples(X[:3]), expected, rtol=1e-15)
    assert not hasattr(clone(model), "means_")


@pytest.mark.parametrize("method", ["predict", "predict_proba", "component_log_density", "score_samples"])
def test_predictions_take_little_memory_beyond_their_result(method):
    samples = np.random.default_rng(0).normal(size=(200_000, 2))
    model = GaussianMixture(10, max_iter=1, random_state=0).fit(samples[:1000])
    predict = getattr(model, method)
    predict(samples[:1000])
    tracemalloc.start()
    try:
        result = predict(samples)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < result.nbytes + 2**21
