"""From pass to pass: learning curves, when a fit ends, and going on with it."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import shared_clusters
from sklearn.exceptions import ConvergenceWarning

from skem import MDAClassifier, PSKEMClassifier, SKEMClassifier

pytestmark = pytest.mark.usefixtures("both_ways")


def noisy_labels(seed=0, n=200, m=3):
    """Rows whose labels are mostly chance: training soon fits noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, m)) + 0.5 * y[:, None], y


@pytest.mark.parametrize("Classifier", [SKEMClassifier, PSKEMClassifier, MDAClassifier])
def test_fit_passes_shows_every_pass(Classifier):
    X, y, _ = shared_clusters()
    sample_weight = np.linspace(0.5, 2, len(y))
    clf = Classifier(6, max_iter=4, random_state=1)
    for passes, seen in enumerate(clf.fit_passes(X, y, sample_weight), start=1):
        assert seen is clf
        stopped = Classifier(6, max_iter=passes, random_state=1).fit(X, y, sample_weight)
        assert_array_equal(seen.class_log_density(X), stopped.class_log_density(X))
        assert_array_equal(seen.predict(X), stopped.predict(X))
        assert_array_equal(seen.objective_, stopped.objective_)
        assert seen.n_iter_ == passes == len(seen.objective_) == len(seen.log_likelihood_)
    assert passes == 4


def test_tol_stops_when_the_objective_does():
    X, y, _ = shared_clusters()
    clf = SKEMClassifier(6, tol=1e-3, max_iter=500, random_state=0).fit(X, y)
    steps = np.diff(clf.objective_)
    assert clf.converged_
    assert clf.n_iter_ < 500
    assert steps[-1] < 1e-3
    assert (steps[:-1] >= 1e-3).all()


def test_only_a_positive_tol_warns():
    X, y, _ = shared_clusters()
    with pytest.warns(ConvergenceWarning):
        unfinished = SKEMClassifier(6, tol=1e-12, max_iter=2, random_state=0).fit(X, y)
    assert not unfinished.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SKEMClassifier(6, tol=0.0, max_iter=2, random_state=0).fit(X, y)


@pytest.mark.parametrize("Classifier", [SKEMClassifier, PSKEMClassifier, MDAClassifier])
def test_warm_start_goes_on_where_it_stopped(Classifier):
    X, y, _ = shared_clusters()
    twice = Classifier(6, init="uniform", max_iter=5, warm_start=True, random_state=0).fit(X, y)
    halfway = twice.class_log_density(X)
    twice.fit(X, y)
    once = Classifier(6, init="uniform", max_iter=10, random_state=0).fit(X, y)
    assert_allclose(twice.class_log_density(X), once.class_log_density(X), rtol=1e-8, atol=1e-8)
    assert_allclose(twice.objective_[-1], once.objective_[-1], rtol=1e-10)
    assert len(twice.objective_) == len(twice.log_likelihood_) == twice.n_iter_
    cold = Classifier(6, init="uniform", max_iter=5, random_state=0).fit(X, y).fit(X, y)
    assert_array_equal(cold.class_log_density(X), halfway)


def test_warm_start_goes_on_from_a_start_of_given_arrays():
    X, y, start = shared_clusters()
    clf = SKEMClassifier(init=start, max_iter=2, warm_start=True).fit(X, y)
    assert clf.n_components_ == 5
    once = SKEMClassifier(init=start, max_iter=4).fit(X, y)
    assert_allclose(clf.fit(X, y).class_log_density(X), once.class_log_density(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    "change", [{"n_blocks": 3}, {"n_components": 7}, {"covariance_type": "diag"}], ids=str
)
def test_warm_start_refuses_another_model(change):
    X, y, _ = shared_clusters()
    clf = PSKEMClassifier(6, n_blocks=2, max_iter=2, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=next(iter(change))):
        clf.set_params(**change).fit(X, y)


HELD_OUT = {"early_stopping": True, "validation_fraction": 0.3, "reg_covar": 1e-3, "random_state": 0}


def test_early_stopping_waits_as_long_as_scikit_learns_mlp():
    X, y = noisy_labels()
    clf = SKEMClassifier(16, max_iter=200, n_iter_no_change=3, **HELD_OUT).fit(X, y)
    best, without_gain, waits = -np.inf, 0, []
    for score in clf.validation_scores_:
        without_gain = without_gain + 1 if score < best else 0
        best = max(best, score)
        waits.append(without_gain)
    assert len(waits) < 200
    assert waits[-1] == 4 == max(waits)  # more than n_iter_no_change


def test_early_stopping_keeps_the_best_pass():
    X, y = noisy_labels()
    options = HELD_OUT | {"n_iter_no_change": 4}
    clf = SKEMClassifier(16, max_iter=200, **options).fit(X, y)
    scores = np.asarray(clf.validation_scores_)
    assert len(scores) < 200
    assert clf.best_validation_score_ == scores.max()
    best = int(scores.argmax())
    stopped_there = SKEMClassifier(16, max_iter=best + 1, **options).fit(X, y)
    assert_array_equal(clf.class_log_density(X), stopped_there.class_log_density(X))
    everything = SKEMClassifier(16, max_iter=best + 1, **{**options, "early_stopping": False}).fit(X, y)
    assert not np.allclose(everything.means_, clf.means_)  # it trained on the other 70% only
