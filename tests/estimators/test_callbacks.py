"""What callbacks of scikit-learn are told of a fit."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.callback import ScoringMonitor
from sklearn.datasets import load_iris

from skem import (
    GaussianMixture,
    GaussianMixturePath,
    KMeans,
    MDAClassifier,
    PRBFClassifier,
    PRBFClassifierCV,
    PRBFEnsemble,
    PSKEMClassifier,
    PSKEMClassifierCV,
    SDGMClassifier,
    SKEMClassifier,
)


class Recorder:
    """The smallest callback: what was announced, and what was seen."""

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
            self.seen.append(fitted_estimator.class_log_density(X))
        return self.stop_after is not None and len(self.seen) >= self.stop_after


@pytest.mark.parametrize("Classifier", [SKEMClassifier, PSKEMClassifier, MDAClassifier])
def test_callbacks_see_every_pass(Classifier):
    X, y = load_iris(return_X_y=True)
    recorder, monitor = Recorder(), ScoringMonitor(scoring="accuracy")
    clf = Classifier(6, max_iter=4, random_state=0).set_callbacks(recorder, monitor).fit(X, y)
    assert recorder.announced == 4
    assert recorder.finished
    assert len(recorder.seen) == 4
    plain = Classifier(6, max_iter=4, random_state=0).fit(X, y)
    assert_array_equal(clf.class_log_density(X), plain.class_log_density(X))
    for passes in (1, 4):
        expected = Classifier(6, max_iter=passes, random_state=0).fit(X, y).class_log_density(X)
        assert_array_equal(recorder.seen[passes - 1], expected)
    scores = [row["accuracy"] for row in monitor.get_logs().data if row["task_id_path"][1:]]
    assert scores[-1] == plain.score(X, y)
    assert len(scores) == 4
    stopped = Classifier(6, max_iter=4, random_state=0).set_callbacks(Recorder(stop_after=2)).fit(X, y)
    assert stopped.n_iter_ == 2
    recorder = Recorder()
    Classifier(6, n_init=3, init="sample", max_iter=4, random_state=0).set_callbacks(recorder).fit(X, y)
    assert recorder.announced == len(recorder.seen) == 12
    assert recorder.finished


class Predictions(Recorder):
    """Predictions of the model after each task."""

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        if context.parent is not None:
            self.seen.append(None if fitted_estimator is None else fitted_estimator.predict(X))
        return self.stop_after is not None and len(self.seen) >= self.stop_after


@pytest.mark.parametrize(
    "model",
    [
        GaussianMixture(3, tol=0, max_iter=4, random_state=0),
        KMeans(5, tol=0, max_iter=4, random_state=0),
        SDGMClassifier(1, tol=0, max_iter=4, random_state=0),
    ],
)
def test_callbacks_follow_mixtures_clusters_and_sparse_models(model):
    X, y = load_iris(return_X_y=True)
    recorder = Predictions()
    observed = clone(model).set_callbacks(recorder).fit(X, y)
    assert recorder.announced == len(recorder.seen) == observed.n_iter_ == 4
    assert recorder.finished
    assert_array_equal(observed.predict(X), model.fit(X, y).predict(X))
    for n_iter in (2, 4):
        assert_array_equal(recorder.seen[n_iter - 1], model.set_params(max_iter=n_iter).fit(X, y).predict(X))
    stopped = clone(model).set_params(max_iter=9, tol=1e-12).set_callbacks(Predictions(stop_after=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # max_iter did not end the fit
        assert stopped.fit(X, y).n_iter_ == 2


@pytest.mark.parametrize(
    ("search", "n_tasks"),
    [
        (GaussianMixturePath(n_components=[1, 2], n_jobs=2, random_state=0), 8),
        (PSKEMClassifierCV(n_components=3, n_blocks=1, reg_covar=[0.1, 0.2], max_iter=2, random_state=0), 2),
        (PRBFClassifierCV(PRBFClassifier(3, max_iter=2, tol=0), cv=3, random_state=0), 3),
        (PRBFEnsemble(PRBFClassifier(3, max_iter=2, tol=0), sharings=[0, 1], random_state=0), 2),
    ],
)
def test_callbacks_follow_searches_fit_by_fit(search, n_tasks):
    X, y = load_iris(return_X_y=True)
    recorder = Predictions()
    search.set_callbacks(recorder).fit(X, y)
    assert len(recorder.seen) == n_tasks
    assert recorder.announced in (None, n_tasks)
    assert recorder.finished


@pytest.mark.parametrize("model", [SKEMClassifier(6), GaussianMixture(3), KMeans(3), SDGMClassifier(1)])
def test_callbacks_end_with_a_fit_that_fails(model):
    X, y = load_iris(return_X_y=True)
    recorder = Recorder()
    with pytest.raises(ValueError, match="infinity"):
        model.set_callbacks(recorder).fit(np.where(X > 7, np.inf, X), y)
    assert recorder.finished
