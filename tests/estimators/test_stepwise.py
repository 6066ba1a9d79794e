"""partial_fit: stepwise EM against the same with dense matrices, and what a user may get wrong."""

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import constrained, full_covariances, unchanged, unit_covariances
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import skem

IRIS, SPECIES = load_iris(return_X_y=True)
TYPES = ["full", "tied", "diag", "spherical"]
every_type = pytest.mark.parametrize("covariance_type", TYPES)


def start(covariance_type, K=2, m=4):
    means = IRIS.mean(axis=0) + np.linspace(-1, 1, K)[:, None] * IRIS.std(axis=0)
    return means, unit_covariances(covariance_type, K, m)


def slow_stepwise(batches, parameters, covariance_type, ridge, decay):
    """Running means of n, n x and n x x' (Cappe and Moulines 2009), all about zero, and an M-step after each batch.

    The counts n (K, L) and the weights pi have a column per class.
    """
    pi, means, covariances = parameters
    (K, m), P = means.shape, full_covariances(covariances, *means.shape)
    n = np.zeros(pi.shape)
    sums, squares, log_likelihoods = np.zeros((K, m)), np.zeros((K, m, m)), []
    for t, (X, y, w) in enumerate(batches, start=1):
        with np.errstate(divide="ignore"):
            log_pi = np.log(pi)
        plain = np.stack(
            [multivariate_normal(means[k], P[k]).logpdf(X) + log_pi[k, y] for k in range(K)], axis=1
        )
        joint = plain - 0.5 * ridge * np.trace(np.linalg.inv(P), axis1=1, axis2=2)
        log_likelihoods.append(np.average(logsumexp(plain, axis=1), weights=w))
        r = np.exp(joint - logsumexp(joint, axis=1, keepdims=True)) * (w / w.sum())[:, None]
        gamma = t**-decay
        n = (1 - gamma) * n + gamma * r.T @ np.eye(pi.shape[1])[y]
        sums = (1 - gamma) * sums + gamma * r.T @ X
        squares = (1 - gamma) * squares + gamma * np.einsum("nk,ni,nj->kij", r, X, X)
        n_k = n.sum(axis=1)
        pi, means = n / n.sum(axis=0), sums / n_k[:, None]
        S = squares / n_k[:, None, None] - np.einsum("ki,kj->kij", means, means)
        P = constrained(S, n_k, covariance_type) + ridge * np.eye(m)
    return pi, means, P, log_likelihoods


@every_type
@pytest.mark.parametrize("ridge", [0.0, 0.05])
@pytest.mark.parametrize("n_classes", [1, 3])
def test_batches_match_stepwise_em(covariance_type, ridge, n_classes):
    """Classes have the same share in every batch, so these shares are their running means."""
    rng, codes, batches = np.random.default_rng(0), SPECIES % n_classes, []
    for _ in range(5):
        chosen = np.concatenate([rng.permutation(np.flatnonzero(c == codes))[:20] for c in range(n_classes)])
        weights = rng.uniform(0.5, 2, (n_classes, 20))
        weights /= weights.sum(axis=1, keepdims=True)
        batches.append((IRIS[chosen], codes[chosen], weights.ravel()))
    given = np.array([[0.7, 0.5, 0.4], [0.3, 0.5, 0.6]])[:, :n_classes], *start(covariance_type)
    options = {"covariance_type": covariance_type, "reg_covar": ridge, "standardize": False}
    if n_classes == 1:
        model = skem.GaussianMixture(2, init_params=(given[0][:, 0], *given[1:]), **options)
    else:
        model = skem.PSKEMClassifier(2, init_params=given, **options)
    for X, y, weights in batches:
        model.partial_fit(X, y, sample_weight=weights)
    pi, means, P, log_likelihoods = slow_stepwise(batches, given, covariance_type, ridge, 0.7)
    assert_allclose(model.weights_.reshape(pi.shape), pi, rtol=1e-8)
    assert_allclose(model.means_, means, rtol=1e-8)
    assert_allclose(full_covariances(model.covariances_, 2, 4), P, rtol=1e-8, atol=1e-9)
    assert_allclose(model.log_likelihood_, log_likelihoods, rtol=1e-8)
    assert model.n_iter_ == 5


