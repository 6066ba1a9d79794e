"""The classifiers beside others: the machine they are held against, ranks, and what a wrong setting says."""

from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import yaml
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.svm import SVC

from skem.images import Deskew, UnitRange, WindowPCA
from skem.metrics import mcnemar
from skem.repro.config.documents import ConfigurationError
from skem.repro.files import read_table
from skem.repro.frontier import figures, images, settings, summary, tabular
from skem.repro.frontier.machines import ChosenSVC, RadialSVC
from skem.repro.frontier.stacking import ChosenDiscriminative
from skem.repro.training.classifiers import make

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "config/frontier.yaml"
SOURCES = set(yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8")))


# The support vector machine


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize("standardize", [True, False])
def test_the_machine_is_that_of_libsvm(load, standardize):
    X, y = load(return_X_y=True)
    ours = RadialSVC(C=5.0, width=2.0, standardize=standardize).fit(X[::2], y[::2])
    deviations = X[::2].std(axis=0) if standardize else np.sqrt(X[::2].var(axis=0).mean())
    Z = (X - X[::2].mean(axis=0)) / deviations
    theirs = SVC(C=5.0, gamma=2.0 / X.shape[1]).fit(Z[::2], y[::2])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(Z))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(Z), atol=5e-3)


def test_it_is_chosen_on_rows_held_out_and_fitted_on_all():
    X, y = load_breast_cancer(return_X_y=True)
    chosen = ChosenSVC(C=(1e-4, 5.0), random_state=0).fit(X, y)
    assert chosen.params_["C"] == 5.0  # with 1e-4 all rows are of the larger class
    np.testing.assert_array_equal(chosen.predict(X), RadialSVC(C=5.0).fit(X, y).predict(X))
    proba = chosen.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.mean(proba.argmax(axis=1) == y) > 0.95


# Ranks


def table_of(values):
    """Of data sets by methods."""
    return pd.DataFrame(
        [
            {"dataset": f"d{i}", "method": f"m{j}", "accuracy": value}
            for i, row in enumerate(values)
            for j, value in enumerate(row)
        ]
    )


def test_ranks_share_ties_and_the_best_is_first():
    placed = summary.ranks(table_of([[90, 80, 80], [70, 60, 50]]), "accuracy", larger_is_better=True)
    assert placed["method"].tolist() == ["m0", "m1", "m2"]
    assert placed["rank"].tolist() == [1.0, 2.25, 2.75]
    other = summary.ranks(table_of([[90, 80, 80], [70, 60, 50]]), "accuracy", larger_is_better=False)
    assert other["rank"].tolist() == [1.25, 1.75, 3.0]


def test_the_critical_difference_is_that_of_demsars_example():
    # Demsar (2006): four methods on 14 data sets, q = 2.569.
    values = np.random.default_rng(0).normal(size=(14, 4))
    placed = summary.ranks(table_of(values), "accuracy", larger_is_better=True)
    assert placed["critical_difference"].iloc[0] == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)


def test_a_method_without_a_measure_takes_no_part():
    table = table_of([[90, np.nan, 80], [70, 60, 50]])
    assert set(summary.ranks(table, "accuracy", larger_is_better=True)["method"]) == {"m0", "m2"}


# What is measured


