"""Arrays of other libraries: the engine as the reference, and input that is refused; scikit-learn's checks run in test_estimators."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import equal_classes, unchanged
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_wine

import skem
from skem.engine import device
from skem.estimators._sklearn import move_to

OTHER = array_api_strict.Device("device1")
STRICT = array_api_strict.asarray


def numpy(array):
    with config_context(array_api_dispatch=True):
        return move_to(array, xp=np, device="cpu").astype(np.float64)


def assert_same_parameters(ours, theirs, limit):
    """Equal relative to one, or to larger parameters."""
    blocks = [getattr(each, "blocks_", [each]) for each in (ours, theirs)]
    names = ("weights", "means", "covariances")
    names = names if hasattr(ours, "blocks_") else [f"{name}_" for name in names]
    for one, other in zip(*blocks, strict=True):
        for name in names:
            a, b = numpy(getattr(one, name)), numpy(getattr(other, name))
            assert (np.abs(a - b) / np.maximum(1, np.abs(b))).max() < limit


CASES = [
    *(
        skem.GaussianMixture(6, covariance_type=t, init_params="sample")
        for t in ("full", "tied", "diag", "spherical")
    ),
    skem.SKEMClassifier(9, options={"sharing": 0.3}),
    skem.SKEMClassifier(9, options={"sharing": 1e-25}),  # penalties too far apart for a product
    skem.PSKEMClassifier(9, n_blocks=2),
    skem.MDAClassifier(6),
    skem.PRBFClassifier(),
]


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
@pytest.mark.parametrize(
    ("dtype", "distance", "limit"),
    [("float64", 1000.0, 1e-9), ("float32", 0.0, 5e-5), ("float32", 100.0, 5e-5)],
)
@pytest.mark.parametrize("estimator", CASES, ids=repr)
def test_fits_match_the_engine(library, dtype, distance, limit, estimator, monkeypatch):
    # Several chunks of tiles, and the samples left over.
    monkeypatch.setattr(device, "CPU_NUMBERS", 512 * 36)
    asarray = STRICT if library == "array_api_strict" else pytest.importorskip(library).asarray
    X, y = equal_classes(1500, L=3)
    weights = np.random.default_rng(1).uniform(0, 2, len(y))
    X = (X + distance).astype(dtype)
    ours = clone(estimator).set_params(max_iter=6, tol=0.0, random_state=0)
    theirs = clone(ours).fit(X, y, sample_weight=weights)
    with config_context(array_api_dispatch=True):
        samples = asarray(X)
        ours.fit(samples, asarray(y), sample_weight=asarray(weights))
        assert ours.dtype_used_ == theirs.dtype_used_
        assert type(ours.means_ if hasattr(ours, "means_") else ours.blocks_[1].means) is type(samples)
        assert_same_parameters(ours, theirs, limit)
        assert_allclose(numpy(ours.objective_), theirs.objective_, rtol=limit)
        assert_allclose(numpy(ours.log_likelihood_), theirs.log_likelihood_, rtol=limit)
        for method in ("predict_proba", "score_samples"):
            result = getattr(ours, method)(samples)
            assert type(result) is type(samples)
            assert_allclose(numpy(result), getattr(theirs, method)(X), rtol=limit, atol=limit)
        assert_array_equal(numpy(ours.predict(samples)), theirs.predict(X))


def test_results_are_on_the_device_of_X():
    """Labels may be words, and weights may be on another device."""
    X, y = load_wine(return_X_y=True)
    words = np.array(["a", "b", "c"])[y]
    with config_context(array_api_dispatch=True):
        samples = STRICT(X, device=OTHER)
        model = skem.SKEMClassifier(random_state=0).fit(samples, words, sample_weight=STRICT(np.ones(len(y))))
        for array in (model.priors_, model.means_, model.predict_proba(samples)):
            assert array.device == OTHER
        assert model.responsibilities(samples).device == OTHER
        assert_array_equal(
            model.predict(samples), skem.SKEMClassifier(random_state=0).fit(X, words).predict(X)
        )
        assert isinstance(model.score(samples, words), float)
        theirs = skem.GaussianMixture(2, init_params={"means": X[:2]}, tol=0, max_iter=3).fit(X)
        init = {"means": STRICT(X[:2], device=OTHER)}
        mixture = skem.GaussianMixture(2, init_params=init, tol=0, max_iter=3).fit(samples)
        assert mixture.precisions_.device == mixture.sample(3)[0].device == OTHER
        assert_allclose(numpy(mixture.precisions_), theirs.precisions_, rtol=1e-6)
        assert mixture.bic(samples) == pytest.approx(theirs.bic(X))
        assert_array_equal(numpy(mixture.fit_predict(samples)), theirs.predict(X))
    # Without dispatch such a model takes NumPy arrays.
    assert_allclose(mixture.score_samples(X), theirs.score_samples(X))


def test_initial_parameters_may_be_on_another_device():
    X, y = equal_classes(200, 2)
    one = np.full(2, 0.5), X[:2], np.stack([np.eye(2)] * 2)
    per_class = np.full((2, 2), 0.5), *one[1:]
    for model, init in (skem.GaussianMixture(2), one), (skem.SKEMClassifier(2), per_class):
        model.set_params(tol=0, max_iter=3)
        expected = clone(model).set_params(init_params=init).fit(X, y)
        with config_context(array_api_dispatch=True):
            there = tuple(STRICT(array, device=OTHER) for array in init)
            on_host = clone(model).set_params(init_params=there).fit(X, y)
            of_host = clone(model).set_params(init_params=init).fit(STRICT(X), y)
            assert_array_equal(on_host.means_, expected.means_)
            assert_allclose(numpy(of_host.means_), expected.means_, rtol=1e-9)


# Bad input


def refused(model, message, *samples, error=ValueError):
    with unchanged(model), config_context(array_api_dispatch=True), pytest.raises(error, match=message):
        model.fit(*samples)


def test_refused_input():
    X, y = equal_classes(200, 2)
    missing = np.where(np.arange(400).reshape(200, 2) == 7, np.nan, X)
    mixture = skem.GaussianMixture(2, random_state=0).fit(X)
    refused(mixture, "missing values", STRICT(missing))
    refused(skem.SKEMClassifier().fit(X, y), "missing values", STRICT(missing), STRICT(y))
    words = "DiscriminativePSKEMClassifier is computed in NumPy alone"
    refused(skem.DiscriminativePSKEMClassifier(), words, STRICT(X), y, error=TypeError)
    with config_context(array_api_dispatch=True):
        with pytest.raises(ValueError, match=r"GaussianMixture.predict\(\) must use the same namespace"):
            mixture.predict(STRICT(X))
        for fit in (
            skem.GaussianMixture(2).partial_fit,
            lambda X: next(skem.SKEMClassifier().fit_iterations(X, y)),
        ):
            with pytest.raises(TypeError, match=r"array of array_api_strict on .*CPU_DEVICE"):
                fit(STRICT(X))
