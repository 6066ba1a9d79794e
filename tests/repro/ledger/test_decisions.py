"""Outcomes of numbers and orderings."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skem.repro.ledger import estimates
from skem.repro.ledger.decisions import Comparison, decide, evaluate_number, evaluate_spread
from skem.repro.ledger.estimates import Estimate, half_a_digit

CLAIM = {"value": "97.48", "trials": "", "quantity": "accuracy_pct", "setting": ""}


def over(values, protocol="test_selected_iteration"):
    return Estimate.of(pd.Series(values), protocol)


# Numbers


def test_coverage_of_the_prediction_interval():
    """Both results from the same distribution: reproduced 19 times of 20."""
    rng = np.random.default_rng(0)
    n, trials, hits = 5, 20, 0
    for _ in range(1500):
        theirs = rng.normal(90, 1, trials).mean()
        claim = CLAIM | {"value": f"{theirs:.6f}", "trials": str(trials)}
        hits += evaluate_number(claim, over(rng.normal(90, 1, n))).detail == "reproduced"
    assert hits / 1500 == pytest.approx(0.95, abs=0.02)


def test_coverage_of_a_difference_of_other_runs():
    """The paper's difference is of one result of each side, ours of means: reproduced 19 times of 20, however many runs are ours."""
    rng, times, hits = np.random.default_rng(0), 500, 0
    for _ in range(times):
        theirs = rng.normal(2, 0.6) - rng.normal(0, 0.5)
        ours = over(rng.normal(2, 0.6, 200)) - over(rng.normal(0, 0.5, 10))
        claim = CLAIM | {"value": f"{theirs:.6f}", "quantity": "accuracy_gain_pct"}
        hits += evaluate_number(claim, ours).detail == "reproduced"
    assert hits / times == pytest.approx(0.95, abs=4 * np.sqrt(0.05 * 0.95 / times))


def test_a_bound_holds_on_its_side():
    claim = CLAIM | {"value": "5", "setting": "n_features=36;bound=lower"}
    assert evaluate_number(claim, Estimate(5.2)).detail == "reproduced"
    assert evaluate_number(claim, over([4.81, 4.8, 4.79])).detail == "worse"
    assert evaluate_number(claim, over([4.0, 7.0])).detail == "undecided"
    for quantity, detail in (("error_pct", "worse"), ("accuracy_pct", "better"), ("km_iter", "higher")):
        upper = claim | {"setting": "bound=upper", "quantity": quantity}
        assert evaluate_number(upper, Estimate(5.2)).detail == detail
    wide = evaluate_number(claim, over([8.0, 9.0, 10.0]))
    assert wide.at_resolution(0.1).detail == wide.detail == "reproduced"  # however wide, all of it is above


def test_a_spread_is_compared_through_f():
    claim = CLAIM | {"value": "0.60", "quantity": "accuracy_std_pct", "trials": "20"}
    estimate = Estimate(0.5, float("nan"), 58, None)
    low, high = 0.5 * np.sqrt(stats.f.ppf([0.025, 0.975], 19, 57))
    found = evaluate_number(claim, estimate)
    assert (found.low, found.high) == pytest.approx((low - 0.005, high + 0.005))
    assert found.detail == "reproduced"
    assert evaluate_number(claim | {"value": "1.50"}, estimate).detail == "better"  # ours is smaller


def test_a_claimed_maximum_is_compared_with_a_maximum():
    """The best of twenty settings as good as each other lies above a typical one, and is no better than ours."""
    rng = np.random.default_rng(5)
    details, typical = [], []
    for _ in range(150):
        settings = {str(i): over(rng.normal(97, 0.1, 2)) for i in range(20)}
        claim = CLAIM | {"value": f"{rng.normal(97, 0.1, 20).max():.2f}"}
        best = estimates.maximum(settings, list(settings))
        runs = [settings[name].runs for name in settings]
        assert best.mean == pytest.approx(np.mean([max(r[i] for r in runs) for i in range(2)]))
        details.append(evaluate_number(claim, best).detail)
        typical.append(evaluate_number(claim, over(rng.normal(97, 0.1, 40))).detail)
    once = {name: over([97.0 + i]) for i, name in enumerate("ab")}
    assert evaluate_number(CLAIM, estimates.maximum(once, ["a", "b"])).detail == "undecided"
    assert details.count("reproduced") >= 0.93 * 150
    assert typical.count("reproduced") < 0.7 * 150


@pytest.mark.parametrize(("kind", "n", "trials"), [("1sigma", 25, 50), ("3sigma", 40, 20)])
def test_coverage_of_a_printed_standard_deviation(kind, n, trials):
    """Both from the same distribution: reproduced 19 times of 20, in the units of the paper."""
    rng, times, hits = np.random.default_rng(6), 400, 0
    for ours, theirs in zip(
        rng.normal(97, 0.3, (times, n)), rng.normal(97, 0.3, (times, trials)), strict=True
    ):
        claim = CLAIM | {"spread": f"{int(kind[0]) * theirs.std(ddof=1):.6f}", "spread_kind": kind}
        found = evaluate_spread(claim | {"trials": str(trials)}, over(ours))
        assert found.measured == pytest.approx(int(kind[0]) * ours.std(ddof=1))
        hits += found.detail == "reproduced"
    assert hits / times == pytest.approx(0.95, abs=4 * np.sqrt(0.05 * 0.95 / times))


