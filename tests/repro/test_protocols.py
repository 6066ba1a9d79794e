"""Protocols on histories small enough to check by hand."""

import numpy as np
import pandas as pd
import pytest
from histories import curve
from scipy.stats import t

from skem.repro.protocols import (
    PROTOCOLS,
    interval,
    per_run,
    select,
    summarise,
    validate_history,
)

ON_TEST = PROTOCOLS[:3]


def frame(*rows):
    return pd.DataFrame(rows)


def by_run(history, protocol):
    return per_run(select(history, protocol)).set_index(["setting", "run"])["test_accuracy"]


@pytest.fixture
def crossed():
    """Two folds of 10 and 30 rows, two runs, three iterations."""
    runs = [([0.5, 0.9, 0.7], [0.6, 0.4, 0.8]), ([0.6, 0.7, 0.7], [0.5, 0.5, 0.5])]
    rows = []
    for run, (first, second) in enumerate(runs):
        rows += curve(first, run=run, fold=0, n_test=10) + curve(second, run=run, fold=1, n_test=30)
    return frame(*rows)


def test_test_selected_and_final_iteration(crossed):
    before = crossed.copy()
    chosen = select(crossed, "test_selected_iteration")
    pd.testing.assert_frame_equal(crossed, before)
    assert chosen[["run", "fold", "iteration"]].to_numpy().tolist() == [
        [0, 0, 2],
        [0, 1, 3],
        [1, 0, 2],
        [1, 1, 1],
    ]
    assert chosen["n_folds"].tolist() == [2] * 4
    runs = per_run(chosen)
    np.testing.assert_allclose(
        runs["test_accuracy"], [(0.9 * 10 + 0.8 * 30) / 40, (0.7 * 10 + 0.5 * 30) / 40]
    )
    np.testing.assert_allclose(runs["test_log_loss"], 2 - runs["test_accuracy"])
    assert runs["iteration"].tolist() == [2.5, 1.5]
    assert runs["n_test"].tolist() == [40, 40]
    np.testing.assert_allclose(by_run(crossed, "final_iteration"), [(7 + 24) / 40, (7 + 15) / 40])


def test_test_selected_fold(crossed):
    chosen = select(crossed, "test_selected_fold")
    assert chosen[["run", "fold", "iteration", "n_folds"]].to_numpy().tolist() == [[0, 0, 2, 2], [1, 0, 2, 2]]
    assert by_run(crossed, "test_selected_fold").tolist() == [0.9, 0.7]
    # Ties go to the earlier pass, then fold.
    ties = curve([0.1, 0.5]) + curve([0.5, 0.5], fold=1) + curve([0.5, 0.1], fold=2)
    assert select(frame(*ties), "test_selected_fold")[["iteration", "fold"]].to_numpy().tolist() == [[1, 1]]


def test_validation_selected_iteration():
    best = select(frame(*curve([0.9, 0.3, 0.2], [0.4, 0.8, 0.6])), "validation_selected_iteration")
    assert best[["iteration", "test_accuracy"]].to_numpy().tolist() == [[2, 0.3]]
    # Ties go to the lower log-loss, then to the earlier pass.
    rows = curve([0.1, 0.2, 0.3, 0.4], [0.5, 0.5, 0.5, 0.4])
    assert select(frame(*rows), "validation_selected_iteration")["iteration"].tolist() == [1]
    rows[1]["validation_log_loss"] = rows[2]["validation_log_loss"] = 0.1
    assert select(frame(*rows), "validation_selected_iteration")["iteration"].tolist() == [2]
    for row in rows:
        row["validation_log_loss"] = np.nan
    assert select(frame(*rows[::-1]), "validation_selected_iteration")["iteration"].tolist() == [1]


def test_nested():
    a, b = curve([0.9, 0.8], [0.5, 0.6]), curve([0.2, 0.3], [0.6, 0.7], setting="b")
    chosen = select(frame(*a, *b), "nested")
    assert chosen[["setting", "iteration", "test_accuracy"]].to_numpy().tolist() == [["b", 2, 0.3]]
    assert select(frame(*a, *b), "validation_selected_iteration")["setting"].tolist() == ["a", "b"]
    # Ties go to the earlier pass, then to the first setting.
    z, a = curve([0.1, 0.2], [0.5, 0.6], setting="z"), curve([0.3, 0.4], [0.6, 0.5])
    assert select(frame(*z, *a), "nested")[["setting", "iteration"]].to_numpy().tolist() == [["a", 1]]
    a = curve([0.3, 0.4], [0.5, 0.6])
    assert select(frame(*z, *a), "nested")["setting"].tolist() == ["z"]
    assert select(frame(*a, *z), "nested")["setting"].tolist() == ["a"]
    # First within its own data set, whatever another one lists first.
    other = [row | {"dataset": "e"} for row in a + z]
    assert select(frame(*z, *a, *other), "nested")["setting"].tolist() == ["z", "a"]


