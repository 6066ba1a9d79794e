"""GaussianMixture against scikit-learn's, itself in other circumstances, and what a user may get wrong."""

import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Peer
from sklearn.utils.estimator_checks import parametrize_with_checks

from skem import GaussianMixture

TYPES = ["full", "tied", "diag", "spherical"]
every_type = pytest.mark.parametrize("covariance_type", TYPES)


def clusters(n=900, m=4, K=3, seed=0):
    rng = np.random.default_rng(seed)
    parts = [
        rng.normal(size=(n // K, m)) @ rng.normal(size=(m, m)) + 4 * rng.normal(size=m) for _ in range(K)
    ]
    return np.concatenate(parts)


def given_start(X, covariance_type, K=3):
    m = X.shape[1]
    covariances = {
        "full": np.repeat(4.0 * np.eye(m)[None], K, axis=0),
        "tied": 4.0 * np.eye(m),
        "diag": np.full((K, m), 4.0),
        "spherical": np.full(K, 4.0),
    }[covariance_type]
    return np.full(K, 1 / K), X[:: len(X) // K][:K], covariances


def peer(start, covariance_type, **options):
    weights, means, covariances = start
    dense = covariance_type in ("full", "tied")
    precisions = np.linalg.inv(covariances) if dense else 1 / covariances
    return Peer(
        len(weights),
        covariance_type=covariance_type,
        weights_init=weights,
        means_init=means,
        precisions_init=precisions,
        **options,
    )


@pytest.fixture(autouse=True)
def no_warnings_but_about_convergence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*did not converge")
        yield


@parametrize_with_checks([GaussianMixture()])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


@every_type
def test_the_same_passes_as_scikit_learn(covariance_type):
    X = clusters()
    start = given_start(X, covariance_type)
    ours = GaussianMixture(3, covariance_type=covariance_type, init=start, tol=0, max_iter=20)
    ours.set_params(reg_covar=0.0).fit(X)
    theirs = peer(start, covariance_type, tol=0, max_iter=20, reg_covar=0.0).fit(X)
    for name in ("weights_", "means_", "covariances_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-10)
    for name in ("score_samples", "predict_proba", "predict", "score", "bic", "aic"):
        assert_allclose(getattr(ours, name)(X), getattr(theirs, name)(X), rtol=1e-8, atol=1e-10)
    assert ours.n_iter_ == 20
    assert not ours.converged_


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**31),
    covariance_type=st.sampled_from(TYPES),
    init=st.sampled_from(["kmeans", "k-means++", "sample"]),
    reg_covar=st.sampled_from([1e-6, 0.1, 10.0]),
    standardize=st.booleans(),
)
def test_the_objective_never_falls(seed, covariance_type, init, reg_covar, standardize):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3)) * 10.0 ** rng.integers(-2, 3, size=3) + rng.normal(size=3)
    model = GaussianMixture(
        4, covariance_type=covariance_type, init=init, reg_covar=reg_covar, standardize=standardize
    )
    model.set_params(tol=0, max_iter=12, random_state=seed).fit(X)
    # Of a component on one row, as wide as the ridge, the objective is known less closely.
    rounding = reference.rounding(
        X, reference.Model(model.weights_[:, np.newaxis], model.means_, model.covariances_)
    )
    assert (-np.diff(model.objective_) <= 1e-9 * (1 + np.abs(model.objective_[1:])) + rounding).all()
    assert_allclose(model.log_likelihood_[-1], model.score(X), rtol=1e-9, atol=1e-9 + rounding)


def test_densities_are_those_of_the_parameters():
    X = clusters()
    model = GaussianMixture(3, random_state=0).fit(X)
    parameters = zip(model.weights_, model.means_, model.covariances_, strict=True)
    joint = np.stack([w * multivariate_normal(mu, P).pdf(X) for w, mu, P in parameters], axis=1)
    assert_allclose(model.score_samples(X), np.log(joint.sum(axis=1)), rtol=1e-9)
    assert_allclose(model.predict_proba(X), joint / joint.sum(axis=1, keepdims=True), atol=1e-9)
    assert_array_equal(model.predict(X), joint.argmax(axis=1))
    assert_array_equal(GaussianMixture(3, random_state=0).fit_predict(X), model.predict(X))


@every_type
def test_samples_have_the_moments_of_the_model(covariance_type):
    X = clusters()
    model = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    drawn, components = model.sample(40000)
    assert_allclose(np.bincount(components) / 40000, model.weights_, atol=0.01)
    again = GaussianMixture(3, covariance_type=covariance_type, init=model_start(model)).fit(drawn)
    assert_allclose(again.means_, model.means_, atol=0.05 * X.std())


