"""Which rows are of another data set."""

import numpy as np
import pandas as pd
import pytest

from skem.repro.frontier import outliers


def test_the_area_counts_pairs_in_the_right_order():
    # Of six pairs the outside row is lower in 3 + 1.
    assert outliers.auroc(np.array([3.0, 1.0, 2.0]), np.array([0.0, 2.5])) == pytest.approx(4 / 6)


def test_the_margin_is_that_of_the_first_class_over_the_second():
    class Model:
        def decision_function(self, X):
            return X

    scores = outliers.margin(Model(), np.array([[1.0, 5.0, 3.0], [2.0, 0.0, 2.0]]))
    assert scores.tolist() == [2.0, 0.0]
    assert outliers.margin(Model(), np.array([-2.0, 1.0])).tolist() == [2.0, 1.0]


def test_a_density_finds_far_rows_where_a_margin_is_surest():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) + 3 * y[:, None]
    rows = {"X_train": X[:300], "y_train": y[:300], "X_test": X[300:], "X_outside": X[:100] + 30}
    scores = ["density", "density_after", "certainty"]
    methods = {"tuned": {"model": "skem.DiscriminativePSKEMClassifier", "scores": scores}}
    table = outliers.compare("made", methods, rows, 0)
    area = {(row["method"], row["score"]): row["auroc"] for row in table}
    assert area["tuned", "density"] == 1.0
    assert area["tuned", "certainty"] < 0.1
    assert list(area) == [
        *(("tuned", score) for score in scores),
        ("isolation_forest", "density"),
        ("svm_rbf", "margin"),
    ]
    names = {"tuned": "ours", "isolation_forest": "forest", "svm_rbf": "machine"}
    text = outliers.to_markdown(pd.DataFrame(table), names, {"made": "Made"}, "Notes.")
    assert all(part in text for part in ("| ours", "1.000", "Made"))