def test_windows_are_of_deskewed_images_where_the_whole_is(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(256, size=(40, 12, 12), dtype=np.uint8), rng.integers(2, size=40)
    loaded = SimpleNamespace(train=(X[:30], y[:30]), test=(X[30:], y[30:]))
    monkeypatch.setattr(images.datasets, "load", lambda name: loaded)
    windows = {"size": 8, "step": 4, "n_components": 3}
    spec = {"source": "mnist", "n_components": 5, "windows": windows}
    straight = Deskew().fit_transform(UnitRange().fit_transform(X))
    for deskew, used in ((True, straight), (False, X)):
        found = images.features(spec | {"deskew": deskew})
        expected = WindowPCA(**windows).fit(used[:30]).transform(used[30:])
        assert found["n_windows"] == 4
        assert found["X_test"].shape == (10, 4 * 3 + 5)
        assert_allclose(found["X_test"][:, :12], expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_images_are_held_against_the_machine():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    X = np.eye(3)[y] + 0.5 * rng.normal(size=(300, 3))
    features = {"X_train": X[:200], "y_train": y[:200], "X_test": X[200:], "y_test": y[200:]}
    methods = {
        "svm_rbf": {"model": "chosen_svm_rbf", "runs": 1},
        "paper": {"model": "skem.PSKEMClassifier", "n_features": 2},
    }
    rows, predicted = [], {}
    for name, entry in methods.items():
        scores, seconds, found = images.fit("digits", name, entry, features, 2, 0)
        assert len(scores) == len(seconds) == len(found) == (1 if name == "svm_rbf" else 2)
        rows, predicted = rows + scores, predicted | {("digits", name): found}
    rows.append({"dataset": "digits", "method": "broken", "error": "ValueError: no"})
    values = summary.beside_machine(pd.DataFrame(rows), predicted, {"digits": features["y_test"]})
    table = summary.of_images(values).set_index("method")
    accuracy = [100 * np.mean(found == features["y_test"]) for found in predicted["digits", "paper"]]
    assert table.loc["paper", "accuracy"] == pytest.approx(np.mean(accuracy))
    machine = predicted["digits", "svm_rbf"][0]
    p = mcnemar(features["y_test"], predicted["digits", "paper"][0], machine)[2]
    assert table.loc["paper", "p"] == pytest.approx(p, rel=1e-12)
    assert table.loc["paper", "gain"] == pytest.approx(
        np.mean(accuracy) - 100 * np.mean(machine == features["y_test"])
    )
    assert np.isnan(table.loc["svm_rbf", "gain"])
    names = {"svm_rbf": "SVM", "paper": "PSKEM", "broken": "a broken one"}
    text = summary.images_markdown(table.reset_index(), names, {"digits": "Digits"}, "")
    assert "| a broken one | failed: ValueError: no" in text


def test_every_method_sees_the_same_folds_and_nothing_but_the_seed_decides():
    methods = {"skem": {"model": "skem.SKEMClassifier"}, "lda": {"model": "lda"}}
    setup = {"n_folds": 3, "max_rows": 120}
    scores, seconds = tabular.fit("iris", methods, setup, 1)
    again, _ = tabular.fit("iris", dict(reversed(methods.items())), setup, 1)
    key = lambda row: (row["method"], row["fold"])  # noqa: E731
    assert sorted(scores, key=key) == sorted(again, key=key)
    assert len(scores) == len(seconds) == 6
    assert {row["n_train"] + row["n_test"] for row in scores} == {120}


def test_a_method_that_fails_on_a_table_is_named_and_the_others_go_on():
    methods = {"lda": {"model": "lda"}, "qda": {"model": "qda", "params": {"reg_param": -1.0}}}
    scores, seconds = tabular.fit("iris", methods, {"n_folds": 3, "max_rows": 150}, 1)
    assert [row["method"] for row in seconds] == ["lda"] * 3
    means = summary.of_tables(pd.DataFrame(scores))
    assert means.set_index("method")["accuracy"].notna().to_dict() == {"lda": True, "qda": False}
    placed = {name: summary.ranks(means, name, True) for name in ("accuracy", "log_loss")}
    text = summary.tables_markdown(means, placed, {"lda": "LDA", "qda": "QDA"}, "")
    assert "QDA failed on iris: InvalidParameterError: The 'reg_param'" in text


def test_the_committed_tables_are_those_of_the_committed_values():
    reference, document = ROOT / "results/reference", settings.read(CONFIG, SOURCES)
    values = {
        name: read_table(reference / f"values/frontier_{name}.csv")
        for name in ("images", "images_timing", "tables")
    }
    tables = {
        "frontier_images": summary.of_images(values["images"]),
        "frontier_images_timing": summary.of_seconds(values["images_timing"]),
        "frontier_tables": summary.of_tables(values["tables"]),
    }
    for name, table in tables.items():
        committed = read_table(reference / f"tables/{name}.csv")
        pd.testing.assert_frame_equal(committed, table, check_dtype=False, rtol=1e-9)
    methods = {
        **{name: set(entry["methods"]) for name, entry in document["images"]["data_sets"].items()},
        **{name: set(document["tables"]["methods"]) for name in document["tables"]["data_sets"]},
    }
    measured = pd.concat([values["images"], values["tables"]]).groupby("dataset")["method"].agg(set)
    assert measured.to_dict() == methods


def test_the_strength_is_that_of_the_least_log_loss_on_rows_held_out():
    X, y = load_breast_cancer(return_X_y=True)
    either = [
        ChosenDiscriminative(choose_mixture=False, strengths=s, random_state=0)
        for s in ((0.0, np.inf), (np.inf, 0.0))
    ]
    chosen = [model.fit(X, y).model_.strength_ for model in either]
    assert chosen == [0.0, 0.0]  # training stops where held-out samples say so
    assert (
        ChosenDiscriminative(choose_mixture=False, strengths=(0.0,), random_state=0).fit(X, y).score(X, y)
        > 0.97
    )


def test_figures_show_every_method():
    names = {f"m{j}": f"method {j}" for j in range(4)}
    values = np.random.default_rng(0).normal(size=(14, 4)) + np.array([3, 0, 0, 0])
    placed = summary.ranks(table_of(values), "accuracy", larger_is_better=True)
    axes = figures.critical_differences({"accuracy": placed}, names, {"accuracy": "by accuracy"})
    shown = " ".join(text.get_text() for text in axes[0, 0].texts)
    assert all(name in shown for name in names.values())
    table = pd.DataFrame(
        {"dataset": "d", "method": list(names), "accuracy": [90, 91, 92, 80.0], "fit": [1, 2, 3, 4.0]}
    )
    table = table.assign(low=table["accuracy"] - 1, high=table["accuracy"] + 1)
    axes = figures.error_by_seconds(table, {"d": ["m0", "m1"]}, names, {"d": "Data"})
    shown = " ".join(text.get_text() for text in axes[0, 0].texts)
    assert all(name in shown for name in names.values())
    plt.close("all")


# Settings


def test_the_settings_are_accepted_and_models_can_be_made():
    found = settings.read(CONFIG, SOURCES)
    for methods in (
        found["tables"]["methods"],
        *(entry["methods"] for entry in found["images"]["data_sets"].values()),
    ):
        for how in methods.values():
            make(how["model"], random_state=0, **how.get("params", {}))
    for entry in found["images"]["data_sets"].values():
        assert set(entry["steps"]) <= set(entry["methods"])


def test_all_that_is_wrong_is_told_at_once(tmp_path):
    document = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    document["tables"]["methods"]["lda"]["model"] = "ldaa"
    document["tables"]["methods"]["nameless"] = {"model": "skem.GaussianMixtur"}
    document["tables"]["data_sets"].append("rise")
    path = tmp_path / "frontier.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    with pytest.raises(ConfigurationError) as error:
        settings.read(path, SOURCES)
    told = str(error.value)
    for part in ("'ldaa'", "'skem.GaussianMixtur'", "unlike names, names 'nameless'", "'rise'"):
        assert part in told