def test_fitted_parameters_are_a_start_where_the_ridge_is_all_there_is_in_most_directions():
    rng = np.random.default_rng(0)
    X = 1e3 * rng.normal(size=(40, 2)) @ rng.normal(size=(2, 8))
    options = {"reg_covar": 1e-6, "standardize": False}
    model = GaussianMixture(1, **options).fit(X)
    assert_allclose(np.linalg.eigvalsh(model.covariances_[0])[:6], 1e-6, atol=1e-8)
    again = GaussianMixture(1, init=model_start(model), **options).fit(X)
    assert_allclose(again.covariances_, model.covariances_, rtol=1e-9)


def of_separate_clusters(noise, labels, covariance_type, reg_covar):
    """Mean log p of rows so far apart that each belongs to its own cluster, from the noise about the centres alone."""
    m = noise.shape[1]
    shares = np.bincount(labels) / len(labels)
    parts = [noise[labels == k] for k in range(len(shares))]
    scatters = [np.cov(part.T, bias=True) for part in parts]
    pooled = np.einsum("k,kij->ij", shares, scatters)
    total = 0.0
    for part, share, scatter in zip(parts, shares, scatters, strict=True):
        P = {
            "full": scatter,
            "tied": pooled,
            "diag": np.diag(np.diag(scatter)),
            "spherical": np.trace(scatter) / m * np.eye(m),
        }[covariance_type] + reg_covar * np.eye(m)
        total += (np.log(share) + multivariate_normal(part.mean(axis=0), P).logpdf(part)).sum()
    return total / len(noise)


