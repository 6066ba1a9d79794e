"""What callbacks of scikit-learn are told of a fit."""

import pytest
from numpy.testing import assert_array_equal
from sklearn.callback import ScoringMonitor
from sklearn.datasets import load_iris

from skem import MDAClassifier, PSKEMClassifier, SKEMClassifier


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