def test_intervals_of_positive_quantities_span_an_order_of_magnitude_at_most():
    claim = CLAIM | {"value": "7.6", "trials": "10"}
    two, sharp = over([2.0, 4.2]), over([7.0, 7.7, 8.0, 7.2])
    for quantity in ("ratio", "fit_seconds", "n_nonzero_weights", "em_iter_max"):
        found = evaluate_number(claim | {"quantity": quantity}, two)
        assert found.detail == "reproduced"
        assert found.low == 0
        assert found.at_resolution().detail == "too few runs"
        assert evaluate_number(claim | {"quantity": quantity}, sharp).at_resolution().detail == "reproduced"
    for quantity in ("accuracy_gain_pct", "log_likelihood"):  # may be negative
        assert evaluate_number(claim | {"quantity": quantity}, two).at_resolution().detail == "reproduced"
    once = evaluate_number(claim | {"quantity": "ratio", "trials": "1"}, over([1.0, 9.0] * 20))
    assert once.at_resolution().detail == "not testable"
    none = evaluate_number(claim | {"value": "0", "quantity": "n_components_removed"}, Estimate(0.0))
    assert none.at_resolution().detail == "reproduced"


# Orderings


def test_a_comparison_is_paired_where_runs_are_shared():
    rng = np.random.default_rng(1)
    common = rng.normal(0, 5, 12)  # what both have in common drowns the difference unless it is paired
    a, b = pd.Series(common + 1 + rng.normal(0, 0.1, 12)), pd.Series(common)
    assert decide([Comparison(over(a) - over(b))]).detail == "holds"
    assert decide([Comparison(over(b) - over(a))]).detail == "fails"
    apart = Estimate.of(b.set_axis(range(100, 112)))
    found = decide([Comparison(over(a) - apart)])
    assert found.detail == "undecided"
    welch = stats.ttest_ind(a, b, equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx((welch.low, welch.high))


def test_the_shown_comparison_is_the_one_that_decides():
    """Not the largest difference, which may be the least certain one."""
    small, large, none = Estimate(1.0, 0.1, 10), Estimate(50.0, 100.0, 10), Estimate(-2.0, 0.1, 10)
    a, b, c = Comparison(small, what="small"), Comparison(large, what="large"), Comparison(none, what="none")
    for found, detail, decisive in (
        (decide([b, a], "any"), "holds", small),
        (decide([b, c], "any"), "undecided", large),
        (decide([Comparison(Estimate(-50.0, 1.0, 10)), c], "any"), "fails", none),
        (decide([b, a]), "undecided", large),
        (decide([b, a, c]), "fails", none),
        (decide([a, b, c], "most"), "undecided", large),
        (decide([a, a, c], "most"), "holds", small),
        (decide([a, c, c], "most"), "fails", none),
    ):
        assert (found.detail, found.measured) == (detail, decisive.mean)
        assert (found.low < 0 < found.high) == (detail == "undecided")
    # Equal constants are certain, too.
    assert decide([b, Comparison(Estimate(0.0), or_equal=True)], "any").detail == "holds"
    assert decide([b, a], "any").note == "decided by: small; 1 of 2 comparisons hold at 95%"


def of_ten_runs(t):
    """A mean of ten runs, whose t statistic is given."""
    z = stats.zscore(np.arange(10.0), ddof=1)
    return over(z + t / np.sqrt(10))


def critical(share):
    """The t statistic of ten runs at 95%, if ``share`` comparisons share the level."""
    return stats.t.ppf(1 - 0.025 / share, 9)


def test_several_comparisons_share_the_level():
    """Simulated error rates are too coarse for one comparison more or less."""

    def three_of_four(*t):
        return decide([Comparison(of_ten_runs(one)) for one in t], "most")

    # One of two may be the last one that is needed.
    assert three_of_four(10, 9, critical(2) + 0.01, 0.1).detail == "holds"
    undecided = three_of_four(10, 9, critical(2) - 0.01, 0.1)
    assert undecided.detail == "undecided"
    assert undecided.low == pytest.approx((critical(2) - 0.01 - critical(3)) / np.sqrt(10))
    assert three_of_four(10, 9, -critical(3) - 0.01, -10).detail == "fails"
    assert three_of_four(10, 9, -critical(3) + 0.01, -10).detail == "undecided"


def test_the_best_of_several_shares_the_level_among_all_pairs():
    equal = {name: over(np.zeros(10)) for name in "abc"}
    for t, below in ((critical(6) - 0.01, []), (critical(6) + 0.01, ["d"])):
        assert estimates.below_best(equal | {"d": of_ten_runs(-t)}) == below


def test_error_rates_of_several_comparisons():
    """All but one of those needed are true, or false, and the others are equal: the claim holds, or fails, in 2.5% of cases at most."""
    rng, trials, n, wanted = np.random.default_rng(10), 300, 5, 3
    holds = fails = 0
    for draws in rng.normal(size=(trials, n, 8)):
        for sign, known in ((1, wanted - 1), (-1, n - wanted)):
            shift = np.where(np.arange(n) < known, 9.0 * sign, 0.0)
            means, sds = draws.mean(axis=1) + shift, draws.std(axis=1, ddof=1)
            compared = [Comparison(Estimate(m, sd, 8)) for m, sd in zip(means, sds, strict=True)]
            found = decide(compared, "most").detail
            holds += sign > 0 and found == "holds"
            fails += sign < 0 and found == "fails"
    assert max(holds, fails) / trials <= 0.025 + 4 * np.sqrt(0.025 * 0.975 / trials)


def test_a_tie_of_a_few_runs_is_no_certainty():
    for n, equal, less in ((3, "undecided", "undecided"), (19, "holds", "fails")):
        a, b = over(np.linspace(90, 91, n)), over(np.linspace(90, 91, n))
        assert decide([Comparison(a - b, or_equal=True)]).detail == equal
        assert decide([Comparison(a - b)]).detail == less
        level = over([8.0] * n)
        for difference in (level - Estimate(8.0), Estimate(8.0) - level):
            assert decide([Comparison(difference, or_equal=True)]).detail == equal
    assert decide([Comparison(a - a, or_equal=True), Comparison(a - Estimate(80.0))]).detail == "holds"


def test_a_few_equal_runs_are_no_certainty():
    claim = CLAIM | {"value": "3", "quantity": "n_components_removed"}
    for value, n, detail in (
        (3.0, 4, "reproduced"),
        (4.0, 4, "too few runs"),
        (4.0, 19, "higher"),
        (9.0, 4, "higher"),
        (0.0, 10, "lower"),
    ):
        found = evaluate_number(claim, over([value] * n))
        assert found.at_resolution(1.0).detail == detail
    assert evaluate_number(claim, Estimate(4.0)).detail == "higher"  # counted, not measured


@pytest.mark.parametrize("n", [2, 5, 20])
def test_error_rate_of_counts(n):
    """Runs that are one larger in some cases: a result like ours differs in 5% of cases at most, although many sets of runs are equal."""
    rng, trials = np.random.default_rng(11), 400
    claim = CLAIM | {"quantity": "n_components_removed"}
    for share in (0.05, 0.3):
        wrong = 0
        for draws in 10.0 + (rng.random((trials, n + 1)) < share):
            ours = Estimate(draws[1:].mean(), draws[1:].std(ddof=1), n)
            wrong += evaluate_number(claim | {"value": f"{draws[0]:.0f}"}, ours).detail in (
                "higher",
                "lower",
            )
        assert wrong / trials <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / trials)


