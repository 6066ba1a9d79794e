"""KMeans against scikit-learn's, a slow reference, and itself in other configurations."""

import tracemalloc

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans as Reference
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from skem import GaussianMixture, KMeans
from skem.engine.kmeans import assign
from skem.engine.samples import Samples
from skem.engine.seeds import SEEDS
from skem.engine.threads import Workers

X, _ = load_iris(return_X_y=True)
every_start = pytest.mark.parametrize("init", [*SEEDS])


def blobs(n=9000, m=6, K=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)) + 2 * rng.normal(size=(K, m))[rng.integers(0, K, n)]


@parametrize_with_checks([KMeans()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("K", [1, 7, 130])
def test_same_clusters_as_scikit_learn(K):
    rows = blobs(n=4000)
    weights = np.random.default_rng(1).uniform(0.1, 2, len(rows))
    theirs = Reference(K, init=rows[:K], n_init=1, tol=0, max_iter=500).fit(rows, sample_weight=weights)
    ours = KMeans(K, init=rows[:K], tol=0, max_iter=500).fit(rows, sample_weight=weights)
    assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.n_iter_ == theirs.n_iter_
    assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10, atol=1e-12)
    assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-12)
    assert_array_equal(ours.predict(rows[::3]), theirs.predict(rows[::3]))
    assert_allclose(ours.transform(rows[::3]), theirs.transform(rows[::3]), rtol=1e-7)
    assert_allclose(ours.score(rows, sample_weight=weights), -theirs.inertia_, rtol=1e-12)


@every_start
@pytest.mark.parametrize("metric", ["euclidean", "mahalanobis"])
def test_a_fit_is_a_fixed_point(init, metric):
    """Each sample is with its nearest centre, and each centre is the mean of its samples."""
    units = X.std(axis=0) if metric == "mahalanobis" else np.ones(4)
    model = KMeans(6, init=init, metric=metric, tol=0, random_state=0).fit(X)
    distances = np.linalg.norm((X[:, None] - model.cluster_centers_) / units, axis=2)
    assert_array_equal(model.labels_, distances.argmin(axis=1))
    assert_allclose(model.inertia_, (distances.min(axis=1) ** 2).sum())
    for k in range(6):
        assert_allclose(model.cluster_centers_[k], X[model.labels_ == k].mean(axis=0))
    assert_allclose(model.transform(X), distances)


@pytest.mark.parametrize("init", ["random_subset", "k-means++", "random_spread"])
def test_a_sample_of_weight_two_equals_two_samples(init):
    rows, weights = blobs(n=300), np.random.default_rng(0).integers(0, 4, 300)
    weighted = KMeans(5, init=init, tol=0, random_state=0).fit(rows, sample_weight=weights)
    repeated = np.random.default_rng(1).permutation(np.repeat(rows, weights, axis=0))
    plain = KMeans(5, init=init, tol=0, random_state=0).fit(repeated)
    assert_allclose(weighted.cluster_centers_, plain.cluster_centers_, rtol=1e-9, atol=1e-12)
    assert_allclose(weighted.inertia_, plain.inertia_)
    assert_array_equal(weighted.labels_, weighted.predict(rows))  # including samples without weight


@every_start
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_and_files_do_not_change_results(tmp_path, init, dtype):
    rows = blobs(n=20_000).astype(dtype)
    np.save(tmp_path / "X.npy", rows)
    options = {"init": init, "max_iter": 5, "random_state": 0}
    first = KMeans(9, **options).fit(rows)
    for n_jobs, data in [(2, rows), (3, np.load(tmp_path / "X.npy", mmap_mode="r"))]:
        other = KMeans(9, n_jobs=n_jobs, **options).fit(data)
        assert_array_equal(other.labels_, first.labels_)
        assert_array_equal(other.cluster_centers_, first.cluster_centers_)
        assert other.inertia_ == first.inertia_


