"""Other implementations do identical work before a time counts, and the page on speed shows what was measured."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from benchmarks import peers, speed_page
from benchmarks.peers import ENGINES, Cell, Fitted, Request
from skem.repro.files import read_table
from skem.repro.papers.sanderson2017 import engines

TOY = Cell("sizes", ("skem", "scikit-learn"), "300x3-K2", 300, 3, 2, 0, "float64", (1, 3))


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(peers, "MOST_FITS", 1)
    monkeypatch.setattr(peers, "THREADS", 1)
    monkeypatch.setattr(peers, "ROUNDS", 3)


@pytest.mark.parametrize("name", ["scikit-learn", "oneDAL", "Armadillo", "Armadillo, diag", "mclust"])
def test_implementations_agree_after_the_same_iterations(name):
    diagonal = name.endswith("diag")
    engine = engines.ENGINES["armadillo_diag"] if diagonal else ENGINES[name]
    for dtype, tolerance in {"float64": 1e-5, "float32": 1e-2}.items():
        if dtype == "float64" or name in ("scikit-learn", "oneDAL"):
            X, init = engines.draw(300, 3, 2, dtype)
            request = Request(2, 1, 3, 1e-6, 0, 1, init)
            fitted, note = engines.attempt(engine, X, request)
            if note.startswith("not installed"):
                pytest.skip(note)
            ours = engines.ENGINES["skem_diag" if diagonal else "skem_full"].fit(X, request)
            for a, b in zip(ours.parameters, fitted.parameters, strict=True):
                assert_allclose(a, b, rtol=tolerance, atol=tolerance / 10)


def test_ratios_are_within_rounds():
    """The machine gets slower from round to round; ratios do not change."""
    pace = chain.from_iterable([pace] * 4 for pace in (1, 3, 5))
    fits = {"skem": lambda n: next(pace) * n, "oneDAL": lambda n: 2 * next(pace) * n}
    found = peers.interleaved(fits, [0, 1])
    ratio = peers.summary("ratio", found["oneDAL"] / found["skem"])
    assert ratio == {"ratio": 2, "ratio_low": 2, "ratio_high": 2}


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
    table = pd.DataFrame(peers.em(replace(TOY, names=(*TOY.names, "Armadillo", "oneDAL", "mclust"))))
    assert table["seconds_per_iteration"].notna().tolist() == [True, True, False, False, False]
    for note, expected in zip(
        table["note"][2:],
        (
            "other result: log_likelihood -",
            "Ill-conditioned",
            "not installed: apt-get install r-cran",
        ),
        strict=True,
    ):
        assert note.startswith(expected)


def test_kmeans_is_timed_from_the_same_centres():
    ours, theirs = peers.kmeans(replace(TOY, part="kmeans", iterations=(0, 20)))
    assert theirs["mean_inertia"] == pytest.approx(ours["mean_inertia"])
    assert theirs["ratio"] > 0
    assert ours["ratio"] == 1


def test_models_are_timed_beside_the_paper_and_an_implementation(monkeypatch):
    monkeypatch.setattr(peers, "ROUNDS", 1)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    params = {"n_blocks": 2, "n_components": 3, "n_jobs": 1, "random_state": 0}
    whole, *blocks = peers.compare_with_classes(X, y, params, 100.0, "scikit-learn")
    assert whole["ratio"] == pytest.approx(100 / whole["seconds_per_iteration"])
    assert [(row["init"], row["m"]) for row in blocks] == [("uniform", 2), ("class", 2)]


def test_a_stopped_measurement_continues_with_the_cells_that_are_missing(tmp_path, monkeypatch):
    measured = []

    def measure(cell):
        measured.append(cell.size)
        if measured == ["one", "two"]:
            raise KeyboardInterrupt
        return peers.em(cell)

    monkeypatch.setitem(peers.MEASURE, "sizes", measure)
    monkeypatch.setattr(peers, "cells", lambda native: {n: replace(TOY, size=n) for n in ("one", "two")})
    with pytest.raises(KeyboardInterrupt):
        peers.measure(True, "AVX2", "", tmp_path)
    peers.measure(True, "AVX2", "", tmp_path)
    assert measured == ["one", "two", "two"]
    peers.collect(tmp_path)
    table = read_table(tmp_path / "peers.csv")
    assert table["size"].tolist() == ["one", "one", "two", "two"]
    assert set(table["instructions"]) == {"AVX2"}


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
    found = peers.exponents(table.assign(seconds_per_iteration=cost**power))
    assert set(found["size"]) == {"N", "K", "H"}
    assert_allclose(found["exponent"], found["engine"].map({"linear": 1.0, "square": 2.0}))


def test_committed_exponents_follow_from_the_committed_times():
    table = read_table(speed_page.REFERENCE / "peers.csv")
    again = peers.exponents(table[table["part"] == "scaling"])
    assert_allclose(again["exponent"], table.loc[table["part"] == "exponents", "exponent"], rtol=1e-12)


def test_the_page_has_the_tables_of_the_committed_measurements():
    tables, page = speed_page.tables(), speed_page.PAGE.read_text(encoding="utf-8")
    assert speed_page.rewritten(page, tables) == page
    with pytest.raises(ValueError, match="markers of the tables"):
        speed_page.rewritten(page, tables | {"kmeans, AVX2": ""})


def test_a_table_of_sizes_has_our_time_and_the_ratios_of_others():
    cell = {"N": 60000, "m": 15, "K": 2, "clusters": 30, "dtype": "float32"}
    rows = [("skem", 0.00123, 1.0, "1"), ("oneDAL", 0.005, 4.06, "2"), ("Armadillo", None, None, None)]
    rows += [("mclust", 0.1, 81.3, "3"), ("mlpack", None, None, "4")]
    names = ("engine", "seconds_per_iteration", "ratio", "version")
    table = pd.DataFrame([cell | dict(zip(names, row, strict=True)) for row in rows])
    (row,) = speed_page.of_sizes(table).to_dict("records")
    assert list(row.values()) == [
        *("60,000 x 15, K = 2", "30 clusters", "float32", "1.23 ms"),
        *("4.1", "failed", "81"),
    ]


def test_larger_samples_are_faster_than_with_onedal():
    """The page says so."""
    table = read_table(speed_page.REFERENCE / "peers.csv")
    ratios = table[table["engine"].isin(["oneDAL", "oneDAL, AVX2"]) & (table["N"] >= 16_000)]
    assert ratios["ratio"].min() > 1