@pytest.mark.parametrize(
    ("printed", "band"), [("2", 1), ("96", 1), ("25", 1), ("84.5", 0.1), ("50", 5), ("10", 5), ("10.0", 0.1)]
)
def test_around_widens_the_interval(printed, band):
    assert estimates.around(printed) == pytest.approx(band)
    assert band > half_a_digit(printed)
    claim = CLAIM | {"value": printed, "setting": "passes=30;approx=yes"}
    value = float(printed)
    for shift, detail in ((0.99, "reproduced"), (1.01, "better"), (-1.01, "worse")):
        assert evaluate_number(claim, Estimate(value + shift * band)).detail == detail
    exactly = evaluate_number(claim | {"setting": "passes=30"}, Estimate(value + 0.99 * band)).detail
    assert exactly == "better"


def test_a_few_test_samples_decide_nothing():
    """McNemar's exact test of five rows, all in one direction, has p = .06, and of six .03."""
    assert stats.binomtest(5, 5).pvalue > 0.05 > stats.binomtest(6, 6).pvalue
    claim = CLAIM | {"value": "84.33"}
    for rows, detail in ((8432, "reproduced"), (8428, "reproduced"), (8427, "worse"), (8439, "better")):
        assert evaluate_number(claim, Estimate.fixed(rows / 100, 10_000)).detail == detail
    a, b, c = (Estimate.fixed(rows / 100, 10_000) for rows in (8430, 8435, 8436))
    assert decide([Comparison(b - a)]).detail == "not testable"
    assert decide([Comparison(c - a)]).detail == "holds"
    assert decide([Comparison(a - c)]).detail == "fails"
    assert decide([Comparison(a - Estimate.fixed(84.3, 10_000), or_equal=True)]).detail == "undecided"
    # Beside something random they widen its interval.
    low, high = (over([84.1, 84.2, 84.3]) - a).interval()
    alone = np.subtract(*over([84.1, 84.2, 84.3]).interval()[::-1])
    assert high - low == pytest.approx(alone + 2 * 0.05)