def test_nested_uses_the_runs_that_all_settings_have():
    rows = [row for run in range(3) for row in curve([0.5], [0.5], run=run)]
    rows += [row for run in (1, 2) for row in curve([0.6], [0.4 + 0.1 * run], run=run, setting="b")]
    chosen = select(frame(*rows), "nested")
    assert chosen[["run", "setting"]].to_numpy().tolist() == [[1, "a"], [2, "b"]]
    assert len(select(frame(*rows), "validation_selected_iteration")) == 5
    apart = frame(*curve([0.5], [0.5]), *curve([0.5], [0.5], run=1, setting="b"))
    with pytest.raises(ValueError, match="dataset d, method m have no run and fold in common"):
        select(apart, "nested")


def test_training_samples_of_each_protocol():
    history = frame(*curve([0.7]), *curve([0.6], [0.5]))
    read = {protocol: select(history, protocol)["test_accuracy"].tolist() for protocol in PROTOCOLS}
    assert read == {p: [0.7] for p in ON_TEST} | {"validation_selected_iteration": [0.6], "nested": [0.6]}
    # MNIST: all of the paper's rows, and a validation set from the rest.
    both = frame(*curve([0.7, 0.8], [0.6, 0.5], rows="all"))
    read = {protocol: select(both, protocol)["test_accuracy"].tolist() for protocol in PROTOCOLS}
    assert read == {p: [0.8] for p in ON_TEST} | {"validation_selected_iteration": [0.7], "nested": [0.7]}
    # Only one kind there, or nothing at all.
    assert summarise(both.iloc[:0]).empty
    assert all(per_run(select(both.iloc[:0], protocol)).empty for protocol in PROTOCOLS)
    assert select(frame(*curve([0.7])), "validation_selected_iteration").empty
    assert select(frame(*curve([0.7], [0.5])), "test_selected_iteration").empty
    with pytest.raises(ValueError, match="one is meant"):
        validate_history(frame(*curve([0.5], [0.5]), *curve([0.5], [0.5], rows="all")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"iteration": 2},
            "1 duplicate keys, first dataset d, method m, setting a, run 0, fold 0, rows all, iteration 2",
        ),
        ({"fold": 7}, "runs of .'d', 'm', 'a', 'all'. do not have the same folds"),
    ],
)
def test_invalid_histories_are_refused(crossed, change, message):
    rows = crossed.to_dict("records")
    rows[0] |= change
    with pytest.raises(ValueError, match=message):
        validate_history(pd.DataFrame(rows))


def test_interval():
    values = [0.8, 0.9, 0.85]
    mean, low, high = interval(values)
    half = t.ppf(0.975, 2) * 0.05 / np.sqrt(3)
    assert (mean, low, high) == pytest.approx((0.85, 0.85 - half, 0.85 + half))
    sampling = 1.959963984540054 * np.sqrt(0.85 * 0.15 / 1000)
    assert interval(values, 1000)[2] == pytest.approx(0.85 + np.hypot(half, sampling))
    assert interval([0.85], 1000)[1] == pytest.approx(0.85 - sampling)
    assert interval([3.0], 400, sampling_sd=2.0)[1] == pytest.approx(3 - 1.959963984540054 * 0.1)
    assert np.isnan(interval([0.9])).tolist() == [False, True, True]
    assert interval([1.0, 1.0], 10) == (1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="no accuracy: give sampling_sd"):
        interval([1.5], 100)
    with pytest.raises(ValueError, match="one number per run"):
        interval([])


@pytest.mark.parametrize("fixed", [False, True])
def test_interval_coverage(fixed):
    """95% intervals hold the truth in 95% of 400 simulated studies of five runs."""
    rng = np.random.default_rng(0)
    n_test, p, spread, hits = 2000, 0.9, 0.004, 0
    for _ in range(400):
        values = p + spread * rng.standard_normal(5)
        if fixed:  # one test set for all runs
            values += rng.binomial(n_test, p) / n_test - p
        _, low, high = interval(values, n_test if fixed else None)
        hits += low <= p <= high
    # Adding half widths in quadrature is slightly conservative.
    assert 0.92 < hits / 400 < 0.99
