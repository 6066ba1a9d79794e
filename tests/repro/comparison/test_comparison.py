"""Classifiers on images, tables and outliers: measurements, ranks, figures, and messages about the configuration."""

import sys
from itertools import combinations
from types import SimpleNamespace
from typing import get_args

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from claims import ROOT, reference_values
from numpy.testing import assert_allclose

from skem.images import Deskew, UnitRange, WindowPCA
from skem.repro.comparison import configuration, figures, images, jobs, pages, summary
from skem.repro.drawing import style
from skem.repro.files import read_table, write_arrays, write_json
from skem.repro.paired import paired_test
from skem.repro.training.classifiers import Classifier, comparison, make

CONFIG = ROOT / "config/comparison.yaml"
PARTS = get_args(configuration.Part)


@pytest.fixture(scope="module")
def settings():
    return configuration.read(CONFIG)


@pytest.fixture(scope="module")
def reference():
    """Tables of the committed values, by part."""
    values = reference_values("comparison")
    return {part: summary.tables(part, values) for part in PARTS}


def test_the_critical_difference_is_that_of_demsars_example():
    # Demsar (2006): four methods on 14 data sets, q = 2.569.
    rows = [{"dataset": i, "method": j, "accuracy": np.sin(4 * i + j)} for i in range(14) for j in range(4)]
    placed = summary.ranks(pd.DataFrame(rows), "accuracy", True)
    assert placed["critical_difference"].iloc[0] == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)


