"""Sanderson and Curtin (2017): details on synthetic results, tables and figures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from claims import ROOT, STATED, evaluate, evaluator, page

from skem.repro import papers
from skem.repro.ledger import summary
from skem.repro.papers.sanderson2017 import tables, times
from skem.repro.papers.sanderson2017.engines import Request
from skem.repro.papers.sanderson2017.figures import FIGURES
from skem.repro.papers.sanderson2017.measures import spread_of_the_best
from skem.repro.papers.sanderson2017.settings import METHODS, TIMED

PAPER = papers.settings("sanderson2017", ROOT / "config")
VALUES = (
    "fits",
    "heldout",
    "regularisation",
    "advice",
    "floors",
    "seeds",
    "starts",
    "timing",
    "timing_others",
)
ROWS = {"ozone": 2534, "ozone_mean": 2534, "ozone_observed": 2534, "winequality": 6497, "birch3": 100_000}
ROWS |= {"covertype": 581_012, "pokerhand": 100_000}
PROTOTYPE = {"kmeans_iter": 10, "em_iter": 10, "rows_per_component": 40}


def printed(dataset, method, quantity):
    value = tables.printed(STATED, dataset, method, quantity, PAPER)
    return None if np.isnan(value) else value


def values(**changed):
    """Results as printed, plus noise; ``changed`` are other results."""
    rng, found = np.random.default_rng(0), {name: [] for name in VALUES}
    for dataset, n_rows in ROWS.items():
        scale = n_rows / PAPER.data_sets[dataset].get("drawn", n_rows)
        for method in PAPER.methods(dataset):
            total = (printed(dataset, method, "log_likelihood") or -1e5) * scale
            row = {"dataset": dataset, "method": method, "n_rows": n_rows, "note": ""}
            row["guard"] = METHODS[method].bound.format(floor=PAPER.floor)
            noise = changed.get("noise", 2e-4) * abs(total) * abs(rng.normal(size=10)) * (np.arange(10) > 0)
            found["fits"] += [row | {"run": r, "log_likelihood": total - n} for r, n in enumerate(noise)]
    for dataset in [*PAPER.sizes["paper"].timed, "synthetic-1m"]:
        figure2 = dataset == "synthetic-1m"
        n_rows, iterations = (1_000_000, 10) if figure2 else (ROWS[dataset], 250)
        for method in TIMED:
            for n_threads in (1, 16) if figure2 else (1,):
                total = (
                    {1: 272.0, 16: 27.0}[n_threads] if figure2 else printed(dataset, method, "fit_seconds")
                )
                total = (total or 1.0) * n_rows / PAPER.data_sets.get(dataset, {}).get("drawn", n_rows)
                kmeans = (0.3 if figure2 else 0.02) * total
                row = {"dataset": dataset, "method": method, "n_threads": n_threads, "n_rows": n_rows}
                row |= {
                    "note": "",
                    "iterations_timed": iterations,
                    "kmeans_seconds": kmeans,
                    "seconds": total,
                }
                row["seconds_per_iteration"] = (total - kmeans) / iterations
                for name in ("kmeans_seconds", "seconds", "seconds_per_iteration"):
                    row[name] *= 1 + 0.001 * rng.normal(size=3)
                found["timing"] += pd.DataFrame(row).assign(round=range(3)).to_dict("records")
        for turn in range(3):
            row = {"about": "exp", "dataset": dataset, "round": turn, "seconds": 0.0}
            found["timing_others"].append(row)
    inits = {"static_subset": 1.0, "random_subset": 1.1, "static_spread": 2.0, "random_spread": 2.0}
    for turn in range(3):
        for init, total in inits.items():
            row = {"about": "seeds", "init": init, "round": turn, "seconds": total + 0.01 * rng.normal()}
            found["timing_others"].append(row)
    for dataset, methods in PAPER.heldout["data_sets"].items():
        for method in methods:
            value = -2.0 + (METHODS[method].covariance == "full")
            row = {"dataset": dataset, "method": method, "guard": "", "note": "", "train": value}
            found["heldout"] += [row | {"fold": f, "test": value + 0.01 * rng.normal()} for f in range(5)]
    sd = changed.get("initialisations", 1e-4)
    for dataset in PAPER.advice["data_sets"]:
        for about, least in (PROTOTYPE | changed.get("enough", {})).items():
            for covariance in ("diag", "full") if about == "rows_per_component" else ("diag",):
                loss = 0.2 * (1 + (covariance == "full"))
                row = {"dataset": dataset, "about": about, "covariance": covariance, "n_iter": 10}
                found["advice"] += [
                    row
                    | {"value": n, "run": run, "test": -loss * (n < least) + sd * rng.normal()}
                    | {"converged": int(n >= changed.get("converges_from", 2) or run > 0)}
                    for n in PAPER.advice[about]
                    for run in range(PAPER.advice["runs"])
                ]
    for dataset in PAPER.floors["data_sets"]:
        collapses = changed.get("collapses", {0.0: ["ozone"]})
        for floor in PAPER.floors["floors"]:
            row = {"dataset": dataset, "floor": floor, "note": "", "test": -5.0}
            row["train"] = 1e4 if dataset in collapses.get(floor, []) else -5.0
            found["floors"] += [row | {"run": run} for run in range(PAPER.floors["runs"])]
    for init, value in {"random_spread": 1.0, "random_subset": changed.get("subset", 1.1)}.items():
        found["seeds"] += [
            {"dataset": d, "init": init, "run": run, "inertia": value + 0.01 * rng.normal()}
            for d in PAPER.seeds["data_sets"]
            for run in range(10)
        ]
    for metric, value in {"mahalanobis": -100.0, "euclidean": changed.get("euclidean", -110.0)}.items():
        found["starts"] += [
            {"run": run, "metric": metric, "em_iter": n, "train": value + 0.1 * rng.normal()}
            for run in range(10)
            for n in PAPER.starts["em_iter"]
        ]
    row = {"dataset": "pokerhand", "method": "skem_full", "run": 0, "n_rows": 10, "log_likelihood": -1.0}
    found["regularisation"] = [row | {"reg_covar": value} for value in PAPER.regularisation["reg_covar"]]
    return {name: pd.DataFrame(rows) for name, rows in found.items()}


AS_PRINTED = values()


def evidence(found):
    return evaluator("sanderson2017", found, PAPER)


def details(ids, found):
    """Ledger of the claims whose ids contain a pattern."""
    own = STATED[STATED["id"].str.contains(ids) & (STATED["paper"] == "sanderson2017")]
    return summary.ledger(own, evidence(found).evaluate)[0].set_index("id")


@pytest.mark.parametrize(
    ("name", "changed", "expected"),
    [
        ("table1.winequality.gmm_diag_log_likelihood", {"noise": 1.0}, "too few runs"),
        ("table1.winequality.gmm_diag_log_likelihood", {"noise": 3.0}, "not testable"),
        ("sec5.no_significant_loss", {}, "not run"),  # three of eight data sets
        ("sec3.mahalanobis", {}, "holds"),
        ("sec3.mahalanobis", {"euclidean": -90.0}, "fails"),
        ("sec3.kmeans_iterations", {}, "reproduced"),
        ("sec3.kmeans_iterations", {"enough": {"kmeans_iter": 50}}, "higher"),
        ("sec3.kmeans_iterations", {"enough": {"kmeans_iter": 50}, "initialisations": 0.2}, "undecided"),
        ("sec4.km_iter", {"enough": {"kmeans_iter": 1}}, "reproduced"),
        ("sec4.em_iter_max", {}, "reproduced"),
        ("sec4.em_iter_max", {"enough": {"em_iter": 100}}, "higher"),
        ("sec4.em_iter_min", {"enough": {"em_iter": 5}}, "reproduced"),
        ("sec4.em_iter_min", {}, "higher"),
        ("sec4.samples_per_gaussian", {}, "not testable"),  # two are enough, the fewest tried
        ("sec4.spread_seeding_quality", {}, "holds"),
        ("sec4.spread_seeding_quality", {"subset": 0.9}, "fails"),
        ("sec4.samples_per_gaussian", {"converges_from": 5}, "reproduced"),
        ("sec4.samples_per_gaussian", {"converges_from": 20}, "higher"),
        ("sec2-2.variance_floor", {}, "holds"),
        ("sec2-2.variance_floor", {"collapses": {1e-10: ["ozone"]}}, "fails"),
        ("sec4.var_floor", {}, "holds"),
        ("sec4.var_floor", {"collapses": {0.0: ["ozone"], 1e-10: ["ozone"]}}, "fails"),
    ],
)  # fmt: skip
def test_decisions(name, changed, expected):
    found = values(**changed) if changed else AS_PRINTED
    assert evaluate(evidence(found), f"sanderson.{name}").detail == expected


def test_engines_that_are_not_installed_and_threads_beyond_the_cores(monkeypatch):
    fits = AS_PRINTED["fits"]
    gone = fits["method"] == "mlpack_full"
    note, total = fits["note"].mask(gone, "not installed: pip install mlpack"), fits["log_likelihood"]
    found = AS_PRINTED | {"fits": fits.assign(note=note, log_likelihood=total.mask(gone))}
    row = details("birch3.mlpack_log_likelihood", found).iloc[0]
    assert (row["detail"], "pip install mlpack" in row["remark"]) == ("not run", True)
    assert "pip install mlpack" in page("sanderson", tables.tables(found, STATED, PAPER))
    monkeypatch.setattr(times.os, "cpu_count", lambda: 1)
    X = np.random.default_rng(0).normal(size=(50, 2))
    rows = times.fit_times("synthetic-1m", X, Request(2, 1, 2, 1e-3, 0), ["armadillo_diag"], [16], 2, 2)
    row = details("fit_seconds_16threads", {"timing": pd.DataFrame(rows)}).iloc[0]
    assert row["remark"].endswith("16 threads were not run on one core")


def test_spread_of_the_best():
    best = np.random.default_rng(0).normal(size=(40_000, 10)).max(axis=1)
    assert spread_of_the_best(10) == pytest.approx(best.std(), rel=0.02)
    assert spread_of_the_best(1) == pytest.approx(1.0)


def test_unknown_names_are_refused():
    changes = {"regularisation": {"data_sets": ["cloud"]}, "size": "papr"}
    message = r"regularisation.data_sets names 'cloud'; allowed: ozone.*size names 'papr'; did you mean paper"
    with pytest.raises(ValueError, match=message):
        papers.settings("sanderson2017", ROOT / "config", changes)


@pytest.mark.parametrize(
    "found", [AS_PRINTED, {name: pd.DataFrame() for name in VALUES}], ids=["run", "none"]
)
def test_tables_and_figures(found):
    made = tables.tables(found, STATED, PAPER)
    text, timing = page("sanderson", made), page("sanderson_timing", made)
    if found is AS_PRINTED:
        row = made["csv"].set_index(["dataset", "method"]).loc["winequality", "armadillo_diag"]
        assert (row["paper"], row["n_runs"], row["guard"]) == (-15850, 10, "floor 1e-10")
        times_of = made["timing_csv"].set_index(["dataset", "method", "n_threads"])["paper"]
        assert times_of["synthetic-1m", "armadillo_diag", 1] == 272
        assert "| enough" in text
        assert "| floor 1e-10" in text
        assert "synthetic-1m" in timing
    else:
        assert "not part of this run" in text
        assert "not part of this run" in timing
    files = {"sanderson": made["csv"], "sanderson_timing": made["timing_csv"]}
    for name, figure in FIGURES.items():
        rows = figure.rows(files | {"sanderson2017_advice": found["advice"]}, PAPER)
        if found is AS_PRINTED or name != "sanderson_compared":
            figure.draw(rows, PAPER)
    plt.close("all")