@every_type
@pytest.mark.parametrize("distance", [1e5, 1e7, 1e9])
@pytest.mark.parametrize(
    ("direction", "init", "flat"),
    [
        ([0, 1, 0], "kmeans", True),
        ([0, 1, 0], "sample", False),
        ([1, 1, 1], "sample", False),
    ],
)
def test_narrow_clusters_far_apart(covariance_type, distance, direction, init, flat):
    """Their variances are lost in E[x x'] - mu mu', from 1e5 on if one feature is constant in a cluster."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [250, 250])
    noise = rng.normal(size=(500, 3))
    if flat:
        labels = np.repeat([0, 1], [60, 440])
        noise[:60, 1] = 0.0
    X = noise + distance * labels[:, None] * np.array(direction)
    noise = X - distance * labels[:, None] * np.array(direction)  # as it is after rounding
    model = GaussianMixture(2, covariance_type=covariance_type, init=init, random_state=0).fit(X)
    expected = of_separate_clusters(noise, labels, covariance_type, model.reg_covar)
    assert_allclose(model.score(X), expected, atol=2e-3)
    assert (np.diff(model.objective_) >= -1e-9).all()


def model_start(model):
    return model.weights_, model.means_, model.covariances_


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_fits_at_once_and_files_do_not_change_a_bit(tmp_path, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(9000, 6)) + 3 * rng.integers(0, 3, size=(9000, 1))).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    options = {"init": "sample", "tol": 0, "max_iter": 6, "random_state": 0}
    first = GaussianMixture(7, **options).fit(X)
    with ThreadPoolExecutor(2) as pool:
        others = [
            pool.submit(GaussianMixture(7, n_jobs=n, **options).fit, data)
            for n, data in [(2, X), (3, mapped), (1, mapped)]
        ]
    for other in others:
        for name in ("weights_", "means_", "covariances_", "objective_"):
            assert_array_equal(getattr(other.result(), name), getattr(first, name))
        assert other.result().dtype_used_ == np.dtype(dtype).name


def test_a_file_larger_than_memory_is_read_in_chunks(tmp_path):
    X = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.float32, shape=(400_000, 15))
    rng = np.random.default_rng(0)
    for begin in range(0, len(X), 50_000):
        X[begin : begin + 50_000] = rng.standard_normal((50_000, 15), dtype=np.float32)
    start = (
        np.full(2, 0.5),
        np.stack([np.full(15, -0.1), np.full(15, 0.1)]),
        np.repeat(np.eye(15)[None], 2, 0),
    )
    tracemalloc.start()
    GaussianMixture(2, init=start, max_iter=1, tol=0).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * X.nbytes


def test_a_warm_start_goes_on():
    X = clusters()
    start = given_start(X, "full")
    through = GaussianMixture(3, init=start, tol=0, max_iter=12).fit(X)
    halves = GaussianMixture(3, init=start, tol=0, max_iter=6, warm_start=True).fit(X).fit(X)
    assert_allclose(halves.means_, through.means_, rtol=1e-8)
    with pytest.raises(
        ValueError, match=r"warm_start: n_components changed from 3 to 4 .* or set warm_start=False"
    ):
        halves.set_params(n_components=4).fit(X)
    with pytest.raises(ValueError, match="number of features changed from 4 to 3"):
        halves.set_params(n_components=3).fit(X[:, :3])


@every_type
def test_a_covariance_type_set_after_the_fit_waits_for_the_next_one(covariance_type):
    X = clusters(m=3)
    model = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    before = model.score_samples(X), model.predict_proba(X), model.bic(X), model.sample(5)[0]
    for other in TYPES:
        model.set_params(covariance_type=other)
        after = model.score_samples(X), model.predict_proba(X), model.bic(X), model.sample(5)[0]
        for a, b in zip(before, after, strict=True):
            assert_array_equal(a, b)
    assert model.fit(X).n_parameters_ == 2 + 9 + 3


def test_several_starts_keep_the_best():
    X = clusters(K=9)
    options = {"init": "sample", "max_iter": 30}
    fits = GaussianMixture(9, n_init=6, random_state=0, **options).fit(X)
    one = GaussianMixture(9, n_init=1, random_state=0, **options).fit(X)
    assert fits.lower_bound_ > one.lower_bound_
    assert fits.lower_bound_ == fits.objective_[-1]


def test_tol_ends_a_fit_and_zero_never_warns():
    X = clusters()
    model = GaussianMixture(3, random_state=0).fit(X)
    assert model.converged_
    assert model.n_iter_ < 100
    hasty = GaussianMixture(3, max_iter=2, tol=1e-12, random_state=0)
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 iterations"):
        hasty.fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianMixture(3, max_iter=2, tol=0, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("options", "change", "words"),
    [
        ({}, lambda X: X * np.nan, "900 rows have no value at all, the first is row 0"),
        ({"n_components": 1000}, lambda X: X, "n_components=1000"),
        ({"init": (np.ones(3) / 3, np.ones((3, 3)), np.ones((3, 4, 4)))}, lambda X: X, "means"),
        ({"init": (np.ones(3), np.ones((3, 4)), np.ones((3, 4, 4)))}, lambda X: X, "weights"),
        ({"init": (np.ones(3) / 3, np.ones((3, 4)), -np.ones((3, 4, 4)))}, lambda X: X, "positive definite"),
        ({"init": (np.ones(3) / 3, np.ones((3, 4)))}, lambda X: X, "init must be a tuple"),
        ({"init": "k-mean"}, lambda X: X, "'init'"),
        ({"reg_covar": -1.0}, lambda X: X, "'reg_covar'"),
    ],
)
def test_bad_input_is_named(options, change, words):
    X = clusters()
    model = GaussianMixture(3, random_state=0)
    with pytest.raises(ValueError, match=words):
        model.set_params(**options).fit(change(X))


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(
    ("factor", "words"),
    [(1e160, "too far"), (1e307, "too far"), (1e-100, "too little"), (1e-200, "too little")],
)
def test_a_feature_whose_square_float64_cannot_hold_is_named(factor, words, standardize):
    X = clusters() * [1.0, 1.0, factor, 1.0]
    with pytest.raises(ValueError, match=f"feature 2, from .* to .*, spreads {words}.*multiply it"):
        GaussianMixture(3, standardize=standardize, random_state=0).fit(X)
    model = GaussianMixture(3, standardize=standardize, reg_covar=1e-6, random_state=0)
    assert np.isfinite(model.fit(X * [1, 1, 0, 1]).score(X * [1, 1, 0, 1]))  # a constant column is none


@every_type
@pytest.mark.parametrize(
    "hurt",
    [
        lambda X: np.column_stack([X, np.full(len(X), 3.0)]),
        lambda X: np.column_stack([X, X[:, 0]]),
        lambda X: np.concatenate([X, np.repeat(X[:1], 50, axis=0)]),
        lambda X: X + 1e8,
        lambda X: X * [1e-9, 1.0, 1.0, 1e9],
    ],
    ids=["constant column", "doubled column", "repeated row", "far off", "units apart"],
)
@pytest.mark.parametrize("standardize", [True, False])
def test_hard_data_leave_right_densities(covariance_type, hurt, standardize):
    X = hurt(clusters())
    model = GaussianMixture(6, covariance_type=covariance_type, standardize=standardize, max_iter=20)
    model.set_params(random_state=0).fit(X)
    for array in (model.weights_, model.means_, model.covariances_, model.objective_):
        assert np.isfinite(array).all()
    joint = np.empty((len(X), 6))
    covariances = reference.full_covariances(model.covariances_, 6, X.shape[1])
    for k, (weight, mean, P) in enumerate(zip(model.weights_, model.means_, covariances, strict=True)):
        # In units of its own spread SciPy can take any of them.
        spread = np.sqrt(np.diag(P))
        normal = multivariate_normal(cov=P / np.outer(spread, spread))
        joint[:, k] = np.log(weight) + normal.logpdf((X - mean) / spread) - np.log(spread).sum()
    assert_allclose(model.score_samples(X), logsumexp(joint, axis=1), rtol=1e-6, atol=1e-5)
    assert (np.diff(model.objective_) >= -1e-6 * (1 + np.abs(model.objective_[1:]))).all()
