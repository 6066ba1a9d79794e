"""Sanderson and Curtin (2017): what its jobs draw, fit and time."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from skem import GaussianMixture
from skem.repro.papers.sanderson2017 import advice, data, fits, times
from skem.repro.peers import from_kmeans
from skem.repro.peers.engines import mean_log_likelihood

ROOT = Path(__file__).parents[4]


def test_poker_hands_are_five_different_cards():
    hands = data.poker_hands(20_000, np.random.default_rng(0)).reshape(-1, 5, 2)
    cards = (hands[:, :, 0] - 1) * 13 + hands[:, :, 1] - 1
    assert all(len(set(hand)) == 5 for hand in cards.astype(int).tolist())
    for place in range(5):  # each card as often as any other, in every place
        counts = np.bincount(cards[:, place].astype(int), minlength=52)
        assert len(counts) == 52
        assert ((counts - 20_000 / 52) ** 2 / (20_000 / 52)).sum() < 100


def test_missing_values_are_filled_as_said():
    X = np.array([[1.0, np.nan], [3.0, 4.0]])
    assert data.filled(X, "zero")[0, 1] == 0
    assert data.filled(X, "mean")[0, 1] == 4
    assert np.isnan(data.filled(X, "observed")[0, 1])


def test_standardised_rows_have_the_likelihood_of_the_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) * [1.0, 100.0] + 5.0
    fitted = GaussianMixture(1, reg_covar=0.0).fit(X)
    parameters = fitted.weights_, fitted.means_, fitted.covariances_
    again = GaussianMixture(1, reg_covar=0.0).fit(data.standardised(X)[0])
    moved = again.weights_, again.means_, again.covariances_
    plain, _ = fits.mean_log_likelihood("mlpack_full", X, parameters, mean_log_likelihood)
    other, _ = fits.mean_log_likelihood("mlpack_full_standardised", X, moved, mean_log_likelihood)
    assert other == pytest.approx(plain, rel=1e-10)


def test_fits_folds_and_ridges_leave_rows():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 6])
    request = from_kmeans.Request(2, 3, 5, 1e-6, 0)
    gone = replace(from_kmeans.ENGINES["mlpack_full"], version=lambda: None)

    def fails(X, request):
        raise RuntimeError("Ill-conditioned\nDetails")

    engines = dict(from_kmeans.ENGINES, mlpack_full=gone)
    engines["armadillo_diag"] = replace(engines["skem_diag"], fit=fails)
    methods = {"armadillo_diag": 2, "mlpack_full": 3, "skem_diag": 2, "skem_full": 2}
    made = fits.fits("toy", X, methods, request, engines, mean_log_likelihood)
    table = pd.DataFrame(made).set_index("method")
    assert table.loc["mlpack_full", "note"] == "not installed: pip install mlpack"  # once
    assert table.loc["armadillo_diag", "note"].tolist() == 2 * ["failed: Ill-conditioned"]
    assert table.loc["skem_full", "guard"].tolist() == 2 * ["ridge 1e-06"]
    full, diagonal = (table.loc[f"skem_{kind}", "log_likelihood"].to_numpy() for kind in ("full", "diag"))
    assert (full > diagonal).all()
    own = GaussianMixture(
        2,
        covariance_type="diag",
        init="random_subset",
        metric="mahalanobis",
        kmeans_iter=3,
        max_iter=5,
        tol=0,
        random_state=fits.splits.seed(0, "toy", 0, "start"),
    ).fit(X)
    assert diagonal[0] == pytest.approx(len(X) * own.score(X))
    folds = pd.DataFrame(fits.heldout("toy", X, ["skem_full"], 3, request, engines, mean_log_likelihood))
    assert len(folds) == 3
    assert folds["test"].mean() < folds["train"].mean()
    setup = {"ridges": [1e-6, 1.0], "runs": 1}
    ridged = pd.DataFrame(fits.by_ridge("toy", X, setup, request, engines, mean_log_likelihood))
    for _, own in ridged.groupby("method"):
        assert own["log_likelihood"].is_monotonic_decreasing


def test_advice_and_metrics_leave_curves():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) + 6]) * [1.0, 1000.0]
    setup = {"most_rows": 150, "runs": 2, "ridge": 1e-3, "kmeans_iter": [0, 5], "em_iter": [1, 4, 20]}
    setup["rows_per_component"] = [5, 40, 1000]
    table = pd.DataFrame(advice.advice("toy", X, 2, setup, 0))
    sizes = table[table["about"] == "rows_per_component"]
    assert set(sizes["value"]) == {5, 40}  # of no more rows than there are
    assert len(sizes) == 8
    assert np.isfinite(table["test"]).all()
    metrics = pd.DataFrame(advice.starts(X, 2, {"runs": 2, "passes": [1, 5]}, 1e-10, 0))
    rising = metrics.pivot(index=["run", "metric"], columns="passes", values="train")
    assert (rising[5] >= rising[1]).all()


def test_k_means_and_its_seeds_are_timed_and_agree():
    X = np.random.default_rng(0).normal(size=(400, 3))
    rows = pd.DataFrame(times.kmeans("toy", X, 5, 4, [1], 1, 0)).set_index("engine")
    assert rows.loc["skem", "inertia"] == rows.loc["skem, from a file", "inertia"]
    assert_allclose(rows.loc["skem", "inertia"], rows.loc["scikit-learn", "inertia"], rtol=1e-6)
    assert {row["init"] for row in times.seeds(X, 5, 1, 0)} >= {"static_spread", "random_subset"}
    assert times.exponentials(1000, 2, 2)[0] > 0


@pytest.mark.parametrize("method", ["armadillo_diag", "mlpack_full"])
def test_starts_of_others_follow_from_the_seed_alone(method, monkeypatch):
    """Not from the fits that came before."""
    monkeypatch.chdir(ROOT)
    engine = from_kmeans.ENGINES[method]
    if engine.version() is None:
        pytest.skip(f"{method} is not installed: {engine.install}")
    X = np.random.default_rng(0).normal(size=(300, 2))
    first, other, again = (
        engine.fit(X, from_kmeans.Request(4, 5, 5, 1e-10, seed)).parameters[1] for seed in (7, 8, 7)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
