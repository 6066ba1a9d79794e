"""GaussianMixture against scikit-learn's and SciPy's densities, and its criteria, samples and constraints."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture as Peer

from skem import GaussianMixture

TYPES = ["full", "tied", "diag", "spherical"]
pytestmark = pytest.mark.filterwarnings("error", "ignore:.*did not converge")
every_type = pytest.mark.parametrize("covariance_type", TYPES)


def clusters(n=900, m=4, K=3, seed=0):
    rng = np.random.default_rng(seed)
    parts = [
        rng.normal(size=(n // K, m)) @ rng.normal(size=(m, m)) + 4 * rng.normal(size=m) for _ in range(K)
    ]
    return np.concatenate(parts)


@every_type
def test_same_iterations_as_scikit_learn(covariance_type):
    X, dense = clusters(), covariance_type in ("full", "tied")
    covariances = 4.0 * reference.unit_covariances(covariance_type, 3, 4)
    init = np.full(3, 1 / 3), X[::300], covariances
    options = {"covariance_type": covariance_type, "tol": 0, "max_iter": 20, "reg_covar": 0.0}
    ours = GaussianMixture(init_params=init, n_components=3, **options).fit(X)
    names = "weights_init", "means_init", "precisions_init"
    arrays = *init[:2], np.linalg.inv(covariances) if dense else 1 / covariances
    theirs = Peer(3, **dict(zip(names, arrays, strict=True)), **options).fit(X)
    for name in ("weights_", "means_", "covariances_", "precisions_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-10)
    for name in ("score_samples", "predict_proba", "predict", "score", "bic", "aic"):
        assert_allclose(getattr(ours, name)(X), getattr(theirs, name)(X), rtol=1e-8, atol=1e-10)
    assert ours.n_parameters_ == theirs._n_parameters()
    assert_array_equal(
        GaussianMixture(init_params=init, n_components=3, **options).fit_predict(X), ours.predict(X)
    )
    # Samples have the moments of the model: a fit to them finds its means.
    drawn, components = ours.sample(20_000, random_state=0)
    assert_allclose(np.bincount(components) / 20_000, ours.weights_, atol=0.015)
    parameters = ours.weights_, ours.means_, ours.covariances_
    again = GaussianMixture(3, covariance_type=covariance_type, init_params=parameters).fit(drawn)
    assert_allclose(again.means_, ours.means_, atol=0.05 * X.std())


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**31),
    covariance_type=st.sampled_from(TYPES),
    init=st.sampled_from(["kmeans", "k-means++", "sample"]),
    reg_covar=st.sampled_from([0.0, 1e-6, 0.1, 10.0]),
    standardize=st.booleans(),
)
def test_the_objective_never_falls(seed, covariance_type, init, reg_covar, standardize):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3)) * 10.0 ** rng.integers(-2, 3, size=3) + rng.normal(size=3)
    options = {"covariance_type": covariance_type, "reg_covar": reg_covar, "standardize": standardize}
    warnings.filterwarnings("ignore", message=".*are singular")
    model = GaussianMixture(4, init_params=init, tol=0, max_iter=12, random_state=seed, **options).fit(X)
    # The objective of a component on one sample, as wide as the regularisation, is known less closely.
    rounding = reference.rounding(
        X, reference.Model(model.weights_[:, np.newaxis], model.means_, model.covariances_)
    )
    # Without regularisation the likelihood itself never falls.
    rising = model.objective_ if reg_covar else model.log_likelihood_
    assert (-np.diff(rising) <= 1e-9 * (1 + np.abs(rising[1:])) + rounding).all()
    assert_allclose(model.log_likelihood_[-1], model.score(X), rtol=1e-9, atol=1e-9 + rounding)


def separate_clusters_likelihood(noise, labels, covariance_type, reg_covar):
    """Mean log p of samples so far apart that each belongs to its own cluster, from the noise about the centres alone."""
    m = noise.shape[1]
    shares = np.bincount(labels) / len(labels)
    parts = [noise[labels == k] for k in range(len(shares))]
    scatters = np.stack([np.cov(part.T, bias=True) for part in parts])
    covariances = reference.constrained(scatters, shares, covariance_type) + reg_covar * np.eye(m)
    densities = [
        np.log(share) + multivariate_normal(part.mean(axis=0), P).logpdf(part)
        for part, share, P in zip(parts, shares, covariances, strict=True)
    ]
    return np.concatenate(densities).mean()


@every_type
@pytest.mark.parametrize("distance", [1e5, 1e9])
@pytest.mark.parametrize(
    ("direction", "init", "flat"), [([0, 1, 0], "kmeans", True), ([1, 1, 1], "sample", False)]
)
def test_narrow_clusters_far_apart(covariance_type, distance, direction, init, flat):
    """Their variances are lost in E[x x'] - mu mu', from 1e5 on if one feature is constant in a cluster."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [60, 440] if flat else [250, 250])
    noise = rng.normal(size=(500, 3))
    if flat:
        noise[:60, 1] = 0.0
    X = noise + distance * labels[:, None] * np.array(direction)
    noise = X - distance * labels[:, None] * np.array(direction)  # as it is after rounding
    model = GaussianMixture(2, covariance_type=covariance_type, init_params=init, random_state=0).fit(X)
    expected = separate_clusters_likelihood(noise, labels, covariance_type, model.reg_covar)
    assert_allclose(model.score(X), expected, atol=2e-3)
    # z = U x - U mu is as exact as the samples themselves, whose digits end at the spacing of numbers of this size.
    assert (np.diff(model.objective_) >= -1e-9 - np.spacing(distance)).all()


def test_threads_fits_at_once_and_files_do_not_change_a_bit(tmp_path):
    X = clusters(n=9000).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    options = {"init_params": "sample", "tol": 0, "max_iter": 6, "random_state": 0}
    first = GaussianMixture(7, **options).fit(X)
    with ThreadPoolExecutor(2) as pool:
        fits = [
            pool.submit(GaussianMixture(7, n_jobs=n, **options).fit, data)
            for n, data in ((2, X), (3, mapped))
        ]
    for fit in fits:
        for name in ("weights_", "means_", "covariances_", "objective_"):
            assert_array_equal(getattr(fit.result(), name), getattr(first, name))


@every_type
def test_variance_floor(covariance_type):
    X = clusters(n=150)
    options = {"covariance_type": covariance_type, "variance_floor": 0.2, "reg_covar": 0.0}
    model = GaussianMixture(6, max_iter=30, tol=0, random_state=0, **options).fit(X)
    floor = 0.2 * X.var(axis=0).mean()
    dense = covariance_type in ("full", "tied")
    values = np.linalg.eigvalsh(model.covariances_) if dense else model.covariances_
    assert floor * (1 - 1e-9) <= values.min() < floor * (1 + 1e-9)
    assert (np.diff(model.objective_) > -1e-9).all()


@pytest.mark.parametrize("verbose", [True, 2])
def test_verbose_prints_the_objective_of_each_iteration(capsys, verbose):
    options = {"init_params": "sample", "n_init": 2, "max_iter": 3, "tol": 0, "random_state": 0}
    model = GaussianMixture(2, verbose=verbose, **options).fit(clusters())
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        f"initialisation {s}, iteration {p}" for s in (1, 2) for p in (1, 2, 3)
    ]
    assert f"{model.lower_bound_:.6f}" in lines[2] + lines[5]


