"""Training: one row per pass, each what a fit of so many passes is worth. On scikit-learn's iris and wine."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import accuracy_score, log_loss
from sklearn.preprocessing import StandardScaler

from skem import MDAClassifier, PSKEMClassifier, SKEMClassifier
from skem.metrics import shared_proportion
from skem.repro.protocols import COLUMNS
from skem.repro.training import passes, splits, views
from skem.repro.training.classifiers import find, make

SEED = 3
PASSES = 6
CLASSES = {"skem": SKEMClassifier, "pskem": PSKEMClassifier, "mda": MDAClassifier}
START = {"init": "uniform", "reg_covar": 0.05, "standardize": False}
MODELS = {
    "skem": START | {"n_components": 5},
    "pskem": START | {"n_components": 4, "n_blocks": 2},
    "mda": {"n_components": 6, "init": "class"},
}


def trial(rows="part", load=load_iris):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rng = np.random.default_rng(0)
    X, y = X[order := rng.permutation(len(y))], y[order]
    a, b = (80, 110) if rows == "part" else (110, 110)
    return splits.Trial(2, 1, rows, X[:a], y[:a], X[a:b], y[a:b], X[b:], y[b:])


def train(trial, model="skem", n_features=4, max_iter=PASSES, **params):
    params = MODELS[model] | params | {"max_iter": max_iter}
    seen = views.view(trial, n_features, params.get("n_blocks", 1), {}, SEED)
    return passes.train(seen, model, params, SEED)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rows", ["all", "part"])
def test_rows_are_what_fits_of_so_many_passes_give(model, rows):
    data = trial(rows)
    history, _, _ = train(data, model)
    assert [row["pass"] for row in history] == list(range(1, PASSES + 1))
    for p, row in enumerate(history, start=1):
        fitted = CLASSES[model](**MODELS[model], max_iter=p, random_state=SEED).fit(
            data.X_train, data.y_train
        )
        assert row["log_likelihood"] == pytest.approx(fitted.log_likelihood_[-1], rel=1e-12)
        assert row["objective"] == pytest.approx(fitted.objective_[-1], rel=1e-12)
        assert row["dtype"] == fitted.dtype_used_
        for part in ("validation", "test") if rows == "part" else ("test",):
            X, y = getattr(data, f"X_{part}"), getattr(data, f"y_{part}")
            proba = fitted.predict_proba(X)
            assert row[f"{part}_accuracy"] == accuracy_score(y, fitted.predict(X))
            assert row[f"{part}_log_loss"] == pytest.approx(log_loss(y, proba), rel=1e-9)
            brier = ((proba - np.eye(3)[y]) ** 2).sum(axis=1).mean()
            assert row[f"{part}_brier"] == pytest.approx(brier, rel=1e-9)
            assert 0 <= row[f"{part}_ece"] <= 1


def test_rows_say_which_trial_they_are_of():
    history, seconds, _ = train(trial())
    keys = {"run": 2, "fold": 1, "rows": "part", "n_train": 80, "n_validation": 30, "n_test": 40}
    for p, (row, spent) in enumerate(zip(history, seconds, strict=True), start=1):
        assert keys.items() <= row.items()
        assert spent.keys() == keys.keys() | {"pass", "seconds", "cpu_seconds"}
        assert keys | {"pass": p} == {key: spent[key] for key in (*keys, "pass")}
        assert spent["seconds"] > 0
        assert spent["cpu_seconds"] >= 0
        assert {*COLUMNS} - {"dataset", "method", "setting"} <= row.keys()


def test_without_validation_rows_nothing_is_validated():
    history, _, _ = train(trial("all"))
    assert not any(key.startswith("validation_") for row in history for key in row)
    assert all(row["n_validation"] == 0 for row in history)


def predicted_by_pass(data, model="skem", **params):
    fits = [
        CLASSES[model](**MODELS[model] | params, max_iter=p, random_state=SEED).fit(
            data.X_train, data.y_train
        )
        for p in range(1, PASSES + 1)
    ]
    return np.array([fit.predict(data.X_test) for fit in fits])


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_predictions_are_of_the_best_validation_pass(load):
    """Ties go to the lower log-loss, then to the earlier pass, as under the protocol."""
    data = trial(load=load)
    history, _, predictions = train(data, n_features=data.X_train.shape[1])
    order = [(-row["validation_accuracy"], row["validation_log_loss"], row["pass"]) for row in history]
    assert predictions.dtype == np.int16
    np.testing.assert_array_equal(predictions, predicted_by_pass(data)[min(order)[2] - 1])


def test_a_tie_of_accuracies_goes_to_the_lower_log_loss():
    """One validation row that every pass gets right: only the log-loss can choose, and it prefers a late pass."""
    data = trial()
    history, _, _ = train(data)
    easy = np.flatnonzero(data.y_validation == data.y_validation[0])[:1]
    data = replace(data, X_validation=data.X_validation[easy], y_validation=data.y_validation[easy])
    history, _, predictions = train(data)
    right = [row for row in history if row["validation_accuracy"] == 1]
    best = min(right, key=lambda row: row["validation_log_loss"])
    assert len(right) > 1
    assert best["pass"] > right[0]["pass"]
    np.testing.assert_array_equal(predictions, predicted_by_pass(data)[best["pass"] - 1])


def test_predictions_are_of_the_first_best_test_pass_without_validation_rows():
    data = trial("all")
    history, _, predictions = train(data)
    accuracies = [row["test_accuracy"] for row in history]
    assert len(set(accuracies)) > 1
    np.testing.assert_array_equal(predictions, predicted_by_pass(data)[int(np.argmax(accuracies))])
    assert np.mean(predictions == data.y_test) == max(accuracies)


def test_training_twice_is_the_same():
    once, again = train(trial(), "pskem"), train(trial(), "pskem")
    assert once[0] == again[0]
    np.testing.assert_array_equal(once[2], again[2])
    other = passes.train(trial(), "pskem", MODELS["pskem"] | {"max_iter": 3}, SEED + 1)
    assert other[0] != once[0][:3]


def test_threads_and_more_passes_change_no_number():
    data = trial(load=load_wine)
    base = train(data, n_features=13)[0]
    assert train(data, n_features=13, n_jobs=2)[0] == base
    longer = train(data, n_features=13, max_iter=PASSES + 3)[0]
    for short, long in zip(base, longer, strict=False):
        assert {key: long.pop(key) for key in ("rows", "dtype")} == {
            key: short.pop(key) for key in ("rows", "dtype")
        }
        del long["condition"], short["condition"]  # of the last pass only
        assert long == pytest.approx(short, rel=1e-12)


def test_validation_and_test_rows_do_not_train():
    data = trial()
    history = train(data)[0]
    changed = replace(data, X_test=-data.X_test, X_validation=-data.X_validation)
    for a, b in zip(history, train(changed)[0], strict=True):
        assert (a["log_likelihood"], a["objective"]) == (b["log_likelihood"], b["objective"])
        assert a["test_log_loss"] != b["test_log_loss"]


def test_only_the_first_features_are_used():
    data = trial()
    garbled = replace(
        data,
        **{
            f"X_{part}": getattr(data, f"X_{part}") * [1, 1, 1e3, np.nan]
            for part in ("train", "validation", "test")
        },
    )
    assert train(garbled, n_features=2)[0] == train(data, n_features=2)[0]
    assert train(data, n_features=2)[0] != train(data, n_features=4)[0]


def test_more_features_than_there_are():
    with pytest.raises(ValueError, match="n_features=5, but there are 4 features"):
        train(trial(), n_features=5)


@pytest.mark.parametrize("params", [{"n_components": 0}, {"init": "nonsense"}, {"reg_covar": -1.0}])
def test_parameters_are_the_estimators_to_refuse(params):
    with pytest.raises(ValueError, match=next(iter(params))):
        train(trial(), **params)


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_class_without_training_rows_is_an_error(gone):
    """Else its test rows would be counted under the label of another class."""
    data = trial()
    kept = data.y_train != gone
    data = replace(data, X_train=data.X_train[kept], y_train=data.y_train[kept])
    with pytest.raises(ValueError, match="class"):
        train(data)


def test_seconds_per_pass_are_as_many_as_asked_for():
    params = MODELS["skem"] | {"max_iter": 1}
    seconds = passes.seconds_per_pass(trial(), "skem", params, SEED, passes=4)
    assert len(seconds) == 4
    assert min(seconds) > 0


def test_sharing_and_condition_are_those_of_the_parameters():
    data = trial()
    history, _, _ = train(data, "pskem")
    fitted = CLASSES["pskem"](**MODELS["pskem"], max_iter=PASSES, random_state=SEED)
    blocks = fitted.fit(data.X_train, data.y_train).blocks_
    assert history[-1]["shared_proportion"] == shared_proportion([block.weights for block in blocks])
    largest = max(np.linalg.cond(P) for block in blocks for P in block.covariances)
    assert history[-1]["condition"] == pytest.approx(largest, rel=1e-9)
    assert np.isnan([row["condition"] for row in history[:-1]]).all()


@pytest.mark.parametrize("name", ["svm_rbf", "logistic_regression"])
def test_grid_points_take_the_place_of_passes_the_preset_last(name):
    data = trial()
    history, _, _ = passes.train(data, name, {}, SEED)
    points = find(name).points()
    assert [row["pass"] for row in history] == list(range(1, len(points) + 1))
    for row, point in zip(history, points[::-1], strict=True):
        fitted = make(name, random_state=SEED, standardize=False, **point)
        fitted.fit(data.X_train, data.y_train)
        assert row["test_accuracy"] == accuracy_score(data.y_test, fitted.predict(data.X_test))
    assert np.isnan(history[0]["test_log_loss"]) == (name == "svm_rbf")


def test_an_ordinary_mixture_as_start_knows_nothing_of_the_classes():
    data = trial()
    params = MODELS["pskem"] | {"init": "em", "max_iter": 2}
    history, _, _ = passes.train(data, "pskem", params, SEED)
    shuffled = replace(data, y_train=np.roll(data.y_train, 1))
    starts = [passes._ordinary_mixtures(d, params, SEED) for d in (data, shuffled)]
    for one, other in zip(*starts, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
    assert history[0]["log_likelihood"] > train(data, "pskem")[0][0]["log_likelihood"]
