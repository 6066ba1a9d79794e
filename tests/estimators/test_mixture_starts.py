"""GaussianMixture from clusters, and what can be asked of its components."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris

from skem import GaussianMixture, KMeans
from skem.engine import starts
from skem.engine.clusters import mixture_of_clusters
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.rows import sort_by_class
from skem.engine.samples import Samples
from skem.engine.threads import Workers

X, _ = load_iris(return_X_y=True)
TYPES = ["full", "tied", "diag", "spherical"]
every_type = pytest.mark.parametrize("covariance_type", TYPES)


def cluster_moments(rows, labels, weights, covariance_type):
    """Eqs. 5-7 with hard assignments, one cluster at a time."""
    shares, means, scatters = [], [], []
    for k in range(labels.max() + 1):
        own, w = rows[labels == k], weights[labels == k]
        shares.append(w.sum() / weights.sum())
        means.append(w @ own / w.sum())
        scatters.append(((own - means[-1]).T * w) @ (own - means[-1]) / w.sum())
    covariances = {
        "full": np.array(scatters),
        "tied": np.einsum("k,kij->ij", shares, scatters),
        "diag": np.array([scatter.diagonal() for scatter in scatters]),
        "spherical": np.array([scatter.diagonal().mean() for scatter in scatters]),
    }[covariance_type]
    return np.array(shares), np.array(means), covariances


def start_from(rows, labels, weights, covariance_type, ridge):
    with Workers(2) as workers:
        samples = Samples.of_array(rows, weights, workers)
        return mixture_of_clusters(
            samples, labels, labels.max() + 1, COVARIANCE_TYPES[covariance_type], ridge
        )


@every_type
def test_em_starts_from_sizes_means_and_covariances_of_clusters(covariance_type):
    rng = np.random.default_rng(0)
    rows, weights = np.tile(X, (60, 1)) + rng.normal(size=(9000, 4)), rng.uniform(0.5, 1.5, 9000)
    labels = KMeans(5, random_state=0).fit(rows).labels_
    start = start_from(rows, labels, weights, covariance_type, 0.25)
    shares, means, covariances = cluster_moments(rows, labels, weights, covariance_type)
    assert_allclose(start.weights[:, 0], shares, rtol=1e-12)
    assert_allclose(start.means, means, rtol=1e-12)
    ridge = 0.25 * (np.eye(4) if covariance_type in ("full", "tied") else 1)
    assert_allclose(start.covariances, covariances + ridge, rtol=1e-10, atol=1e-12)


def test_a_singular_covariance_is_that_of_all_clusters_together():
    labels = np.r_[np.zeros(100, int), np.ones(48, int), 2, 2]
    start = start_from(X, labels, np.ones(150), "full", 0.0)
    _, means, own = cluster_moments(X, labels, np.ones(150), "full")
    assert_allclose(start.covariances[:2], own[:2], rtol=1e-10)
    deviations = X - means[labels]
    pooled = deviations.T @ deviations / 150
    floor = start.covariances[2] - pooled
    assert_allclose(floor, np.eye(4) * floor[0, 0], atol=1e-14)
    assert 0 < floor[0, 0] < 1e-4
    alone = start_from(np.ones((4, 2)), np.array([0, 0, 1, 1]), np.ones(4), "diag", 1e-3)
    assert (alone.covariances > 0).all()


def test_k_means_of_each_class_on_a_feature_block():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(300, 3)), np.arange(300) % 2, rng.uniform(0.5, 1.5, 300)
    X[:, 2] += 10 * (np.arange(300) % 5)
    columns = np.array([2, 0])
    rows = sort_by_class(X, y, weights, X.mean(axis=0), X.std(axis=0))
    request = starts.Request(
        rows=rows,
        columns=columns,
        n_components=6,
        covariance_type=COVARIANCE_TYPES["full"],
        random_state=np.random.RandomState(0),
        workers=Workers(),
    )
    start, x = (
        starts.INITIALISATIONS["class_kmeans"](request),
        ((X - X.mean(axis=0)) / X.std(axis=0))[:, columns],
    )
    for c in (0, 1):
        own, means = y == c, start.means[3 * c : 3 * c + 3]
        labels = cdist(x[own], means).argmin(axis=1)
        shares, expected, _ = cluster_moments(x[own], labels, weights[own], "full")
        assert_allclose(means, expected, atol=1e-12)
        assert_allclose(
            start.weights[:, c], np.r_[shares, np.zeros(3)] if c == 0 else np.r_[np.zeros(3), shares]
        )
        deviations = x[own] - means[labels]
        scatter = (deviations.T * weights[own]) @ deviations / weights[own].sum()
        assert_allclose(start.covariances[3 * c : 3 * c + 3], np.broadcast_to(scatter, (3, 2, 2)), atol=1e-5)


@every_type
@pytest.mark.parametrize("metric", ["euclidean", "mahalanobis"])
def test_a_fit_is_that_from_its_clusters_given_as_arrays(covariance_type, metric):
    rows = X * [1, 1, 100, 1]
    labels = KMeans(4, init="static_spread", max_iter=10, tol=0, metric=metric).fit(rows).labels_
    options = {"covariance_type": covariance_type, "max_iter": 5, "tol": 0, "reg_covar": 0.0}
    drawn = GaussianMixture(4, init="static_spread", metric=metric, **options).fit(rows)
    given = cluster_moments(rows, labels, np.ones(150), covariance_type)
    start = GaussianMixture(4, init=given, **options).fit(rows)
    assert_allclose(drawn.means_, start.means_, rtol=1e-8)
    assert_allclose(drawn.covariances_, start.covariances_, rtol=1e-6, atol=1e-9)


def test_metric_and_iterations_of_k_means_matter():
    rows = X * [1, 1, 100, 1]
    options = {"init": "static_subset", "max_iter": 1, "tol": 0}
    plain = GaussianMixture(4, **options).fit(rows)
    for other in ({"metric": "mahalanobis"}, {"kmeans_iter": 0}):
        assert np.abs(GaussianMixture(4, **options, **other).fit(rows).weights_ - plain.weights_).max() > 1e-3
    same = GaussianMixture(4, kmeans_iter=1000, **options).fit(rows)
    assert_array_equal(same.means_, GaussianMixture(4, kmeans_iter=2000, **options).fit(rows).means_)


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random_spread"])
def test_threads_do_not_change_a_bit_of_a_fit_from_clusters(init):
    rows = np.random.default_rng(0).normal(size=(20_000, 3)).astype(np.float32)
    fits = [
        GaussianMixture(5, init=init, metric="mahalanobis", max_iter=3, tol=0, n_jobs=n, random_state=0).fit(
            rows
        )
        for n in (1, 3)
    ]
    assert_array_equal(fits[0].means_, fits[1].means_)
    assert_array_equal(fits[0].objective_, fits[1].objective_)


@every_type
@pytest.mark.parametrize("standardize", [True, False])
def test_what_can_be_asked_of_components(covariance_type, standardize):
    rows = X * [1, 1, 100, 1] + [0, 0, 0, 1e3]
    model = GaussianMixture(3, covariance_type=covariance_type, standardize=standardize, random_state=0)
    model.set_params(max_iter=4, tol=0).fit(rows)
    K, m = 3, 4
    covariances = model.covariances_
    if covariance_type == "tied":
        covariances = np.repeat(covariances[None], K, axis=0)
    if covariances.ndim < 3:
        covariances = np.stack([np.diag(np.broadcast_to(v, m)) for v in covariances])
    expected = np.stack(
        [multivariate_normal(mu, P).logpdf(rows) for mu, P in zip(model.means_, covariances, strict=True)],
        axis=1,
    )
    assert_allclose(model.component_log_density(rows), expected, rtol=1e-8, atol=1e-8)
    assert_array_equal(model.assign(rows), model.predict(rows))
    assert_array_equal(model.assign(rows, "euclidean"), cdist(rows, model.means_).argmin(axis=1))
    mean = model.weights_ @ model.means_
    within = np.diagonal(covariances, axis1=1, axis2=2)
    spread = np.sqrt(model.weights_ @ (within + (model.means_ - mean) ** 2))
    distances = cdist(rows / spread, model.means_ / spread)
    assert_array_equal(model.assign(rows, "mahalanobis"), distances.argmin(axis=1))
    counts = np.bincount(distances.argmin(axis=1), minlength=3)
    assert_array_equal(model.histogram(rows, "mahalanobis"), counts)
    assert_allclose(model.histogram(rows, "mahalanobis", normalize=True), counts / 150)
    n_covariances = {"full": 30, "tied": 10, "diag": 12, "spherical": 3}[covariance_type]
    assert model.n_parameters_ == 2 + 12 + n_covariances


@every_type
def test_no_variance_falls_below_the_floor(covariance_type):
    model = GaussianMixture(
        6, covariance_type=covariance_type, variance_floor=0.2, reg_covar=0.0, max_iter=30
    )
    model.set_params(tol=0, random_state=0).fit(X)
    floor = 0.2 * X.var(axis=0).mean()
    dense = covariance_type in ("full", "tied")
    values = np.linalg.eigvalsh(model.covariances_) if dense else model.covariances_
    assert values.min() >= floor * (1 - 1e-9)
    assert values.min() < floor * (1 + 1e-9)
    assert (np.diff(model.objective_) > -1e-9).all()


def test_verbose_prints_the_objective_of_each_iteration(capsys):
    model = GaussianMixture(2, init="sample", n_init=2, max_iter=3, tol=0, verbose=True, random_state=0).fit(
        X
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        f"initialisation {s}, iteration {p}" for s in (1, 2) for p in (1, 2, 3)
    ]
    assert f"{model.lower_bound_:.6f}" in lines[2] + lines[5]


@pytest.mark.parametrize(
    ("options", "rows", "words"),
    [
        ({"metric": "mahalanobis"}, np.c_[X, np.ones(150)], "feature 4 is constant"),
        (
            {},
            X[[0, 60] * 9],
            "3 clusters exceed the 2 distinct samples; use at most 2 clusters or components",
        ),
        ({"variance_floor": 1.5}, X, "'variance_floor' parameter .* in the range \\[0.0, 1.0\\)"),
        ({"kmeans_iter": -1}, X, "'kmeans_iter'"),
        ({"metric": "cosine"}, X, "'metric'"),
    ],
)
def test_bad_input_is_named(options, rows, words):
    with pytest.raises(ValueError, match=words):
        GaussianMixture(3, random_state=0).set_params(**options).fit(rows)


def test_an_unknown_metric_is_named():
    model = GaussianMixture(2, random_state=0).fit(X)
    for ask in (model.assign, model.histogram):
        with pytest.raises(ValueError, match='"probability", "euclidean" or "mahalanobis", got \'cosine\''):
            ask(X, "cosine")


@every_type
def test_labels_alone_are_one_m_step(covariance_type):
    labels, weights = np.arange(150) % 4, np.r_[np.zeros(6), np.linspace(0.5, 2, 144)]
    model = GaussianMixture(4, init={"labels": labels}, covariance_type=covariance_type, max_iter=0)
    model.fit(X, sample_weight=weights)
    shares, means, covariances = cluster_moments(X, labels, weights, covariance_type)
    ridge = 1e-6 * (np.eye(4) if covariance_type in ("full", "tied") else 1)
    assert_allclose(model.weights_, shares)
    assert_allclose(model.means_, means)
    assert_allclose(model.covariances_, covariances + ridge)
    assert (model.n_iter_, model.converged_, model.lower_bound_) == (0, False, -np.inf)


@pytest.mark.parametrize("metric", ["euclidean", "mahalanobis"])
@pytest.mark.parametrize("standardize", [False, True])
def test_means_alone_have_the_samples_nearest_to_them(metric, standardize):
    rows = X * [1, 1, 100, 1]
    units = rows.std(axis=0) if standardize or metric == "mahalanobis" else 1
    means = rows[[0, 60, 120]]
    labels = cdist(rows / units, means / units).argmin(axis=1)
    options = {"metric": metric, "standardize": standardize, "max_iter": 0}
    model = GaussianMixture(3, init={"means": means}, **options).fit(rows)
    clusters = GaussianMixture(3, init={"labels": labels}, **options).fit(rows)
    assert_allclose(model.means_, means)
    assert_array_equal(model.weights_, clusters.weights_)
    assert_array_equal(model.covariances_, clusters.covariances_)
    assert GaussianMixture(3, init={"means": means}).fit(rows).score(rows) > model.score(rows)


@pytest.mark.parametrize(
    ("init", "message"),
    [
        ({"labels": np.arange(150) % 3 - 1}, r"from 0 to 2 for n_components=3, got \[-1, 0, 1\]"),
        ({"labels": np.arange(150) % 2}, "no sample has label 2"),
        ({"labels": [0, 1, 2]}, r"labels must have shape \(150,\)"),
        ({"means": X[:2]}, r"means must have shape \(3, 4\), got \(2, 4\)"),
        ({"means": [*X[:2], [99] * 4]}, "no sample is nearest to mean number 2"),
        ({"means": "centre"}, "means must be an array of numbers"),
        ({"means": X[:3], "labels": np.zeros(150)}, 'either "means" or "labels"'),
    ],
)
def test_means_or_labels_that_are_no_start(init, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(3, init=init).fit(X)


@every_type
@pytest.mark.parametrize("standardize", [False, True])
def test_precisions_are_inverse_covariances(covariance_type, standardize):
    model = GaussianMixture(3, covariance_type=covariance_type, standardize=standardize).fit(X)
    assert model.precisions_.shape == model.covariances_.shape
    if covariance_type in ("full", "tied"):
        identity = model.precisions_ @ model.covariances_
        assert_allclose(identity, np.broadcast_to(np.eye(4), identity.shape), atol=1e-8)
    else:
        assert_allclose(model.precisions_ * model.covariances_, np.ones_like(model.covariances_))


def test_samples_of_one_component():
    model = GaussianMixture.from_parameters(
        [0.5, 0.5], [[0.0], [40.0]], [1.0, 1.0], covariance_type="spherical"
    )
    rows, components = model.sample(20, component=1, random_state=0)
    assert_array_equal(components, np.ones(20))
    assert (rows > 30).all()
    for component in (2, -1, True, 0.5):
        with pytest.raises(ValueError, match="component must be a whole number from 0 to 1"):
            model.sample(component=component)