# Images


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
        assert found["windows"].shape == (4, 3)
        assert found["X_test"].shape == (10, 4 * 3 + 5)
        assert_allclose(found["X_test"][:, :12], expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.fixture
def three_classes(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    X = np.eye(3)[y] + 0.5 * rng.normal(size=(300, 3))
    arrays = {"X_train": X[:200], "y_train": y[:200], "X_test": X[200:], "y_test": y[200:]}
    arrays |= {"windows": np.empty((0, 0), dtype=int)}
    write_arrays(tmp_path / "features.npz", arrays)
    write_arrays(tmp_path / "outliers.npz", arrays | {"X_outside": X[:100] + 30})
    return tmp_path / "features.npz"


def test_methods_are_compared_with_the_svm(three_classes, tmp_path, settings):
    methods = {
        "svm_rbf_search": {"model": "svm_rbf_search", "runs": 1},
        "paper": {"model": "pskem", "n_features": 2, "runs": 2},
    }
    folder, found = tmp_path / "images", {}
    for name, job in methods.items():
        found[name] = jobs.run("images", name, {"mnist": job}, [str(three_classes)], 0)
        paths = [str(folder / f"{name}.{suffix}") for suffix in ("csv", "seconds.csv", "npz")]
        found[name].write(*paths)
    values = summary.joined("images", map(str, folder.iterdir()))
    table = summary.of_images(values["images"]).set_index("method")
    svm, runs = (
        one.predictions["mnist-predicted"] == one.predictions["mnist-label"] for one in found.values()
    )
    assert table.loc["paper", "accuracy"] == pytest.approx(100 * runs.mean())
    runs = runs.reshape(2, 100)  # All runs count.
    gains, discordant = runs.mean(axis=1) - svm.mean(), (runs != svm).sum(axis=1)
    assert table.loc["paper", "p"] == pytest.approx(paired_test(gains, discordant, 100)[1], rel=1e-12)
    assert table.loc["paper", "gain"] == pytest.approx(100 * gains.mean())
    assert table.loc["paper", ["n_train", "n_features"]].tolist() == [200, 2]
    assert values["images_timing"]["method"].value_counts().to_dict() == {"paper": 2, "svm_rbf_search": 1}


def test_a_density_finds_far_samples_and_a_confidence_does_not(three_classes):
    path = str(three_classes.with_name("outliers.npz"))
    params = {"standardize": True, "reg_covar": 0.1, "n_components": 3}
    job = {"model": "discriminative_pskem", "params": params}
    job["scores"] = ["density", "density_after", "certainty"]
    found = jobs.run("outliers", "tuned", {"made": job}, [path], 0).history
    area = {row["score"]: row["auroc"] for row in found}
    assert area["density"] == 1.0
    assert area["certainty"] < 0.6  # no better than chance
    for method, score in (("isolation_forest", "density"), ("svm_rbf", "margin")):
        job = {"model": method, "scores": [score], "max_rows": 50}
        (row,) = jobs.run("outliers", method, {"made": job}, [path], 0).history
        assert row["n_train"] == 50


def test_a_class_that_is_left_out_is_told_from_the_others(tmp_path):
    path = str(tmp_path / "iris.json")
    write_json(path, {"available": True})
    job = {"model": "gaussian", "scores": ["density"], "max_rows": 120, "test_fraction": 0.25}
    found = jobs.run("left_out", "gaussian", {"iris": job}, [path], 0)
    assert [row["left_out"] for row in found.history] == ["setosa", "versicolor", "virginica"]
    assert {row["n_train"] for row in found.history} == {60}  # two thirds of 90
    setosa, versicolor, _ = (row["auroc"] for row in found.history)
    assert setosa == 1.0 > versicolor  # setosa is far from the others
    table = summary.tables("left_out", {"left_out": pd.DataFrame(found.history)})["left_out"]
    assert table.loc[0, "auroc"] == pytest.approx(np.mean([row["auroc"] for row in found.history]))
    assert table.loc[0, "n_classes"] == 3
    write_json(path, {"available": False})
    assert jobs.run("left_out", "gaussian", {"iris": job}, [path], 0).history == []


def test_numbers_of_points_cover_nothing(settings, reference):
    with style():
        _, axes = figures.error_by_seconds(
            reference["images"]["images"], reference["images"]["images_timing"], settings
        )
        figure = axes[0, 0].figure
        figure.draw_without_rendering()
        for ax in axes[:, 0]:
            boxes = [text.get_window_extent() for text in ax.texts if text.get_text().isdigit()]
            assert len(boxes) == sum(len(line.get_xdata()) for line, _, _ in ax.containers)
            assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
            points = [ax.transData.transform(line.get_xydata()) for line, _, _ in ax.containers]
            assert not any(box.contains(*point) for box in boxes for point in np.concatenate(points))
        plt.close(figure)


# Tables


def test_every_method_is_tested_on_the_same_folds(tmp_path):
    write_json(tmp_path / "iris.json", {"available": True})
    setup, path = {"n_folds": 3, "max_rows": 120}, str(tmp_path / "iris.json")
    first, other, again = (
        jobs.run("tables", name, {"iris": setup | {"model": name}}, [path], 1)
        for name in ("skem", "lda", "skem")
    )
    assert first.history == again.history
    np.testing.assert_array_equal(first.predictions["iris-label"], other.predictions["iris-label"])
    assert [row["n_train"] + row["n_test"] for row in other.history] == [120] * 3
    write_json(tmp_path / "iris.json", {"available": False})
    assert jobs.run("tables", "lda", {"iris": setup | {"model": "lda"}}, [path], 1).history == []


def test_a_job_that_fails_on_a_data_set_goes_on_with_the_next(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    names, job = ["iris", "wine"], {"model": "lda", "n_folds": 2, "max_rows": 150}
    paths = [str(tmp_path / f"{name}.json") for name in names]
    for path in paths:
        write_json(path, {"available": True})
    for method, first in (("lda", job), ("broken", job | {"model": "xgboost_search"})):
        found = jobs.run("tables", method, {"iris": first, "wine": job}, paths, 0)
        found.write(*(str(tmp_path / f"{method}.{suffix}") for suffix in ("csv", "seconds.csv", "npz")))
    rows = summary.joined("tables", [str(tmp_path / f"{name}.csv") for name in ("lda", "broken")])["tables"]
    # Data set by data set, fold by fold, method by method.
    assert rows["dataset"].tolist() == ["iris"] * 3 + ["wine"] * 4
    assert rows["method"].tolist() == ["lda", "lda", "broken"] + ["lda", "broken"] * 2
    (error,) = rows["error"].dropna()
    assert error == "ModuleNotFoundError: xgboost is not installed: pip install -e '.[comparison]'"
    assert rows["error"].notna().tolist() == [False, False, True] + [False] * 4


def test_the_gaussian_process_learns_its_length_scale_and_refuses_many_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30))
    y = np.sign(X[:, 0])
    model = make("gaussian_process").fit(X[:100], y[:100])
    assert model.score(X[100:], y[100:]) > 0.7
    assert model[-1].kernel_.k2.length_scale != pytest.approx(np.sqrt(30))
    with pytest.raises(ValueError, match="more than 1000 training samples"):
        make("gaussian_process").fit(np.zeros((1001, 2)), np.arange(1001) % 2)


# Results


@pytest.mark.parametrize("part", PARTS)
def test_the_committed_tables_are_those_of_the_committed_values(part, reference, settings):
    for name, table in reference[part].items():
        committed = read_table(ROOT / f"results/reference/tables/comparison_{name}.csv")
        pd.testing.assert_frame_equal(committed, table, check_dtype=False, rtol=1e-9)
    for name, text in pages.markdown(part, reference[part], settings).items():
        path = ROOT / f"results/reference/tables/comparison_{name}.md"
        assert path.read_text(encoding="utf-8") == text


def test_a_method_that_fails_is_named_and_the_others_go_on(reference, settings):
    texts = {}
    for part in ("images", "tables", "outliers"):
        changed = {name: table.assign(error=None) for name, table in reference[part].items()}
        changed[part].loc[0, "error"] = "ValueError: no"
        texts[part] = pages.markdown(part, changed, settings)[part]
    line = next(line for line in texts["images"].splitlines() if line.startswith("| PSKEM as in the paper"))
    assert "failed: ValueError: no" in line
    assert "SKEM failed on rice: ValueError: no" in texts["tables"]
    assert "SKEM failed on MNIST, outliers from Fashion-MNIST: ValueError: no" in texts["outliers"]


# Configuration


def test_every_model_can_be_made(settings):
    for part in PARTS:
        for of_method in settings.jobs(part).values():
            for job in of_method.values():
                make(job["model"], random_state=0, **job.get("params", {}))


def test_an_entry_of_the_registry_is_compared_and_changes_no_other_job(settings, monkeypatch):
    before = settings.jobs("tables")
    another = Classifier("sklearn.naive_bayes:GaussianNB", "naive Bayes", comparison={})
    monkeypatch.setitem(comparison.ENTRIES, "naive_bayes", another)
    after = settings.jobs("tables")
    assert after.keys() - before.keys() == {"naive_bayes"}
    assert {method: after[method] for method in before} == before
    assert settings.titles()["naive_bayes"] == "naive Bayes"
