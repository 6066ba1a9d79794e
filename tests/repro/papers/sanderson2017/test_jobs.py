"""Sanderson and Curtin (2017): jobs on few samples."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from claims import ROOT

from skem.repro.papers.sanderson2017 import advice, fits, times
from skem.repro.papers.sanderson2017.engines import ENGINES, Request

EM = {"kmeans_iter": 3, "em_iter": 5, "floor": 1e-6}


@pytest.fixture
def toy(monkeypatch):
    """Two clusters instead of a data set."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 6])
    monkeypatch.setattr(fits, "samples", lambda *arguments: X)
    return {"dataset": "toy", "entry": {"n_components": 2}, "n_rows": None, "seed": 0}


def test_poker_hands_are_five_different_cards():
    hands = fits.poker_hands(20_000, np.random.default_rng(0)).reshape(-1, 5, 2)
    cards = ((hands[:, :, 0] - 1) * 13 + hands[:, :, 1] - 1).astype(int)
    assert all(len(set(hand)) == 5 for hand in cards.tolist())
    for place in cards.T:  # each card as often as any other
        counts = np.bincount(place, minlength=52)
        assert ((counts - 20_000 / 52) ** 2 / (20_000 / 52)).sum() < 100


def test_missing_values():
    X = np.array([[1.0, np.nan], [3.0, 4.0]])
    assert fits.filled(X, "zero")[0, 1] == 0
    assert fits.filled(X, "mean")[0, 1] == 4
    assert np.isnan(fits.filled(X, "observed")[0, 1])


def test_fits(toy, monkeypatch):
    def fails(X, request):
        raise RuntimeError("Ill-conditioned\nDetails")

    monkeypatch.setitem(ENGINES, "mlpack_full", replace(ENGINES["mlpack_full"], version=lambda: None))
    monkeypatch.setitem(ENGINES, "armadillo_diag", replace(ENGINES["skem_diag"], fit=fails))
    methods = {"armadillo_diag": 2, "mlpack_full": 3, "skem_diag": 2, "skem_full": 2}
    table = pd.DataFrame(fits.fits(methods, em=EM, **toy)).set_index("method")
    assert table.loc["mlpack_full", "note"] == "not installed: pip install mlpack"  # once
    assert table.loc["armadillo_diag", "note"].tolist() == 2 * ["failed: Ill-conditioned"]
    full, diagonal = (table.loc[f"skem_{kind}", "log_likelihood"].to_numpy() for kind in ("full", "diag"))
    assert (full > diagonal).all()
    folds = pd.DataFrame(fits.heldout(["skem_full"], 3, em=EM, **toy))
    assert folds["test"].mean() < folds["train"].mean()


def test_advice(toy):
    setup = {"most_rows": 100, "runs": 2, "reg_covar": 1e-3, "tol": 1e-3}
    setup |= {"kmeans_iter": [0, 5], "em_iter": [1, 4, 20], "rows_per_component": [5, 40, 1000]}
    table = pd.DataFrame(advice.advice(setup=setup, **toy))
    few = table[table["about"] == "rows_per_component"]
    assert set(few["value"]) == {5, 40}  # as many as there are
    assert few["n_iter"].le(20).all()
    assert np.isfinite(table["test"]).all()
    found = pd.DataFrame(advice.starts(setup={"runs": 2, "em_iter": [1, 5]}, reg_covar=1e-10, **toy))
    rising = found.pivot(index=["run", "distance"], columns="em_iter", values="train")
    assert (rising[5] >= rising[1]).all()


def test_seeds(toy):
    table = pd.DataFrame(advice.seeds(setup={"most_rows": 100, "runs": 3, "kmeans_iter": 1}, **toy))
    assert table.groupby("init")["inertia"].nunique().gt(1).all()  # each run has seeds of its own
    later = pd.DataFrame(advice.seeds(setup={"most_rows": 100, "runs": 3, "kmeans_iter": 10}, **toy))
    assert (later["inertia"] <= table["inertia"]).all()


def test_variance_floors(monkeypatch, toy):
    monkeypatch.setitem(ENGINES, "armadillo_diag", ENGINES["skem_diag"])
    setup = {"most_rows": 100, "runs": 2, "em_iter": 5, "floors": [1e-6, 1.0]}
    table = pd.DataFrame(advice.floors(em=EM, setup=setup, **toy))
    assert len(table) == 4
    assert table.groupby("run")["train"].is_monotonic_decreasing.all()  # by the larger floor
    assert np.isfinite(table["test"]).all()


def test_times_of_seeding_and_of_exp():
    X = np.random.default_rng(0).normal(size=(400, 3))
    assert {row["init"] for row in times.seeding(X, 5, 1, 0)} >= {"static_spread", "random_subset"}
    assert times.exponentials("toy", 1000, 2, 2)[0]["seconds"] > 0


@pytest.mark.parametrize("method", ["armadillo_diag", "mlpack_full"])
def test_initialisations_of_others_depend_on_the_seed_alone(method, monkeypatch):
    monkeypatch.chdir(ROOT)
    engine = ENGINES[method]
    if engine.version() is None:
        pytest.skip(f"{method} is not installed: {engine.install}")
    X = np.random.default_rng(0).normal(size=(300, 2))
    first, other, again = (engine.fit(X, Request(4, 5, 5, 1e-10, seed)).parameters[1] for seed in (7, 8, 7))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
