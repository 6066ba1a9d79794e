"""Hayashi and Uchida (2021): details on synthetic results, jobs on few samples, tables and figures."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from claims import ROOT, STATED, evaluate, evaluator, page, reference_values

from skem.repro import papers
from skem.repro.papers.hayashi2021 import boundaries, errors, tables
from skem.repro.papers.hayashi2021.figures import FIGURES
from skem.repro.papers.hayashi2021.measures import cell, mean_of_ratios
from skem.repro.papers.hayashi2021.settings import METHODS

PAPER = papers.settings("hayashi2021", ROOT / "config")
PRINTED = {
    key: float(part["value"].iloc[0])
    for key, part in STATED[STATED["id"].str.startswith("hayashi.table1.")].groupby(
        ["dataset", "method", "quantity"]
    )
}
VALUES = reference_values("hayashi2021")


def split_errors(spread=0.1, **changed):
    """Errors and weights as printed, plus noise; ``changed`` adds to a method's error."""
    rng, rows = np.random.default_rng(0), []
    for dataset, entry in PAPER.data_sets.items():
        initial = (2 * PAPER.model["n_components"] - 1) * entry.get("n_train", 250)
        for run in range(10):
            for method in METHODS:
                plain = method.removesuffix("_files")
                error = PRINTED.get((dataset, plain, "error_pct"), 20.0) + spread * rng.normal()
                weights = PRINTED.get((dataset, plain, "n_nonzero_weights"), 9.0)
                row = {"dataset": dataset, "run": run, "method": method}
                row |= {"error": error + changed.get(method, 0.0), "log_loss": 0.5, "calibration_error": 2.0}
                row["weights"] = weights + (plain == "sdgm") * rng.normal()
                row |= {"initial_weights": initial, "n_components": 4.0 + 0.1 * rng.normal()}
                rows.append(row)
    return pd.DataFrame(rows)


def evidence(errors):
    return evaluator("hayashi2021", VALUES | {"errors": errors})


@pytest.mark.parametrize(
    ("name", "errors", "expected"),
    [
        # Five test samples do not separate deterministic methods, although this is more than the paper's methods differ by.
        ("table1.ripley.gp_error", split_errors(spread=0.0, gp=0.3), "not testable"),
        ("table1.ripley.gp_error", split_errors(spread=0.0, gp=0.7), "worse"),
        # A point of error on waveform is no more than two draws of its samples differ by.
        ("table1.waveform.sdgm_error", split_errors(sdgm=1.0), "not testable"),
        ("table1.waveform.sdgm_error", split_errors(sdgm=3.0), "worse"),
        ("table1.waveform.sdgm_weights", split_errors().assign(weights=13.0), "higher"),
        ("table1.mean.gp_error", split_errors(0.05), "reproduced"),
        ("table1.mean.gp_error", split_errors(0.05, gp=2.0), "worse"),
        ("sec4-1.weight_reduction_max", split_errors(), "reproduced"),
        ("sec4-1.weight_reduction_max", split_errors().assign(weights=99.0), "lower"),
        ("sec5.sparsity", split_errors(mgp=-1.0), "fails"),
    ],
)
def test_decisions(name, errors, expected):
    assert evaluate(evidence(errors), f"hayashi.{name}").detail == expected


def test_mean_ratio_has_the_spread_of_the_paper():
    """The paper has 100 splits of four data sets and one fit on Ripley's data."""
    rows = split_errors(spread=0.0)
    noise = np.random.default_rng(3).normal(size=10)
    varied = {}
    for dataset in ("banana", "ripley"):
        own = (rows["dataset"] == dataset) & (rows["method"] == "gp")
        varied[dataset] = rows.assign(error=rows["error"].where(~own, rows["error"] + noise[rows["run"]]))
    found = {name: mean_of_ratios(evidence(errors).evidence, "gp") for name, errors in varied.items()}
    unit = noise.std(ddof=1) / 5
    for name, sdgm, trials in (("banana", 10.6, 100), ("ripley", 9.1, 1)):
        predicted = found[name].sd * np.sqrt(1 / 10 + 1)
        assert predicted == pytest.approx(unit / sdgm * np.sqrt(1 / 10 + 1 / trials), rel=1e-6)


def test_another_draw_has_other_training_and_test_samples():
    """If every split of 400 of the 5,000 samples has its own error, draws differ by more than their test samples do."""
    test_samples = 1.96 * 100 * np.sqrt(2 * 0.101 * 0.899 / 5000)
    for spread, of_training in ((0.0, 0.0), (3.0, 1.96 * 3 * np.sqrt(2 * 400 / 5000))):
        found = cell(evidence(split_errors(spread)).evidence, "error", "waveform", "sdgm")
        assert found.grain == pytest.approx(
            np.hypot(test_samples, of_training), rel=0.4 * (spread > 0) + 0.01
        )


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


def test_networks_and_figures_that_were_not_run():
    nothing = {name: pd.DataFrame() for name in ("images", "images_choice")}
    assert page("hayashi_images", tables.table2(nothing, STATED, PAPER)).count("not available") >= 3
    _, ax = FIGURES["hayashi_features"].drawn({"a": pd.DataFrame()}, PAPER)
    assert [text.get_text() for text in ax.texts] == ["No results in this run"]
    plt.close("all")