@pytest.mark.parametrize("first", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    "model",
    [
        skem.GaussianMixture(2, variance_floor=0.1, random_state=0),
        skem.GaussianMixture(2, standardize=True, random_state=0),
        skem.PSKEMClassifier(6, n_blocks=2, max_iter=3, random_state=0),
    ],
)
def test_batches_and_fits_follow_each_other(model, first):
    model = clone(model)
    getattr(model, first)(IRIS[::2], SPECIES[::2])
    model.partial_fit(IRIS[1::2], SPECIES[1::2] + 1)
    assert model.n_iter_ == len(model.objective_) == (1 if first == "fit" else 2)
    if isinstance(model, skem.PSKEMClassifier):
        assert_array_equal(model.class_count_, [25, 50, 50, 25])
    expected = clone(model).fit(IRIS, SPECIES).score_samples(IRIS)
    assert_array_equal(model.fit(IRIS, SPECIES).score_samples(IRIS), expected)
    assert model.partial_fit(IRIS, SPECIES).n_iter_ == 1


def test_numbers_of_components_of_batches():
    with pytest.raises(ValueError, match="n_components=5 exceeds the n_samples=4 samples with a weight"):
        skem.GaussianMixture(5).partial_fit(IRIS[:4])
    model = (
        skem.GaussianMixture(5, random_state=0).partial_fit(IRIS).set_params(n_components=4, warm_start=True)
    )
    message = r"partial_fit: n_components changed from 5 to 4 .* or begin with a clone"
    with unchanged(model), pytest.raises(ValueError, match=message):
        model.partial_fit(IRIS)
    assert np.isfinite(model.set_params(n_components=5).partial_fit(IRIS[:1]).means_).all()


# Classifiers


@pytest.mark.parametrize("names", [np.array([0, 1, 2]), np.array(["b", "c", "a"]), np.array([5, 3, 4])])
def test_a_new_class_begins_with_the_responsibilities_of_its_samples(names):
    known, new = SPECIES < 2, SPECIES == 2
    y = names[SPECIES]
    model = (
        skem.SKEMClassifier(6, random_state=0)
        .partial_fit(IRIS[known], y[known])
        .partial_fit(IRIS[:80], y[:80], sample_weight=np.ones(80))
    )
    of_known = model.responsibilities(IRIS[new])[0].mean(axis=0)  # under all classes together
    old = dict(zip(model.classes_, model.weights_.T, strict=True))
    model.set_params(reg_covar=0).partial_fit(IRIS[new], y[new])
    assert_array_equal(model.classes_, np.sort(names))
    counts = dict(zip(names, [100, 80, 50], strict=True))
    assert_array_equal(model.class_count_, [counts[name] for name in model.classes_])
    assert_allclose(model.priors_, model.class_count_ / 230)
    for name, weights in zip(model.classes_, model.weights_.T, strict=True):
        # reg_covar=0.1 of the first batches is a penalty of the E-step, so it is off for this comparison.
        assert_allclose(weights, of_known if name == names[2] else old[name], rtol=1e-6, atol=1e-12)
    for _ in range(5):
        model.partial_fit(IRIS, y)
    assert model.log_likelihood_[-1] > model.log_likelihood_[3]


def test_a_declared_class_without_samples():
    known = SPECIES < 2
    model = skem.SKEMClassifier(6, random_state=0).partial_fit(IRIS[known], SPECIES[known], classes=[0, 1, 2])
    density = np.exp(model.class_log_density(IRIS[:99]))
    assert_allclose(density[:, 2], density[:, :2] @ model.priors_[:2], rtol=1e-9)
    assert_array_equal(model.predict_proba(IRIS)[:, 2], 0)
    only = skem.SKEMClassifier(6, random_state=0).partial_fit(IRIS[:50], SPECIES[:50], classes=[2, 0, 1])
    for begin in (50, 100):
        only.partial_fit(IRIS[begin : begin + 50], SPECIES[begin : begin + 50])
    assert_array_equal(only.class_count_, [50, 50, 50])
    one = skem.PSKEMClassifier(6, priors="uniform").partial_fit(IRIS, SPECIES).partial_fit(IRIS[:1], [7])
    assert_array_equal(one.priors_, np.full(4, 0.25))
    assert np.isfinite(one.predict_proba(IRIS)).all()


