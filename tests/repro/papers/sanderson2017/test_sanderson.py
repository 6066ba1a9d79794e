"""Sanderson and Curtin (2017): outcomes on other results than those of the reference, tables and figures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from claims import ROOT, STATED, evaluate, evaluator, page, reference_values

from skem.repro import papers
from skem.repro.papers.sanderson2017 import tables, times
from skem.repro.papers.sanderson2017.engines import Request
from skem.repro.papers.sanderson2017.figures import FIGURES
from skem.repro.papers.sanderson2017.measures import spread_of_the_best

PAPER = papers.settings("sanderson2017", ROOT / "config")
VALUES = reference_values("sanderson2017")


def advice(sd=1e-4, converges_from=2, **enough):
    """Held-out likelihoods that grow up to a number that is enough, by name of the number."""
    rng, found = np.random.default_rng(0), []
    for dataset in PAPER.advice["data_sets"]:
        for about, least in ({"kmeans_iter": 10, "em_iter": 10, "rows_per_component": 40} | enough).items():
            row = {"dataset": dataset, "about": about, "covariance": "diag", "n_iter": 10}
            found += [
                row
                | {"value": n, "run": run, "test": -0.2 * (n < least) + sd * rng.normal()}
                | {"converged": int(n >= converges_from or run > 0)}
                for n in PAPER.advice[about]
                for run in range(PAPER.advice["runs"])
            ]
    return {"advice": pd.DataFrame(found)}


def floors(*collapsing):
    """Fits to ozone of which a variance collapses with some floors."""
    found = [
        {"dataset": dataset, "floor": floor, "run": run, "note": "", "test": -5.0}
        | {"train": 1e4 if dataset == "ozone" and floor in collapsing else -5.0}
        for dataset in PAPER.floors["data_sets"]
        for floor in PAPER.floors["floors"]
        for run in range(PAPER.floors["runs"])
    ]
    return {"floors": pd.DataFrame(found)}


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("sec3.kmeans_iterations", advice(), "reproduced"),
        ("sec3.kmeans_iterations", advice(kmeans_iter=50), "higher"),
        ("sec3.kmeans_iterations", advice(0.2, kmeans_iter=50), "undecided"),
        ("sec4.em_iter_max", advice(em_iter=100), "higher"),
        ("sec4.em_iter_min", advice(em_iter=5), "reproduced"),
        ("sec4.em_iter_min", advice(em_iter=20), "higher"),
        ("sec4.samples_per_gaussian", advice(), "undecided"),  # two are enough, the fewest tried
        ("sec4.samples_per_gaussian", advice(converges_from=5), "reproduced"),
        ("sec4.samples_per_gaussian", advice(converges_from=20), "higher"),
        ("sec2-2.variance_floor", floors(0.0), "holds"),
        ("sec2-2.variance_floor", floors(1e-10), "fails"),
        ("sec4.var_floor", floors(0.0, 1e-10), "fails"),
    ],
)
def test_decisions(name, values, expected):
    found = evaluator("sanderson2017", VALUES | values)
    assert evaluate(found, f"sanderson.{name}").detail == expected


def test_threads_beyond_the_cores_leave_a_note(monkeypatch):
    monkeypatch.setattr(times.os, "cpu_count", lambda: 1)
    X = np.random.default_rng(0).normal(size=(50, 2))
    (row,) = times.fit_times("synthetic-1m", X, Request(2, 1, 2, 1e-3, 0), ["armadillo_diag"], [16], 2, 1)
    assert row["note"] == "16 threads were not run on one core"


def test_spread_of_the_best():
    best = np.random.default_rng(0).normal(size=(40_000, 10)).max(axis=1)
    assert spread_of_the_best(10) == pytest.approx(best.std(), rel=0.02)
    assert spread_of_the_best(1) == pytest.approx(1.0)


def test_unknown_names_are_refused():
    changes = {"advice": {"data_sets": ["cloud"]}, "size": "papr"}
    message = r"advice.data_sets names 'cloud'; allowed: ozone.*size names 'papr'; did you mean paper"
    with pytest.raises(ValueError, match=message):
        papers.settings("sanderson2017", ROOT / "config", changes)


def test_tables_and_figures_without_results():
    made = tables.tables(dict.fromkeys(VALUES, pd.DataFrame()), STATED, PAPER)
    assert "not part of this run" in page("sanderson", made)
    assert "not part of this run" in page("sanderson_timing", made)
    figure = FIGURES["sanderson_figure2_timing"]
    figure.draw(figure.rows({"sanderson_timing": made["timing_csv"]}, PAPER), PAPER)
    plt.close("all")
