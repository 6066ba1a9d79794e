"""Iterations of a fit: learning curves, convergence, warm starts, several initialisations and early stopping."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import skem

X, y = load_iris(return_X_y=True)
SKEM, PSKEM = skem.SKEMClassifier(6, random_state=0), skem.PSKEMClassifier(6, n_blocks=2, random_state=0)
MIXTURE = skem.GaussianMixture(5, random_state=0)
SPARSE = skem.SDGMClassifier(1, em_iter=5, random_state=0)


def model_name(model):
    return type(model).__name__


def every(*models):
    return pytest.mark.parametrize("model", models, ids=model_name)


# Convergence


@every(SKEM, MIXTURE)
def test_tol_is_the_least_gain_of_the_objective(model):
    options = {"init_params": "sample", "max_iter": 60}
    for tol in (1e-1, 1e-2):
        gains = np.diff((fitted := clone(model).set_params(tol=tol, **options).fit(X, y)).objective_)
        assert fitted.converged_
        assert gains[-1] < tol <= gains[:-1].min()
    assert clone(model).set_params(tol=0, **options).fit(X, y).n_iter_ == 60


def converged(model, X=X):
    """``converged_`` after a fit, None if there is none; a warning has to come with False, and only with it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    fitted = getattr(model, "best_estimator_", model)
    value = getattr(fitted, "converged_", None)
    assert getattr(pickle.loads(pickle.dumps(fitted)), "converged_", None) is value
    assert any(each.category is ConvergenceWarning for each in caught) == (value is False)
    return value


@every(
    skem.SKEMClassifier(),
    skem.PSKEMClassifier(n_blocks=2),
    skem.MDAClassifier(),
    skem.DiscriminativePSKEMClassifier(discriminative_iter=3),
    skem.PRBFClassifier(),
    skem.GaussianMixture(3),
    skem.SDGMClassifier(1, form="primal"),
)
def test_converged_exists_only_with_a_criterion(model):
    model.set_params(random_state=0)
    assert converged(clone(model)) is (True if model.tol else None)
    assert converged(model.set_params(tol=0.1)) is True
    if not isinstance(model, skem.SDGMClassifier):
        assert converged(model, np.where(X.max(axis=0) == X, np.nan, X)) is True
    for tol, expected in ((1e-12, False), (0, None)):
        assert converged(model.set_params(tol=tol, max_iter=2)) is expected


def test_early_stopping_counts_as_convergence_beside_a_tolerance():
    stopping = clone(SKEM).set_params(
        early_stopping=True, max_iter=200, options={"n_iter_no_change": 1}, reg_covar=1e-4
    )
    labels = np.random.default_rng(0).permutation(y)
    for tol, expected in ((1e-12, True), (0, None)):
        fitted = clone(stopping).set_params(tol=tol).fit(X, labels)
        assert fitted.n_iter_ < 200
        assert getattr(fitted, "converged_", None) is expected


# Warm starts


@every(SKEM, PSKEM, MIXTURE)
def test_warm_start_continues(model):
    model = clone(model).set_params(init_params="sample", tol=0, max_iter=5, warm_start=True)
    twice = clone(model).fit(X, y).fit(X, y)
    once = clone(model).set_params(max_iter=10).fit(X, y)
    assert_allclose(twice.score_samples(X), once.score_samples(X), rtol=1e-8, atol=1e-8)
    assert_allclose(twice.objective_[-1], once.objective_[-1], rtol=1e-10)
    assert len(twice.objective_) == len(twice.log_likelihood_) == twice.n_iter_
    cold = clone(model).set_params(warm_start=False).fit(X, y).fit(X, y)
    assert_array_equal(cold.score_samples(X), clone(model).fit(X, y).score_samples(X))
    with pytest.raises(ValueError, match=r"warm_start: n_components changed from . to 7 .* or set warm_st"):
        twice.set_params(n_components=7).fit(X, y)
    with pytest.raises(ValueError, match="number of features changed from 4 to 3"):
        twice.set_params(n_components=model.n_components).fit(X[:, :3], y)


@pytest.mark.parametrize(
    "change",
    [
        {"n_blocks": 3},
        {"covariance_type": "spherical"},
        {"options": {"block_size": 2}, "arrangement": "random"},
        {"arrangement": [np.r_[:600, 601, 600, 602:1200]]},
    ],
)
def test_warm_start_of_another_model(change):
    model, wide = clone(PSKEM).set_params(arrangement=[np.arange(1200)]), np.tile(X, 300)
    model.set_params(covariance_type="diag", max_iter=1, warm_start=True).fit(wide, y)
    with pytest.raises(ValueError, match=r"warm_start: .* changed from .{,170} since"):
        model.set_params(**change).fit(wide, y)


@every(MIXTURE, SKEM)
def test_loop_of_warm_starts_converges_like_one_fit(model):
    whole = clone(model).set_params(tol=1e-3, max_iter=100).fit(X, y)
    loop = clone(model).set_params(tol=1e-3, max_iter=1, warm_start=True)
    fits = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        while fits < 100 and not (fits and loop.converged_):
            loop.fit(X, y)
            fits += 1
    assert fits == whole.n_iter_
    assert_allclose(loop.objective_[-1], whole.objective_[-1], rtol=1e-9)