def test_condition_marginal_and_samples_of_components():
    mixture = GaussianMixture.from_parameters([0.5, 0.5], [[0, 0], [30, 30]], [np.eye(2)] * 2)
    assert_array_equal(mixture.condition([0], [1e6]).weights_, [0, 1])
    drawn, components = mixture.sample(20, component=1, random_state=0)
    assert_array_equal(components, np.ones(20))
    assert (drawn > 20).all()
    whole_number = "component must be a whole number from 0 to 1"
    for ask, *arguments, words in [
        *((lambda k: mixture.sample(component=k), k, whole_number) for k in (2, -1, True, 0.5)),
        (mixture.marginal, [], "features must be a list of feature indices"),
        (mixture.marginal, ["a"], "a list of feature indices"),
        (mixture.marginal, [0, 2], "features names feature 2, but there are 2: use 0 to 1"),
        (mixture.condition, [1, 1], [0, 0], "features repeats feature 1"),
        (mixture.condition, [0], [1e200], "condition: .* too far from the mixture"),
        (mixture.condition, [0], [1.0, 2.0], "values must be 1 finite numbers"),
        (mixture.condition, [0], np.ma.array([3.0], mask=[True]), "values must be 1 finite numbers"),
        (mixture.condition, range(2), np.zeros(2), "all 2 features are given"),
        (mixture.score_samples, np.full((1, 2), np.nan), "no value at all"),
    ]:
        with pytest.raises(ValueError, match=words):
            ask(*arguments)
