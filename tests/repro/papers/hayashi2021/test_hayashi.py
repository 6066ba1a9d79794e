"""Hayashi and Uchida (2021): jobs on few samples, tables and figures."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from claims import ROOT, STATED, page, reference_values

from skem.repro import papers
from skem.repro.papers.hayashi2021 import boundaries, errors, tables
from skem.repro.papers.hayashi2021.figures import FIGURES
from skem.repro.papers.hayashi2021.settings import METHODS

PAPER = papers.settings("hayashi2021", ROOT / "config")


def test_checkerboard():
    X, y = errors.checkerboard(4000, 0.01, np.random.default_rng(0))
    cell = np.round(2 * X).astype(int)
    np.testing.assert_array_equal(cell.sum(axis=1) % 2, y)
    assert len(np.unique(cell, axis=0)) == 16


def test_methods_on_a_split():
    X, y = errors.checkerboard(60, 0.1, np.random.default_rng(0))
    rows = errors.fit_errors((X[:40], y[:40], X[40:], y[40:]), {"n_components": 2, "max_iter": 5}, 0)
    table = pd.DataFrame(rows).set_index("method")
    assert set(table.index) == set(METHODS)
    assert table["error"].between(0, 100).all()
    assert table.drop("svm_rbf")["log_loss"].notna().all()
    assert table.loc["mgp", "weights"] == table.loc["mgp", "initial_weights"] == 3 * 40  # N per component
    assert table.loc["primal", "initial_weights"] == 3 * 6  # 1 + D (D + 3) / 2 per component
    model = errors.MGPClassifier(2, max_iter=5, random_state=0).fit(X, y)
    for precisions in model.alpha_:
        assert len(np.unique(precisions[np.isfinite(precisions)])) <= 1


def test_boundaries_are_where_classes_and_components_are_even(monkeypatch):
    X, y = errors.checkerboard(120, 0.1, np.random.default_rng(0))
    ripley = SimpleNamespace(train=(X[:80], y[:80]), test=(X[80:], y[80:]))
    monkeypatch.setattr(boundaries.datasets, "load", lambda name: ripley)
    monkeypatch.setattr(boundaries, "seed_of", lambda *names: 0)
    setup, model = {"snapshots": [1], "n_components": [2], "grid": 41}, {"n_components": 4, "max_iter": 2}
    table = pd.DataFrame(boundaries.panels(setup, model, dict(PAPER.synthetic, n_train=60, n_test=60), 0))
    sdgm, _ = errors.fitted(errors.SDGMClassifier(**model, random_state=0), X[:80], y[:80])
    own = table[(table["figure"] == "figure1") & (table["panel"] == "sdgm")].set_index("kind")[["x", "y"]]
    decision = sdgm.predict_proba(own.loc["decision"].to_numpy())
    assert abs(decision[:, 1] - 0.5).mean() < 0.02
    *_, second, first = np.exp(np.sort(sdgm.component_log_proba(own.loc["component"].to_numpy()), axis=1)).T
    assert (first - second).mean() < 0.05
    for number in (1, 3, 6):
        figure = FIGURES[f"hayashi_figure{number}"]
        for content in (table, pd.DataFrame()):
            figure.drawn({"boundaries": content}, PAPER)
    plt.close("all")


def test_networks_that_were_not_run():
    nothing = {name: pd.DataFrame() for name in ("images", "images_choice")}
    assert page("hayashi_images", tables.table2(nothing, STATED, PAPER)).count("not available") >= 3


def test_figures():
    figure = FIGURES["hayashi_components"]
    values = reference_values("hayashi2021")["components_raw"]
    figure.draw(figure.rows({"hayashi2021_components_raw": values}, PAPER), PAPER)
    figure = FIGURES["hayashi_features"]
    points = pd.DataFrame({"x": [0.0, 1.0], "y": [1.0, 0.0], "class": [0, 1], "method": "softmax"})
    rows = figure.rows({"a": points, "b": points.assign(method="sdgm")}, PAPER)
    assert [ax.get_title() for ax in figure.draw(rows, PAPER)] == ["softmax", "SDGM"]
    _, ax = figure.drawn({"a": pd.DataFrame()}, PAPER)
    assert [text.get_text() for text in ax.texts] == ["No results in this run"]
    plt.close("all")
