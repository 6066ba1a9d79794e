"""DiscriminativePSKEMClassifier: public behaviour."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax, logsumexp
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from skem import DiscriminativePSKEMClassifier, PSKEMClassifier
from skem.estimators._samples import HeldOutSamples

X, y = load_iris(return_X_y=True)
QUICK = {"n_blocks": 2, "max_iter": 3, "random_state": 0, "standardize": "robust", "reg_covar": 0.1}
STEPS = {
    "all_samples": {"discriminative_iter": 4},
    "batches": {"discriminative_iter": 4, "batch_size": 20},
}
all_samples_and_batches = pytest.mark.parametrize("steps", STEPS)


def quick(steps="all_samples", n_components=6, **options):
    return DiscriminativePSKEMClassifier(n_components, **QUICK | STEPS[steps] | options)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:1200]
    return PCA(24, random_state=0).fit_transform(X[order]), y[order]


# Limits


@pytest.mark.parametrize(
    "options", [{}, {"early_stopping": True, "options": {"sharing": 0.3}, "covariance_type": "tied"}]
)
def test_without_iterations_it_is_pskem(options):
    model = quick(discriminative_iter=0, **options).fit(X, y)
    pskem = PSKEMClassifier(6, **QUICK, **options).fit(X, y)
    for method in ("class_log_density", "predict_log_proba", "score_samples", "predict"):
        assert_array_equal(getattr(model, method)(X), getattr(pskem, method)(X))


def test_infinite_strength_is_the_initialisation():
    model = quick(strength=np.inf, temperature=1.0).fit(X, y)
    pskem = PSKEMClassifier(6, **QUICK).fit(X, y)
    assert_array_equal(model.predict_log_proba(X), pskem.predict_log_proba(X))
    # Equal blocks are overconfident together.
    alike = {"arrangement": [[0, 1, 2, 3]] * 6}
    tempered = quick(strength=np.inf, **alike).fit(X, y)
    pskem = PSKEMClassifier(6, **QUICK | alike).fit(X, y)
    assert_array_equal(tempered.class_log_density(X), pskem.class_log_density(X))
    assert tempered.temperature_ > 1.0


# Densities


def test_densities_stay_generative():
    model, start = quick().fit(X, y), quick(strength=np.inf).fit(X, y)
    assert (model.class_log_density(X) != start.class_log_density(X)).any()
    assert_array_equal(model.score_samples(X), start.score_samples(X))
    assert_allclose(start.score_samples(X), logsumexp(start.predict_joint_log_proba(X), axis=1), rtol=1e-12)
    assert_array_equal(model.sample(5)[0], start.sample(5)[0])


def test_probabilities_are_of_the_tempered_product():
    model = quick(temperature=4.0, priors=[0.5, 0.3, 0.2]).fit(X, y)
    expected = log_softmax((model.class_log_density(X) + np.log([0.5, 0.3, 0.2])) / 4.0, axis=1)
    assert_allclose(model.predict_log_proba(X), expected, atol=1e-12)
    assert_array_equal(model.predict(X), expected.argmax(axis=1))


# Every kind of mixture


@all_samples_and_batches
@pytest.mark.parametrize(
    ("covariance_type", "options"),
    [
        ("full", {"init_params": "sample"}),
        ("tied", {"options": {"sharing": 0.0}}),
        ("diag", {"standardize": False}),
        ("spherical", {"arrangement": [[0, 1], [1, 2, 3], [2]]}),
    ],
)
def test_every_kind_of_mixture_gains(steps, covariance_type, options):
    model = quick(steps, covariance_type=covariance_type, **options).fit(X, y)
    start = log_softmax(
        quick(strength=np.inf, covariance_type=covariance_type, **options).fit(X, y).class_log_density(X)
        / model.temperature_,
        axis=1,
    )
    assert model.predict_log_proba(X)[np.arange(150), y].mean() > start[np.arange(150), y].mean()
    for block, before in zip(model.blocks_, model.generative_blocks_, strict=True):
        assert block.covariances.shape == before.covariances.shape
        assert_allclose(block.weights.sum(axis=0), 1.0)
        assert_array_equal(block.weights == 0, before.weights == 0)
        if covariance_type in ("full", "tied"):
            np.linalg.cholesky(block.covariances)
        else:
            assert (block.covariances > 0).all()


# Iterations


@all_samples_and_batches
def test_iterations_of_both_kinds(steps):
    model = quick(steps)
    seen = [
        (each.n_iter_, each.n_discriminative_iter_, each.class_log_density(X))
        for each in model.fit_iterations(X, y)
    ]
    assert [counts[:2] for counts in seen] == [(1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3), (3, 4)]
    assert_array_equal(seen[-1][2], quick(steps).fit(X, y).class_log_density(X))
    assert len(model.conditional_log_likelihood_) == 4
    iterations = model.fit_iterations(X, y)
    for _ in range(4):
        next(iterations)
    with pytest.raises(StopIteration):
        iterations.send(True)
    assert model.n_discriminative_iter_ == 1


@all_samples_and_batches
def test_warm_start(steps):
    model = quick(steps, temperature=2.0, warm_start=True).fit(X, y)
    first, start = model.conditional_log_likelihood_[-1], model.generative_blocks_
    assert [each.n_discriminative_iter_ for each in model.fit_iterations(X, y)] == [1, 2, 3, 4]
    assert model.conditional_log_likelihood_[-1] > first
    for block, before in zip(model.generative_blocks_, start, strict=True):
        assert block is before
    doubled = quick(steps, [2, 2, 2], n_blocks=1, options={"n_doublings": 1}, warm_start=True).fit(X, y)
    assert doubled.n_components_ == doubled.fit(X, y).n_components_ > model.n_components_
    for group, weights in zip(doubled.groups_, doubled.weights_.T, strict=True):
        assert_array_equal(group, np.flatnonzero(weights))


@pytest.mark.parametrize("covariance_type", ["full", "spherical"])
def test_a_warm_start_in_other_units(covariance_type):
    model = DiscriminativePSKEMClassifier(6, covariance_type=covariance_type, warm_start=True, random_state=0)
    density = model.fit(X, y).score_samples(X)
    model.set_params(temperature=5.0, standardize=False).fit(X * [1, 1, 1, 3], y)
    assert_array_equal(model.score_samples(X), density)  # of the mixtures after EM
    assert model.temperature_ == 5.0


def test_strength_is_chosen_by_the_held_out_log_loss(digits, monkeypatch):
    X, y = digits
    losses, log_loss_of = {}, HeldOutSamples.log_loss

    def spy(held_out, model):
        losses[model.strength_] = log_loss_of(held_out, model)
        return losses[model.strength_]

    monkeypatch.setattr(HeldOutSamples, "log_loss", spy)
    model = quick(n_components=20, strength="auto")
    seen = [each.n_discriminative_iter_ for each in model.fit_iterations(X, y)]
    assert seen == [0, 0, 0, *[1, 2, 3, 4] * 3]
    assert model.strength_ == min(losses, key=losses.get)
    assert len(losses) == 3
    alone = quick(n_components=20, strength=model.strength_).fit(X, y)
    assert_array_equal(alone.class_log_density(X), model.class_log_density(X))


# The default


@pytest.fixture(scope="module")
def default():
    return DiscriminativePSKEMClassifier(random_state=0).fit(X, y)


def test_chosen_parameters_rebuild_the_default(default):
    rebuilt = DiscriminativePSKEMClassifier(**default.best_params_).fit(X, y)
    threads = DiscriminativePSKEMClassifier(n_jobs=2, random_state=0, warm_start=True).fit(X, y)
    given = DiscriminativePSKEMClassifier(random_state=0).get_params()
    assert default.get_params() == given
    for last in DiscriminativePSKEMClassifier(random_state=0).fit_iterations(X, y):
        assert last.get_params() == given
    for again in (rebuilt, threads, last):
        assert_array_equal(again.predict_proba(X), default.predict_proba(X))
    assert threads.fit(X, y).best_params_ == default.best_params_


@pytest.mark.parametrize(("n", "m"), [(30, 4), (60, 8), (60, 80), (250, 40)])
def test_few_samples_of_one_covariance(n, m):
    """On average of three draws the default beats linear discriminant analysis, whose assumptions hold."""
    losses = []
    for seed in range(n, n + 3):
        rng = np.random.default_rng(seed)
        factor = 0.3 * rng.normal(size=(m, m)) / np.sqrt(m) + np.eye(m)
        y = np.arange(n + 1000) % 3
        X = rng.normal(size=(len(y), m)) @ factor + y[:, None] * rng.normal(size=m) * 2 / np.sqrt(m)
        models = DiscriminativePSKEMClassifier(random_state=0), LinearDiscriminantAnalysis()
        losses.append([log_loss(y[n:], model.fit(X[:n], y[:n]).predict_proba(X[n:])) for model in models])
    default, linear = np.mean(losses, axis=0)
    assert default < linear


def test_a_parameter_that_is_set_ends_the_choice():
    for options in ({"max_iter": 3}, {"options": {"smoothing": 0.1}}, {"covariance_type": "diag"}):
        named, unnamed = (
            DiscriminativePSKEMClassifier(*number, random_state=0, **options).fit(X, y)
            for number in ([None], [])
        )
        assert not hasattr(unnamed, "best_params_")
        assert_array_equal(unnamed.predict_proba(X), named.predict_proba(X))
    weighted = DiscriminativePSKEMClassifier(priors="uniform", random_state=0).fit(X, y, 1.0 + y)
    assert_allclose(weighted.priors_, 1 / 3)
    assert weighted.best_params_


def test_the_default_of_classes_with_one_sample():
    for X, y in (([[0.0], [3.0]], [0, 1]), ([[0.0], [0.5], [3.0]], [0, 0, 1])):
        model = DiscriminativePSKEMClassifier(random_state=0).fit(X, y)
        assert_array_equal(model.predict([[-1.0], [4.0]]), [0, 1])
    gaps = [[0.0, 1.0], [3.0, np.nan], [0.1, np.nan], [3.1, np.nan]]  # some splits lack the second feature
    assert_array_equal(model.fit(gaps, [0, 1, 0, 1]).predict(gaps), [0, 1, 0, 1])


# Threads, types and overflow


@all_samples_and_batches
def test_threads_and_float32(digits, steps):
    X, y = digits[0][:300], digits[1][:300]
    one, two = (quick(steps, 20, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert_array_equal(one.class_log_density(X), two.class_log_density(X))
    assert one.temperature_ == two.temperature_
    double, single = (
        quick(steps, 20, temperature=3.0).fit(X.astype(dtype), y) for dtype in (np.float64, np.float32)
    )
    assert (double.dtype_used_, single.dtype_used_) == ("float64", "float32")
    assert_allclose(single.predict_proba(X), double.predict_proba(X), atol=0.02)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_overflow_keeps_the_last_iteration():
    with pytest.warns(ConvergenceWarning, match="overflowed in iteration 1 .* kept"):
        model = quick("batches", strength=1e300).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()