# Several initialisations


@every(SKEM, PSKEM)
def test_best_of_several_initialisations(model):
    options = (
        {"init_params": "sample", "arrangement": "random"} if model is PSKEM else {"init_params": "sample"}
    )
    model = clone(model).set_params(max_iter=4, **options)
    one = clone(model).fit(X, y)
    model.set_params(n_init=4)
    ends, n_iter = [], []
    for each in model.fit_iterations(X, y):
        n_iter.append(each.n_iter_)
        if each.n_iter_ == 4:
            ends.append(each.objective_[-1])
        assert_array_equal(np.concatenate(each.block_indices_), np.concatenate(one.block_indices_))
    assert n_iter == [1, 2, 3, 4] * 4
    assert len(set(ends)) == 4
    assert ends[0] == one.objective_[-1]
    assert model.objective_[-1] == max(ends)
    assert_allclose(model.log_likelihood_[-1], model.class_log_density(X)[np.arange(150), y].mean())
    # Stopped from outside, the best of what was seen is kept.
    iterations = model.fit_iterations(X, y)
    seen = [next(iterations).objective_[-1] for _ in range(6)]
    with pytest.raises(StopIteration):
        iterations.send(True)
    assert model.objective_[-1] == max(seen[3], seen[5])


@every(SKEM, PSKEM)
def test_a_loop_that_fails_leaves_the_estimator_as_it_was(model):
    model, expected = clone(model).fit(X, y), clone(model).fit(X, y).predict(X)
    with pytest.raises(ValueError, match="priors has probabilities"):
        next(model.set_params(priors={0: 0.5}).fit_iterations(X[::-1], y + 10))
    assert_array_equal(model.predict(X), expected)


# Early stopping


@every(SKEM, skem.MDAClassifier(6, random_state=0))
def test_early_stopping_keeps_the_best_iteration(model):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 3)) + 0.5 * y[:, None]  # training soon fits noise
    options = {"n_components": 16, "reg_covar": 1e-3, "max_iter": 200}
    options |= {"early_stopping": True, "options": {"validation_fraction": 0.3, "n_iter_no_change": 3}}
    model = clone(model).set_params(**options)
    iterations = [each.class_log_density(X) for each in model.fit_iterations(X, y)]
    assert model.best_iter_ < model.n_iter_ == len(iterations) == len(model.validation_scores_)
    assert model.best_iter_ == 1 + int(np.argmax(model.validation_scores_))
    assert model.best_validation_score_ == max(model.validation_scores_)
    assert_array_equal(model.class_log_density(X), iterations[model.best_iter_ - 1])
    everything = clone(model).set_params(max_iter=model.best_iter_, early_stopping=False).fit(X, y)
    assert not np.allclose(everything.class_log_density(X), model.class_log_density(X))
    # As long as scikit-learn's multi-layer perceptron: more than n_iter_no_change iterations without a gain.
    best, without_gain, waits = -np.inf, 0, []
    for score in model.validation_scores_:
        without_gain = without_gain + 1 if score < best else 0
        best = max(best, score)
        waits.append(without_gain)
    assert waits[-1] == 4 == max(waits)


# Callbacks


class Recorder:
    """The smallest callback: the announced number of tasks, and a prediction after each."""

    def __init__(self, stop_after=None):
        self.stop_after, self.seen, self.announced, self.finished = stop_after, [], None, False

    def setup(self, estimator, context):
        self.announced = context.max_subtasks

    def teardown(self, estimator, context):
        self.finished = True

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        if context.parent is not None:
            self.seen.append(None if fitted_estimator is None else fitted_estimator.predict(X))
        return self.stop_after is not None and len(self.seen) >= self.stop_after


@every(SKEM, PSKEM, MIXTURE, skem.KMeans(5, random_state=0), SPARSE)
def test_callbacks_see_every_iteration(model):
    model = clone(model).set_params(max_iter=4, tol=0)
    recorder = Recorder()
    observed = clone(model).set_callbacks(recorder).fit(X, y)
    assert recorder.announced == len(recorder.seen) == observed.n_iter_ == 4
    assert recorder.finished
    assert_array_equal(observed.predict(X), clone(model).fit(X, y).predict(X))
    for n_iter in (2, 4):
        fitted = clone(model).set_params(max_iter=n_iter).fit(X, y)
        assert_array_equal(recorder.seen[n_iter - 1], fitted.predict(X))
    stopped = clone(model).set_params(max_iter=9, tol=1e-12).set_callbacks(Recorder(stop_after=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # max_iter did not end the fit
        assert stopped.fit(X, y).n_iter_ == 2


@every(SKEM, MIXTURE, SPARSE)
def test_callbacks_end_with_a_fit_that_fails(model):
    recorder = Recorder()
    with pytest.raises(ValueError, match="infinity"):
        clone(model).set_callbacks(recorder).fit(np.where(X > 7, np.inf, X), y)
    assert recorder.finished
