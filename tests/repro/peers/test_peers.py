"""Implementations do identical work before a time counts, and tables show what could not be timed."""

from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from skem.repro.files import read_table
from skem.repro.peers import engines, settings, tables, timing
from skem.repro.peers.engines import ENGINES, Fitted, Request

REFERENCE = Path(__file__).parents[3] / "results/reference"


def toy(dtype="float64"):
    X, init = engines.draw(300, 3, 2, dtype)
    return X, Request(2, 1, 3, 1e-6, 0, 1, init)


@pytest.mark.parametrize("name", ["scikit-learn", "oneDAL", "Armadillo", "Armadillo, diag", "mclust"])
def test_implementations_agree_after_the_same_iterations(name):
    engine = ENGINES[name]
    for dtype, tolerance in {"float64": 1e-5, "float32": 1e-2}.items():
        if dtype in engine.dtypes:
            X, request = toy(dtype)
            fitted, note = engines.attempt(engine, X, request)
            if note.startswith("not installed"):
                pytest.skip(note)
            ours = ENGINES["skem, diag" if engine.covariance == "diag" else "skem"].fit(X, request)
            for a, b in zip(ours.parameters, fitted.parameters, strict=True):
                assert_allclose(a, b, rtol=tolerance, atol=tolerance / 10)


def test_ratios_are_within_rounds():
    """The machine gets slower from round to round; ratios do not change."""
    pace = chain.from_iterable([pace] * 4 for pace in (1, 3, 5))
    fits = {"ours": lambda n: next(pace) * n, "other": lambda n: 2 * next(pace) * n}
    seconds = timing.interleaved(fits, [0, 1], 3)
    ratio = timing.median("ratio", seconds["other"] / seconds["ours"])
    assert ratio == {"ratio": 2, "ratio_low": 2, "ratio_high": 2}


def test_the_interval_of_a_median_contains_it_with_95_percent():
    rng = np.random.default_rng(0)
    for n in (7, 25):
        found = [timing.median("x", rng.exponential(size=n)) for _ in range(1000)]
        assert np.mean([one["x_low"] <= np.log(2) <= one["x_high"] for one in found]) > 0.94


def test_only_equal_results_are_timed(monkeypatch):
    def other(X, request):
        weights, means, covariances = ENGINES["skem"].fit(X, request).parameters
        return Fitted((weights, means + 1, covariances), 0.1)

    def fails(X, request):
        raise RuntimeError("Ill-conditioned\nDetails: many")

    for name, changes in {
        "Armadillo": {"fit": other, "version": lambda: "1"},
        "oneDAL": {"fit": fails, "version": lambda: "1"},
        "mclust": {"version": lambda: None},
    }.items():
        monkeypatch.setitem(ENGINES, name, replace(ENGINES[name], **changes))
    monkeypatch.setattr(timing, "MOST_FITS", 2)
    names = ["skem", "scikit-learn", "Armadillo", "oneDAL", "mclust"]
    work = {
        "part": "sizes",
        "sizes": [{"size": "toy", "N": 300, "m": 3, "K": 2}],
        "dtypes": ["float64"],
        "threads": [1],
        "groups": [{"engines": names, "iterations": [1, 3], "rounds": 1}],
    }
    table = pd.DataFrame(timing.unsupervised(work))
    assert table["seconds_per_iteration"].notna().tolist() == [True, True, False, False, False]
    process = {"instructions": "default", "openblas": "Haswell", "numpy": "AVX2", "processor": "a processor"}
    text = tables.to_markdown(table.assign(**process))
    for note in (
        "other result: log-likelihood -",
        "failed: Ill-conditioned ",
        "not installed: apt-get install r-cran-mclust",
    ):
        assert note in text


def test_models_are_timed_beside_the_paper_and_an_implementation():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    model = {"model": "pskem", "params": {"n_blocks": 2, "n_components": 3}, "paper_seconds": 100.0}
    work = {
        "init": ["uniform", "class"],
        "engine": "scikit-learn",
        "rounds": 1,
        "iterations": [1, 3],
        "seed": 0,
    }
    whole, *blocks = timing.compare_classifiers(X, y, 1, model, work)
    assert whole["ratio"] == pytest.approx(100 / whole["seconds_per_iteration"])
    assert [(row["init"], row["m"]) for row in blocks] == [("uniform", 2), ("class", 2)]


def test_exponents_of_known_costs():
    axes = {"N": [100, 1000, 10000], "m": [2, 4, 8, 16], "K": [4, 16, 64]}
    table = pd.DataFrame(
        {"size": axis, "engine": engine, "N": 5000, "m": 6, "K": 10, axis: value}
        for axis, values in axes.items()
        for value in values
        for engine in ("linear", "square")
    )
    cost = 1e-9 * table["N"] * table["K"] * (1 + table["m"] + table["m"] * (table["m"] + 1) // 2)
    power = table["engine"].map({"linear": 1.0, "square": 2.0})
    found = tables.exponents(table.assign(seconds_per_iteration=cost**power))
    assert set(found["size"]) == {"N", "K", "H"}
    assert_allclose(found["exponent"], found["engine"].map({"linear": 1.0, "square": 2.0}))


def test_committed_tables_follow_from_the_committed_values():
    table = read_table(REFERENCE / "peers.csv")
    assert tables.to_markdown(table) == (REFERENCE / "peers.md").read_text(encoding="utf-8")
    committed = table[table["part"] == "exponents"]
    again = tables.exponents(table[table["part"] == "scaling"])
    assert_allclose(again["exponent"], committed["exponent"], rtol=1e-12)


def test_every_implementation_can_be_configured():
    assert set(settings.Engine.__args__) == set(ENGINES)
