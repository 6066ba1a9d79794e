"""Training: one row per iteration, the evaluation of a fit of so many iterations. On scikit-learn's iris and wine."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, log_loss
from sklearn.preprocessing import StandardScaler

from skem import MDAClassifier, PSKEMClassifier, SKEMClassifier
from skem.metrics import shared_proportion
from skem.repro.protocols import COLUMNS
from skem.repro.training import iterations, splits
from skem.repro.training.classifiers import find, make

SEED = 3
ITERATIONS = 6
CLASSES = {"skem": SKEMClassifier, "pskem": PSKEMClassifier, "mda": MDAClassifier}
START = {"init_params": "uniform", "reg_covar": 0.05, "standardize": False}
MODELS = {
    "skem": START | {"n_components": 5},
    "pskem": START | {"n_components": 4, "n_blocks": 2},
    "mda": {"n_components": 6, "init_params": "class"},
}


def trial(rows="part", load=load_iris):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    X, y = X[order := np.random.default_rng(0).permutation(len(y))], y[order]
    a, b = (80, 110) if rows == "part" else (110, 110)
    return splits.Trial(2, 1, rows, X[:a], y[:a], X[a:b], y[a:b], X[b:], y[b:])


def train(trial, model="skem", n_features=4, max_iter=ITERATIONS, **params):
    params = MODELS[model] | params | {"max_iter": max_iter}
    own = splits.view(trial, n_features, params.get("n_blocks", 1), {}, SEED)
    return iterations.train(own, model, params, SEED)


def fits(data, model, n=ITERATIONS):
    for p in range(1, n + 1):
        estimator = CLASSES[model](**MODELS[model], max_iter=p, random_state=SEED)
        yield estimator.fit(data.X_train, data.y_train)


@pytest.mark.parametrize(("model", "rows"), [("skem", "all"), ("pskem", "part"), ("mda", "part")])
def test_rows_are_evaluations_of_fits_of_so_many_iterations(model, rows):
    data = trial(rows)
    history, seconds, _ = train(data, model)
    trial_keys = {"run": 2, "fold": 1, "rows": rows, "n_train": len(data.y_train), "n_test": 40}
    for p, (row, spent, fitted) in enumerate(zip(history, seconds, fits(data, model), strict=True), start=1):
        assert (trial_keys | {"iteration": p}).items() <= row.items()
        assert (trial_keys | {"iteration": p}).items() <= spent.items()
        assert spent["seconds"] > 0
        if rows == "part":
            assert {*COLUMNS} - {"dataset", "method", "setting"} <= row.keys()
        assert row["log_likelihood"] == pytest.approx(fitted.log_likelihood_[-1], rel=1e-12)
        assert row["objective"] == pytest.approx(fitted.objective_[-1], rel=1e-12)
        assert row["dtype"] == fitted.dtype_used_
        parts = ("validation", "test") if rows == "part" else ("test",)
        assert {key.partition("_")[0] for key in row if key.endswith("_accuracy")} == {*parts}
        for part in parts:
            X, y = getattr(data, f"X_{part}"), getattr(data, f"y_{part}")
            proba = fitted.predict_proba(X)
            brier = ((proba - np.eye(3)[y]) ** 2).sum(axis=1).mean()
            assert row[f"{part}_accuracy"] == accuracy_score(y, fitted.predict(X))
            assert row[f"{part}_log_loss"] == pytest.approx(log_loss(y, proba), rel=1e-9)
            assert row[f"{part}_brier"] == pytest.approx(brier, rel=1e-9)
            assert 0 <= row[f"{part}_ece"] <= 1
    blocks = fitted.blocks_
    assert row["shared_proportion"] == shared_proportion([block.weights for block in blocks])
    if model == "pskem":
        largest = max(np.linalg.cond(P) for block in blocks for P in block.covariances)
        assert row["condition"] == pytest.approx(largest, rel=1e-9)
        assert np.isnan([row["condition"] for row in history[:-1]]).all()


def test_predictions_are_of_the_best_validation_iteration():
    """Ties go to the lower log-loss, then to the earlier iteration: with one easy sample only the log-loss can choose."""
    data = trial()
    predicted = [fit.predict(data.X_test) for fit in fits(data, "skem")]
    easy = np.flatnonzero(data.y_validation == data.y_validation[0])[:1]
    one = replace(data, X_validation=data.X_validation[easy], y_validation=data.y_validation[easy])
    for case in (data, one):
        history, _, predictions = train(case)
        order = [
            (-row["validation_accuracy"], row["validation_log_loss"], row["iteration"]) for row in history
        ]
        np.testing.assert_array_equal(predictions, predicted[min(order)[2] - 1])
        assert predictions.dtype == np.int16
    assert min(order)[2] > 1


def test_validation_and_test_samples_do_not_train():
    data = trial()
    changed = replace(data, X_test=-data.X_test, X_validation=-data.X_validation)
    for a, b in zip(train(data)[0], train(changed)[0], strict=True):
        assert (a["log_likelihood"], a["objective"]) == (b["log_likelihood"], b["objective"])
        assert a["test_log_loss"] != b["test_log_loss"]


@pytest.mark.parametrize("gone", [0, 2])
def test_a_class_without_training_samples_is_an_error(gone):
    """Otherwise its test samples would be counted under the label of another class."""
    data = trial()
    kept = data.y_train != gone
    data = replace(data, X_train=data.X_train[kept], y_train=data.y_train[kept])
    with pytest.raises(ValueError, match="class"):
        train(data)


@pytest.mark.parametrize("name", ["svm_rbf", "logistic_regression"])
def test_points_of_a_grid_take_the_place_of_iterations_the_preset_last(name):
    data = trial()
    history, _, _ = iterations.train(data, name, {}, SEED)
    points = find(name).points()
    assert [row["iteration"] for row in history] == list(range(1, len(points) + 1))
    for row, point in zip(history, points[::-1], strict=True):
        fitted = make(name, random_state=SEED, standardize=False, **point)
        fitted.fit(data.X_train, data.y_train)
        assert row["test_accuracy"] == accuracy_score(data.y_test, fitted.predict(data.X_test))
    assert np.isnan(history[0]["test_log_loss"]) == (name == "svm_rbf")