def test_a_file_is_read_in_chunks(tmp_path):
    rows = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.float32, shape=(200_000, 30))
    rng = np.random.default_rng(0)
    for begin in range(0, len(rows), 50_000):
        rows[begin : begin + 50_000] = rng.standard_normal((50_000, 30), dtype=np.float32)
    KMeans(2, max_iter=1).fit(rows[:100])  # compiles
    tracemalloc.start()
    KMeans(5, max_iter=2, random_state=0).fit(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * rows.nbytes


def test_seeds_are_what_their_names_say():
    rows = np.linspace(0, 1, 100)[:, None] ** 2

    def seeds(init, random_state=0, rows=rows, K=5):
        samples = Samples.of_array(rows, np.ones(len(rows)), Workers())
        return SEEDS[init](samples, K, np.random.RandomState(random_state))[:, 0]

    assert_allclose(seeds("static_subset"), rows[10::20, 0])
    far = [rows[0, 0]]
    for _ in range(4):
        far.append(rows[np.abs(rows - far).min(axis=1).argmax(), 0])
    assert_allclose(seeds("static_spread"), far, atol=1e-15)
    assert_allclose(seeds("static_spread", random_state=7), far, atol=1e-15)
    for init in ("random_subset", "random_spread", "k-means++"):
        first, second = seeds(init), seeds(init, random_state=1)
        assert len(np.unique(first)) == 5
        assert np.isin(first, rows).all()
        assert (first != second).any()
    # Twenty groups far apart: a draw by squared distances finds each of them, a uniform draw does not.
    groups = 100.0 * np.repeat(np.arange(20), 50)[:, None] + np.random.default_rng(0).normal(size=(1000, 1))
    found = {init: len(set(np.round(seeds(init, 0, groups, 20) / 100))) for init in SEEDS}
    assert found["k-means++"] == found["static_spread"] == found["random_spread"] == 20


def test_a_cluster_without_rows_takes_the_farthest_of_the_most_popular():
    rows = np.r_[np.zeros(5), [1.0, 1.1], [9.0, 9.1, 9.2, 12.0]][:, None]
    # Nothing is near 50; the most popular centre is that near 0, then the one near 9.
    model = KMeans(3, init=[[0.1], [9.3], [50.0]], max_iter=1, tol=0).fit(rows)
    assert_allclose(np.sort(model.cluster_centers_[:, 0]), [2.1 / 7, 1.1, 9.825])
    assert (np.bincount(model.labels_, minlength=3) > 0).all()
    several = KMeans(6, init=np.full((6, 1), 3.0), tol=0).fit(rows)
    assert len(np.unique(several.labels_)) == 6


def test_n_init_keeps_the_best_fit():
    options = {"init": "random_subset", "tol": 0}
    one = KMeans(30, random_state=0, **options).fit(blobs(n=900))
    best = KMeans(30, n_init=8, random_state=0, **options).fit(blobs(n=900))
    assert best.inertia_ < one.inertia_


def test_narrow_clusters_far_from_the_origin():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 100)
    centres = np.array([[0.0, 0.0], [0.02, 0.0], [900.0, 0.0], [900.02, 0.0]])
    rows = (centres[labels] + 1e-3 * rng.uniform(-1, 1, size=(400, 2))).astype(np.float32)
    model = KMeans(4, init=centres, tol=0).fit(rows)
    assert_array_equal(model.labels_, labels)


@given(
    seed=st.integers(0, 10**6),
    K=st.sampled_from([1, 2, 7, 65, 130]),
    m=st.sampled_from([1, 3, 40]),
    dtype=st.sampled_from([np.float64, np.float32]),
    spread=st.sampled_from([0.0, 1e-6, 1.0]),
    magnitude=st.sampled_from([-12, 0, 30]),
)
@settings(max_examples=60, deadline=None)
def test_nearest_centre_to_the_last_digit(seed, K, m, dtype, spread, magnitude):
    """Float32 cannot separate some of the centres: nearly equal ones, distant ones, and those whose products overflow it."""
    rng = np.random.default_rng(seed)
    unit = 10.0**magnitude
    groups = unit * np.where(rng.uniform(size=(5, m)) < 0.3, 1e4, 1.0) * rng.normal(size=(5, m))
    rows = (groups[rng.integers(5, size=700)] + unit * spread * rng.normal(size=(700, m))).astype(dtype)
    centres = groups[rng.integers(5, size=K)] + unit * spread * rng.normal(size=(K, m))
    # Differences below the rounding of a mean over many samples do not make samples distinct.
    steps = 1e-12 * np.abs(rows - rows.mean(axis=0, dtype=np.float64)).max()
    assume(len(np.unique(np.round(rows / np.float64(steps)), axis=0)) >= K)
    model = KMeans(K, init=centres, max_iter=1, tol=0).fit(rows)
    centres = model.cluster_centers_.astype(np.longdouble)
    distances = np.sqrt(((rows[:, None].astype(np.longdouble) - centres) ** 2).sum(axis=2))
    # Rounding of samples and centres in float64. Either of two centres that differ by less is right.
    rounding = 1e-15 * m * float(np.abs(rows).max())
    for labels in (model.labels_, model.predict(rows)):
        assert (distances[np.arange(700), labels] <= distances.min(axis=1) + rounding).all()