@pytest.mark.parametrize(
    "model",
    [skem.SKEMClassifier(20), skem.PSKEMClassifier(30, n_blocks=4), skem.MDAClassifier(30)],
    ids=lambda m: type(m).__name__,
)
def test_batches_approach_the_fit(model):
    """The log-loss of a classifier after one reading in batches is at most the worst of three fits from other seeds."""
    split = train_test_split(*load_digits(return_X_y=True), random_state=0)
    X_train, X_test, y_train, y_test = split

    def loss(fitted):
        return log_loss(y_test, fitted.predict_proba(X_test))

    fits = [loss(model.set_params(random_state=seed).fit(X_train, y_train)) for seed in range(3)]
    batches = [clone(model).set_params(n_jobs=n_jobs, random_state=0) for n_jobs in (1, 2)]
    losses = []
    for X, y in zip(np.array_split(X_train, 5), np.array_split(y_train, 5), strict=True):
        for each in batches:
            each.partial_fit(X, y)
        losses.append(loss(batches[0]))
    assert losses[-1] < min(max(fits), losses[0])
    for one, other in zip(*(each.blocks_ for each in batches), strict=True):
        assert_array_equal(one.means, other.means)


def test_batches_after_other_fits():
    """Attributes that a batch makes outdated are gone; counts of a fit outside memory continue."""
    model = skem.SKEMClassifier([2, 2], early_stopping=True, random_state=0).fit(IRIS[:100], SPECIES[:100])
    assert len(model.validation_scores_) > 1
    model.set_params(early_stopping=False, n_components=None).partial_fit(IRIS, SPECIES)
    assert not hasattr(model, "validation_scores_")
    assert not hasattr(model, "groups_")
    out_of_core = skem.SKEMClassifier(6, random_state=0).fit(da.from_array(IRIS, chunks=(50, 4)), SPECIES)
    assert_array_equal(out_of_core.partial_fit(IRIS, SPECIES).class_count_, [100, 100, 100])
    with pytest.raises(TypeError, match="takes arrays in memory"):
        out_of_core.partial_fit(da.from_array(IRIS, chunks=(50, 4)), SPECIES)


def test_bad_batches_of_classifiers_leave_the_model():
    model = skem.SKEMClassifier(6, random_state=0).partial_fit(IRIS, SPECIES)
    gap = np.where(np.arange(4), IRIS, np.nan)
    for batch, words in [
        ((IRIS[:, :3], SPECIES), "3 features"),
        ((gap, SPECIES), "150 NaN"),
        ((IRIS, SPECIES.astype(str)), "Mix of label input types"),
        ((IRIS, SPECIES, ["setosa"]), "Mix of label input types"),
        ((IRIS, SPECIES, [np.nan]), "Input classes contains 1 missing labels .* leave them out"),
        ((IRIS, SPECIES, 3), "classes must be a sequence of labels, got 3"),
        ((IRIS, SPECIES, "0"), "classes must be a sequence of labels, got '0'"),
        ((IRIS, SPECIES, [[0, 1]]), r"classes must be a sequence of labels, got \[\[0, 1\]\]"),
        ((IRIS, IRIS[:, 0]), "continuous"),
    ]:
        with unchanged(model), pytest.raises(ValueError, match=words):
            model.partial_fit(*batch)
    for changed, words in [
        ({"n_components": 7}, "partial_fit: n_components changed from 6 to 7 .* begin with a clone"),
        ({"covariance_type": "diag"}, "covariance_type changed"),
        ({"early_stopping": True}, "early_stopping needs all samples at once"),
        ({"options": {"sharing": 0.5}}, "sharing needs all samples at once"),
        ({"priors": {0: 0.5, 1: 0.3, 2: 0.1, 3: 0.1}}, "priors has probabilities for .*3"),
    ]:
        other = skem.SKEMClassifier(6, random_state=0).partial_fit(IRIS, SPECIES).set_params(**changed)
        with pytest.raises(ValueError, match=words):
            other.partial_fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="the first batch is of one class only, 0: give the labels"):
        skem.SKEMClassifier().partial_fit(IRIS[:50], SPECIES[:50])
    for without in (skem.PRBFClassifier(), skem.DiscriminativePSKEMClassifier()):
        with pytest.raises(AttributeError, match="partial_fit") as caught:
            without.partial_fit(IRIS, SPECIES)
        assert "all samples at once; use fit" in str(caught.value.__cause__)
