"""Which rows are of another data set."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skem import SKEMClassifier
from skem.repro.training import outliers


def test_the_area_counts_pairs_in_the_right_order():
    class Model:
        def score_samples(self, X):
            return X[:, 0]

    inside, outside = np.array([[3.0], [1.0], [2.0]]), np.array([[0.0], [2.5]])
    # Of six pairs the outside row is lower in 3 + 1.
    assert outliers.auroc(Model(), inside, outside) == pytest.approx(4 / 6)


def test_the_margin_is_that_of_the_first_class_over_the_second():
    class Model:
        def decision_function(self, X):
            return X

    scores = outliers.normality(Model(), np.array([[1.0, 5.0, 3.0], [2.0, 0.0, 2.0]]))
    assert scores.tolist() == [2.0, 0.0]
    assert outliers.margin(Model(), np.array([-2.0, 1.0])).tolist() == [2.0, 1.0]


def test_a_density_finds_far_rows_where_a_margin_is_surest():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) + 3 * y[:, None]
    far = rng.normal(size=(100, 2)) + 30
    models = {"density": SKEMClassifier(2, random_state=0), "margin": LogisticRegression()}
    table = outliers.compare(models, (X[:300], y[:300]), X[300:], far, max_rows={"margin": 100})
    by_name = {row["method"]: row for row in table}
    assert by_name["density"]["auroc"] == 1.0
    assert by_name["margin"]["auroc"] < 0.1
    assert (by_name["density"]["n_train"], by_name["margin"]["n_train"]) == (300, 100)
    assert set(outliers.rivals(0)) == {"isolation_forest", "svm_rbf"}
