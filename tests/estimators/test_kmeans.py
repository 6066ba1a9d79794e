"""KMeans against scikit-learn's, a slow reference, and itself in other configurations."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings
from numpy.testing import assert_allclose, assert_array_equal
from reference import blobs
from sklearn.cluster import KMeans as Peer
from sklearn.datasets import load_iris

from skem import GaussianMixture, KMeans
from skem.engine.samples import Samples
from skem.engine.seeds import SEEDS
from skem.engine.threads import Workers

X, _ = load_iris(return_X_y=True)


@pytest.mark.parametrize(("K", "tol"), [(1, 0), (9, 1e-4), (9, 1e-2), (130, 0)])
def test_same_clusters_as_scikit_learn(K, tol):
    samples = blobs(n=4000)
    weights = np.random.default_rng(1).uniform(0.1, 2, len(samples))
    theirs = Peer(K, init=samples[:K], n_init=1, tol=tol, max_iter=500).fit(samples, sample_weight=weights)
    ours = KMeans(K, init=samples[:K], tol=tol, max_iter=500).fit(samples, sample_weight=weights)
    assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.n_iter_ == theirs.n_iter_
    assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10, atol=1e-12)
    assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-12)
    assert_array_equal(ours.predict(samples[::3]), theirs.predict(samples[::3]))
    assert_allclose(ours.transform(samples[::3]), theirs.transform(samples[::3]), rtol=1e-7)
    assert_allclose(ours.score(samples, sample_weight=weights), -theirs.inertia_, rtol=1e-12)


@pytest.mark.parametrize("init", [*SEEDS])
@pytest.mark.parametrize("metric", ["euclidean", "mahalanobis"])
def test_fits_are_fixed_points(init, metric):
    """Each sample is with its nearest centre, and each centre is the mean of its samples."""
    units = X.std(axis=0) if metric == "mahalanobis" else np.ones(4)
    model = KMeans(6, init=init, metric=metric, tol=0, random_state=0).fit(X)
    distances = np.linalg.norm((X[:, None] - model.cluster_centers_) / units, axis=2)
    assert_array_equal(model.labels_, distances.argmin(axis=1))
    assert_allclose(model.inertia_, (distances.min(axis=1) ** 2).sum())
    for k in range(6):
        assert_allclose(model.cluster_centers_[k], X[model.labels_ == k].mean(axis=0))
    assert_allclose(model.transform(X), distances)


@pytest.mark.parametrize("K", [5, 150])
@pytest.mark.parametrize("init", ["random_subset", "k-means++", "random_spread"])
def test_sample_weights_are_repetitions(init, K):
    samples, weights = blobs(n=300), np.random.default_rng(0).integers(0, 4, 300)
    weighted = KMeans(K, init=init, tol=0, random_state=13).fit(samples, sample_weight=weights)
    repeated = np.random.default_rng(1).permutation(np.repeat(samples, weights, axis=0))
    plain = KMeans(K, init=init, tol=0, random_state=13).fit(repeated)
    assert_allclose(weighted.cluster_centers_, plain.cluster_centers_, rtol=1e-9, atol=1e-12)
    assert_allclose(weighted.inertia_, plain.inertia_)
    assert_array_equal(weighted.labels_, weighted.predict(samples))  # including samples without weight


def test_seeds_are_what_their_names_say():
    line = np.linspace(0, 1, 100)[:, None] ** 2

    def seeds(init, random_state=0, samples=line, K=5):
        samples = Samples.of_array(samples, np.ones(len(samples)), Workers())
        return SEEDS[init](samples, K, np.random.RandomState(random_state))[:, 0]

    assert_allclose(seeds("static_subset"), line[10::20, 0])
    far = [line[0, 0]]
    for _ in range(4):
        far.append(line[np.abs(line - far).min(axis=1).argmax(), 0])
    for random_state in (0, 7):
        assert_allclose(seeds("static_spread", random_state), far, atol=1e-15)
    for init in ("static_subset", "static_spread"):
        models = [GaussianMixture(5, init_params=init, random_state=seed).fit(line) for seed in (0, 7)]
        assert_array_equal(*(model.means_ for model in models))
    for init in ("random_subset", "random_spread", "k-means++"):
        first, second = seeds(init), seeds(init, random_state=1)
        assert len(np.unique(first)) == 5
        assert np.isin(first, line).all()
        assert (first != second).any()
    # Twenty groups far apart: a draw by squared distances finds each of them, a uniform draw does not.
    groups = 100.0 * np.repeat(np.arange(20), 50)[:, None] + np.random.default_rng(0).normal(size=(1000, 1))
    found = {init: len(set(np.round(seeds(init, 0, groups, 20) / 100))) for init in SEEDS}
    assert found["k-means++"] == found["static_spread"] == found["random_spread"] == 20


def test_a_cluster_without_rows_takes_the_farthest_of_the_most_popular():
    samples = np.r_[np.zeros(5), [1.0, 1.1], [9.0, 9.1, 9.2, 12.0]][:, None]
    # Nothing is near 50; the most popular centre is that near 0, then the one near 9.
    model = KMeans(3, init=[[0.1], [9.3], [50.0]], max_iter=1, tol=0).fit(samples)
    assert_allclose(np.sort(model.cluster_centers_[:, 0]), [2.1 / 7, 1.1, 9.825])
    assert (np.bincount(model.labels_, minlength=3) > 0).all()
    several = KMeans(6, init=np.full((6, 1), 3.0), tol=0).fit(samples)
    assert len(np.unique(several.labels_)) == 6


def test_n_init_keeps_the_best_fit():
    options = {"init": "random_subset", "tol": 0, "random_state": 0}
    samples = blobs(n=900)
    one, best = (KMeans(30, n_init=n_init, **options).fit(samples) for n_init in (1, 8))
    assert best.inertia_ < one.inertia_
    with pytest.warns(RuntimeWarning, match="one fit is made instead of n_init=3"):
        KMeans(3, init=X[:3], n_init=3).fit(X)


@given(
    seed=st.integers(0, 10**6),
    K=st.sampled_from([1, 2, 7, 65, 130]),
    m=st.sampled_from([1, 3, 40]),
    dtype=st.sampled_from([np.float64, np.float32]),
    spread=st.sampled_from([0.0, 1e-6, 1.0]),
    magnitude=st.sampled_from([-12, 0, 30]),
)
@settings(max_examples=40, deadline=None)
def test_nearest_centre_to_the_last_digit(seed, K, m, dtype, spread, magnitude):
    """Float32 cannot separate some of the centres: nearly equal ones, distant ones, and those whose products overflow it."""
    rng = np.random.default_rng(seed)
    unit = 10.0**magnitude
    groups = unit * np.where(rng.uniform(size=(5, m)) < 0.3, 1e4, 1.0) * rng.normal(size=(5, m))
    samples = (groups[rng.integers(5, size=700)] + unit * spread * rng.normal(size=(700, m))).astype(dtype)
    centres = groups[rng.integers(5, size=K)] + unit * spread * rng.normal(size=(K, m))
    # Differences below the rounding of a mean over many samples do not make samples distinct.
    steps = 1e-12 * np.abs(samples - samples.mean(axis=0, dtype=np.float64)).max()
    assume(len(np.unique(np.round(samples / np.float64(steps)), axis=0)) >= K)
    model = KMeans(K, init=centres, max_iter=1, tol=0).fit(samples)
    centres = model.cluster_centers_.astype(np.longdouble)
    distances = np.sqrt(((samples[:, None].astype(np.longdouble) - centres) ** 2).sum(axis=2))
    # Rounding of samples and centres in float64. Either of two centres that differ by less is right.
    rounding = 1e-15 * m * float(np.abs(samples).max())
    for labels in (model.labels_, model.predict(samples)):
        assert (distances[np.arange(700), labels] <= distances.min(axis=1) + rounding).all()