def test_narrow_clusters_far_apart_are_split():
    """Samples of a cluster differ by less than the rounding of their squares in float64."""
    rng = np.random.default_rng(0)
    centres = np.array([[-2e7, 8e5], [2e6, -3e6], [1.5e6, 1e5]])
    rows = np.repeat(centres, 10, axis=0) + 0.1 * rng.normal(size=(30, 2))
    for init in SEEDS:
        model = KMeans(6, init=init, random_state=0).fit(rows)
        assert len(set(model.labels_)) == 6
        distances = np.linalg.norm(rows[:, None] - model.cluster_centers_, axis=2)
        assert_allclose(distances[np.arange(30), model.labels_], distances.min(axis=1), atol=1e-7)
    assert np.isfinite(GaussianMixture(6, standardize=True, random_state=0).fit(rows).means_).all()


def test_memory_layout():
    rows = blobs(n=700)
    first = KMeans(70, init=rows[:70], max_iter=3, tol=0).fit(rows)
    other = KMeans(70, init=np.asfortranarray(rows[:70]), max_iter=3, tol=0).fit(np.asfortranarray(rows))
    assert_array_equal(other.labels_, first.labels_)
    assert_allclose(other.cluster_centers_, first.cluster_centers_, rtol=1e-12, atol=1e-14)


def test_the_first_of_equal_centres_is_taken():
    samples = Samples.of_array(X, np.ones(len(X)), Workers())
    labels, _ = assign(samples, np.repeat(X[[0, 60, 120]], 50, axis=0))
    assert set(labels) == {0, 50, 100}


@pytest.mark.parametrize(
    ("options", "change", "words"),
    [
        ({}, lambda rows: rows * np.nan, "600 NaN"),
        (
            {"n_clusters": 151},
            lambda rows: rows,
            "n_clusters=151 exceeds .* n_samples=150 .*: set n_clusters to 150",
        ),
        ({"n_clusters": 5}, lambda rows: rows[[0, 60, 120] * 9], "5 clusters exceed the 3 distinct samples"),
        (
            {"n_clusters": 5, "init": "static_spread"},
            lambda rows: rows[[0, 60] * 9],
            "exceed the 2 distinct samples",
        ),
        (
            {"metric": "mahalanobis"},
            lambda rows: np.c_[rows, np.full(150, 0.1)],
            'feature 4 is constant: leave it out, or set metric="euclidean"',
        ),
        ({"metric": "manhattan"}, lambda rows: rows, "'metric'"),
        ({"init": "kmeans"}, lambda rows: rows, "'init'"),
        ({"init": X[:2]}, lambda rows: rows, r"centres must have shape \(3, 4\), got \(2, 4\)"),
        ({"init": X[:3] * np.nan}, lambda rows: rows, "centres must be finite, got nan"),
        ({}, lambda rows: rows * [1, 1e160, 1, 1], "feature 1, .* spreads too far"),
    ],
)
def test_bad_input(options, change, words):
    with pytest.raises(ValueError, match=words):
        KMeans(3, random_state=0).set_params(**options).fit(change(X))


def test_bad_weights():
    for weights, words in [(np.zeros(150), "non-zero"), (-np.ones(150), "[Nn]egative")]:
        with pytest.raises(ValueError, match=words):
            KMeans(2).fit(X, sample_weight=weights)


@pytest.mark.parametrize("tol", [1e-4, 1e-2])
def test_n_iter_as_in_scikit_learn(tol):
    rows = blobs(n=2000)
    theirs = Reference(9, init=rows[:9], tol=tol).fit(rows)
    assert KMeans(9, init=rows[:9], tol=tol).fit(rows).n_iter_ == theirs.n_iter_


def test_n_init_with_given_centres_warns():
    with pytest.warns(RuntimeWarning, match="one fit is made instead of n_init=3"):
        KMeans(3, init=X[:3], n_init=3).fit(X)
