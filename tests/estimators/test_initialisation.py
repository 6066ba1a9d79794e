"""Initialisations of classifiers and mixtures: by name, from clusters, and from given means, labels or arrays."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import equal_classes, full_covariances, overlapping_classes
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

import skem
from skem import GaussianMixture, KMeans, PRBFClassifier, SKEMClassifier
from skem.engine.seeds import SEEDS
from skem.estimators._components import INITIALISATIONS

X, y = load_iris(return_X_y=True)
CLASSIFIERS = [skem.SKEMClassifier, skem.PSKEMClassifier, skem.MDAClassifier, skem.PRBFClassifier]
every_type = pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
every_classifier = pytest.mark.parametrize("Classifier", CLASSIFIERS)


def cluster_moments(samples, labels, weights, covariance_type):
    """Eqs. 5-7 with hard assignments, one cluster at a time."""
    shares, means, scatters = [], [], []
    for k in range(labels.max() + 1):
        own, w = samples[labels == k], weights[labels == k]
        shares.append(w.sum() / weights.sum())
        means.append(np.average(own, axis=0, weights=w))
        scatters.append(np.cov(own.T, aweights=w, bias=True))
    covariances = {
        "full": np.array(scatters),
        "tied": np.average(scatters, axis=0, weights=shares),
        "diag": np.array([scatter.diagonal() for scatter in scatters]),
        "spherical": np.array([scatter.diagonal().mean() for scatter in scatters]),
    }[covariance_type]
    return np.array(shares), np.array(means), covariances


# By name


@pytest.mark.parametrize("Estimator", [*CLASSIFIERS, GaussianMixture])
def test_values_of_init(Estimator):
    """Each class accepts the documented values, which all classes draw from one list."""
    text = Estimator.__doc__ if "init_params : {" in Estimator.__doc__ else skem.PSKEMClassifier.__doc__
    documented = set(re.findall(r'"([\w+-]+)"', re.search(r"init_params : \{(.*)\}", text)[1]))
    values = {*INITIALISATIONS, *(SEEDS if Estimator is GaussianMixture else ())}
    assert documented <= values
    for value in [*values, "random_from_data"]:
        model = Estimator(3, init_params=value, max_iter=2, tol=0, random_state=0)
        if value in documented:
            assert np.isfinite(model.fit(X, y).objective_).all()
        else:
            with pytest.raises(ValueError, match="The 'init_params' parameter of"):
                model.fit(X, y)


@pytest.mark.parametrize("init", ["class", "class_kmeans"])
def test_initial_weights(init):
    samples, labels = overlapping_classes()
    for sharing, used in ((0.0, 5), (1e-3, 15), (1.0, 15)):
        model = PRBFClassifier(15, sharing=sharing, init_params=init, max_iter=1, tol=0.0, random_state=0)
        assert ((model.fit(samples, labels).weights_ > 0).sum(axis=0) == used).all()


@pytest.mark.parametrize(("n_classes", "expected"), [(2, 20), (10, 30)])
def test_number_of_components_by_default(n_classes, expected):
    samples, labels = equal_classes(300, L=n_classes)
    assert SKEMClassifier(max_iter=1, random_state=0).fit(samples, labels).n_components_ == expected


@every_classifier
def test_components_per_class(Classifier):
    options = {"max_iter": 3, "tol": 0, "random_state": 0}
    model = Classifier({1: 3, 0: 1, 2: 2}, **options).fit(X, y)
    assert [len(group) for group in model.groups_] == [1, 3, 2]
    block = model.blocks_[0]
    if Classifier is not PRBFClassifier:
        for c, group in enumerate(model.groups_):
            assert_array_equal(np.flatnonzero(block.weights[:, c]), group)
    assert_array_equal(Classifier([1, 3, 2], **options).fit(X, y).blocks_[0].means, block.means)
    even = Classifier([2, 2, 2], **options).fit(X, y)
    assert_array_equal(even.blocks_[0].means, Classifier(6, **options).fit(X, y).blocks_[0].means)
    model.set_params(warm_start=True)
    assert [len(group) for group in model.fit(X, y).groups_] == [1, 3, 2]
    with pytest.raises(ValueError, match=r"n_components changed from \[1, 3, 2\] to \[3, 1, 2\]"):
        model.set_params(n_components=[3, 1, 2]).fit(X, y)


@pytest.mark.parametrize("numbers", [6, [3, 1, 2]])
def test_sharing(numbers):
    options = {"max_iter": 5, "tol": 0, "random_state": 0}
    rare = {"sharing": 0.3}
    whole = PRBFClassifier(numbers, sharing=0.3, **options).fit(X, y)
    for model in (
        SKEMClassifier(numbers, options=rare, **options),
        skem.PSKEMClassifier(numbers, options=rare, **options),
    ):
        assert_array_equal(model.fit(X, y).blocks_[0].means, whole.means_)
        assert_array_equal(model.groups_[0], whole.groups_[0])
    tied = PRBFClassifier(numbers, sharing=0.3, covariance_type="tied", **options).fit(X, y)
    assert_array_equal(skem.MDAClassifier(numbers, options=rare, **options).fit(X, y).means_, tied.means_)
    separate = skem.PSKEMClassifier(6, n_blocks=2, options={"sharing": 0.0}, **options).fit(X, y)
    assert all(((block.weights > 0).sum(axis=0) == 2).all() for block in separate.blocks_)


# From clusters


@every_type
@pytest.mark.parametrize("metric", ["euclidean", "mahalanobis"])
def test_clusters_are_the_initial_arrays(covariance_type, metric):
    samples = X * [1, 1, 100, 1]
    labels = KMeans(4, init="static_spread", max_iter=10, tol=0, metric=metric).fit(samples).labels_
    options = {"covariance_type": covariance_type, "max_iter": 5, "tol": 0, "reg_covar": 0.0}
    drawn = GaussianMixture(4, init_params="static_spread", metric=metric, **options).fit(samples)
    given = cluster_moments(samples, labels, np.ones(150), covariance_type)
    expected = GaussianMixture(4, init_params=given, **options).fit(samples)
    assert_allclose(drawn.means_, expected.means_, rtol=1e-8)
    assert_allclose(drawn.covariances_, expected.covariances_, rtol=1e-6, atol=1e-9)


# From given means or labels


@every_type
def test_labels_alone_are_one_m_step(covariance_type):
    labels, weights = np.arange(150) % 4, np.r_[np.zeros(6), np.linspace(0.5, 2, 144)]
    model = GaussianMixture(4, init_params={"labels": labels}, covariance_type=covariance_type, max_iter=0)
    model.fit(X, sample_weight=weights)
    shares, means, covariances = cluster_moments(X, labels, weights, covariance_type)
    ridge = 1e-6 * (np.eye(4) if covariance_type in ("full", "tied") else 1)
    assert_allclose(model.weights_, shares)
    assert_allclose(model.means_, means)
    assert_allclose(model.covariances_, covariances + ridge)
    assert (model.n_iter_, hasattr(model, "converged_"), model.lower_bound_) == (0, False, -np.inf)


@pytest.mark.parametrize("metric", ["euclidean", "mahalanobis"])
@pytest.mark.parametrize("standardize", [False, True])
def test_means_alone_have_the_samples_nearest_to_them(metric, standardize):
    samples = X * [1, 1, 100, 1]
    units = samples.std(axis=0) if standardize or metric == "mahalanobis" else 1
    means = samples[[0, 60, 120]]
    labels = cdist(samples / units, means / units).argmin(axis=1)
    options = {"metric": metric, "standardize": standardize, "max_iter": 0}
    model = GaussianMixture(3, init_params={"means": means}, **options).fit(samples)
    clusters = GaussianMixture(3, init_params={"labels": labels}, **options).fit(samples)
    assert_allclose(model.means_, means)
    assert_array_equal(model.weights_, clusters.weights_)
    assert_array_equal(model.covariances_, clusters.covariances_)
    assert GaussianMixture(3, init_params={"means": means}).fit(samples).score(samples) > model.score(samples)


@every_classifier
def test_initial_means_of_classifiers(Classifier):
    means = X[::15]
    model = Classifier(init_params={"means": means}, max_iter=1, tol=0).fit(X, y)
    nearest = means[cdist(X / X.std(axis=0), means / X.std(axis=0)).argmin(axis=1)]
    covariance = (X - nearest).T @ (X - nearest) / len(X) + 0.1 * np.diag(X.var(axis=0))
    covariances = covariance if model.covariance_type == "tied" else np.tile(covariance, (10, 1, 1))
    expected = Classifier(init_params=(np.full((10, 3), 0.1), means, covariances), max_iter=1, tol=0).fit(
        X, y
    )
    assert_allclose(model.blocks_[0].means, expected.blocks_[0].means, rtol=1e-8)
    assert model.n_components_ == 10


# Samples of components


@every_type
def test_assignments_and_histograms(covariance_type):
    samples = X * [1, 1, 100, 1] + [0, 0, 0, 1e3]
    model = GaussianMixture(3, covariance_type=covariance_type, max_iter=4, tol=0, random_state=0)
    model.fit(samples)
    covariances = full_covariances(model.covariances_, 3, 4)
    assert_array_equal(model.assign(samples), model.predict(samples))
    assert_array_equal(model.assign(samples, "euclidean"), cdist(samples, model.means_).argmin(axis=1))
    mean = model.weights_ @ model.means_
    within = np.diagonal(covariances, axis1=1, axis2=2)
    spread = np.sqrt(model.weights_ @ (within + (model.means_ - mean) ** 2))
    labels = cdist(samples / spread, model.means_ / spread).argmin(axis=1)
    assert_array_equal(model.assign(samples, "mahalanobis"), labels)
    counts = np.bincount(labels, minlength=3)
    assert_array_equal(model.histogram(samples, "mahalanobis"), counts)
    assert_allclose(model.histogram(samples, "mahalanobis", normalize=True), counts / 150)
    for ask in (model.assign, model.histogram):
        with pytest.raises(ValueError, match='"probability", "euclidean" or "mahalanobis", got \'cosine\''):
            ask(samples, "cosine")
