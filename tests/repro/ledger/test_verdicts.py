"""The one rule of the verdicts."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skem.repro.ledger import estimates, verdicts
from skem.repro.ledger.estimates import Estimate, half_a_digit
from skem.repro.ledger.verdicts import all_of, any_of, evaluate, greater, judge_number

CLAIM = {"value": "97.48", "trials": "", "quantity": "accuracy_pct", "setting": ""}


def over(values, protocol="best-pass"):
    return Estimate.of(pd.Series(values), protocol)


# Numbers


@pytest.mark.parametrize(
    ("printed", "half"), [("97.48", 0.005), ("95.0", 0.05), ("26", 0.5), ("1e5", 5e4), ("0.083", 0.0005)]
)
def test_half_a_digit(printed, half):
    assert half_a_digit(printed) == pytest.approx(half)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 40), trials=st.integers(1, 200), shift=st.floats(-6, 6), seed=st.integers(0, 2**32 - 1)
)
def test_a_number_is_reproduced_inside_the_prediction_interval(n, trials, shift, seed):
    values = np.random.default_rng(seed).normal(97, 0.2, n)
    sd = values.std(ddof=1)
    half = stats.t.ppf(0.975, n - 1) * sd * np.sqrt(1 / n + 1 / trials) + 0.005
    value = values.mean() + shift * half / 3
    claim = CLAIM | {"value": f"{value:.2f}", "trials": str(trials)}
    found = judge_number(claim, over(values))
    gap = abs(float(claim["value"]) - values.mean())
    if abs(gap - half) > 1e-9:
        wanted = (
            "reproduced" if gap < half else "better" if values.mean() > float(claim["value"]) else "worse"
        )
        assert found.verdict == wanted
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half))


def test_the_rule_covers_a_result_like_the_papers_as_often_as_it_says():
    """Both results from the same distribution: reproduced 19 times of 20."""
    rng = np.random.default_rng(0)
    n, trials, hits = 5, 20, 0
    for _ in range(4000):
        theirs = rng.normal(90, 1, trials).mean()
        claim = CLAIM | {"value": f"{theirs:.6f}", "trials": str(trials)}
        hits += judge_number(claim, over(rng.normal(90, 1, n))).verdict == "reproduced"
    assert hits / 4000 == pytest.approx(0.95, abs=0.012)


def test_what_is_the_same_in_every_run_has_half_a_digit():
    assert judge_number(CLAIM, Estimate(97.484)).verdict == "reproduced"
    assert judge_number(CLAIM, Estimate(97.486)).verdict == "better"
    assert judge_number(CLAIM, Estimate(97.474)).verdict == "worse"


def test_one_run_of_something_random_decides_nothing():
    found = judge_number(CLAIM, over([97.48]))
    assert (found.verdict, found.note) == ("undecided", "one run: no spread")


def test_less_time_is_better():
    claim = CLAIM | {"value": "26", "quantity": "seconds_per_pass"}
    assert judge_number(claim, over([0.07, 0.08, 0.09])).verdict == "better"
    assert judge_number(claim, over([70.0, 80.0, 90.0])).verdict == "worse"
    assert judge_number(claim, over([0.01, 0.01, 0.09])).low == 0  # no time is negative


def test_a_bound_holds_on_its_side():
    claim = CLAIM | {"value": "5", "setting": "n_features=36;bound=lower"}
    assert judge_number(claim, Estimate(5.2)).verdict == "reproduced"
    assert judge_number(claim, over([4.81, 4.8, 4.79])).verdict == "worse"
    assert judge_number(claim, over([4.0, 7.0])).verdict == "undecided"
    upper = claim | {"setting": "bound=upper"}
    assert judge_number(upper, Estimate(5.2)).verdict == "worse"


def test_a_spread_is_compared_through_f():
    claim = CLAIM | {"value": "0.60", "quantity": "accuracy_std_pct", "trials": "20"}
    estimate = Estimate(0.5, float("nan"), 58, None)
    low, high = 0.5 * np.sqrt(stats.f.ppf([0.025, 0.975], 19, 57))
    found = judge_number(claim, estimate)
    assert (found.low, found.high) == pytest.approx((low - 0.005, high + 0.005))
    assert found.verdict == "reproduced"
    assert judge_number(claim | {"value": "1.50"}, estimate).verdict == "better"  # ours is smaller


def test_a_claimed_maximum_is_held_against_a_maximum():
    """The best of twenty settings as good as each other lies above a typical one, and is no better than ours."""
    rng = np.random.default_rng(5)
    verdicts, typical = [], []
    for _ in range(400):
        settings = {str(i): over(rng.normal(97, 0.1, 2)) for i in range(20)}
        claim = CLAIM | {"value": f"{rng.normal(97, 0.1, 20).max():.2f}"}
        best = estimates.maximum(settings, list(settings))
        runs = [settings[name].runs for name in settings]
        assert best.mean == pytest.approx(np.mean([max(r[i] for r in runs) for i in range(2)]))
        verdicts.append(judge_number(claim, best).verdict)
        typical.append(judge_number(claim, over(rng.normal(97, 0.1, 40))).verdict)
    once = {name: over([97.0 + i]) for i, name in enumerate("ab")}
    assert judge_number(CLAIM, estimates.maximum(once, ["a", "b"])).verdict == "undecided"
    assert verdicts.count("reproduced") >= 0.95 * 400
    assert typical.count("reproduced") < 0.7 * 400


def test_a_printed_spread_is_told_beside_ours():
    claim = CLAIM | {"spread": "0.90", "spread_kind": "3sigma", "trials": "100"}
    rng = np.random.default_rng(6)
    note = judge_number(claim, over(rng.normal(97.18, 0.3, 100))).note
    assert "the paper's standard deviation 0.3 is as ours, 0.29" in note
    assert "1.0 of it apart" in note
    assert "unlike ours" in judge_number(claim, over(rng.normal(97.18, 0.6, 100))).note


def test_a_spread_from_one_run_decides_nothing():
    claim = CLAIM | {"quantity": "accuracy_std_pct", "value": "0.5"}
    assert judge_number(claim, Estimate(float("nan"), float("nan"), 1)).verdict == "undecided"


# Orderings


def test_an_equivalence_tells_the_difference_and_not_how_far_the_margin_is():
    rng = np.random.default_rng(7)
    a, b = over(rng.normal(84.5, 0.1, 10)), over(rng.normal(84.8, 0.1, 10))
    found = all_of(verdicts.equivalent(a, b, 1.0, "k-NN"))
    assert (found.verdict, found.measured) == ("holds", pytest.approx(a.mean - b.mean))
    assert found.low < found.measured < found.high < 0


def test_a_comparison_is_paired_where_runs_are_shared():
    rng = np.random.default_rng(1)
    common = rng.normal(0, 5, 12)  # what both have in common drowns the difference unless it is paired
    a, b = pd.Series(common + 1 + rng.normal(0, 0.1, 12)), pd.Series(common)
    assert all_of([greater(over(a), over(b))]).verdict == "holds"
    assert all_of([greater(over(b), over(a))]).verdict == "fails"
    apart = Estimate.of(b.set_axis(range(100, 112)))
    found = all_of([greater(over(a), apart)])
    assert found.verdict == "undecided"
    welch = stats.ttest_ind(a, b, equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx((welch.low, welch.high))


def test_all_and_any():
    rng = np.random.default_rng(2)
    up, level, down = (over(rng.normal(m, 1, 30)) for m in (3, 0, -3))
    zero = Estimate(0.0)
    assert all_of([greater(up, zero), greater(up, down)]).verdict == "holds"
    assert all_of([greater(up, zero), greater(level, zero)]).verdict == "undecided"
    assert all_of([greater(up, zero), greater(down, zero)]).verdict == "fails"
    assert any_of([greater(level, zero), greater(up, zero)]).verdict == "holds"
    assert any_of([greater(level, zero), greater(down, zero)]).verdict == "undecided"
    assert any_of([greater(down, zero), greater(down, level)]).verdict == "fails"


def test_many_true_orderings_do_not_fail_by_chance():
    """Two hundred comparisons of equals: at 95% each, five would be on the wrong side."""
    rng = np.random.default_rng(3)
    failed = [
        all_of(greater(over(rng.normal(0, 1, 20)), over(rng.normal(0, 1, 20))) for _ in range(40)).verdict
        for _ in range(40)
    ]
    assert failed.count("fails") <= 5
    assert "holds" not in failed


# What the rules leave to judgement, an example of every verdict


@pytest.mark.parametrize(
    ("printed", "band"), [("2", 1), ("96", 1), ("25", 1), ("84.5", 0.1), ("50", 5), ("10", 5), ("10.0", 0.1)]
)
def test_around_is_wider_than_what_is_printed_without_it(printed, band):
    assert estimates.around(printed) == pytest.approx(band)
    assert band > half_a_digit(printed)
    claim = CLAIM | {"value": printed, "setting": "passes=30;approx=yes"}
    value = float(printed)
    for shift, verdict in ((0.99, "reproduced"), (1.01, "better"), (-1.01, "worse")):
        assert judge_number(claim, Estimate(value + shift * band)).verdict == verdict
    exactly = judge_number(claim | {"setting": "passes=30"}, Estimate(value + 0.99 * band)).verdict
    assert exactly == "better"


def test_a_few_test_images_decide_nothing():
    """McNemar's exact test of five rows, all in one direction, has p = .06, and of six .03."""
    assert stats.binomtest(5, 5).pvalue > 0.05 > stats.binomtest(6, 6).pvalue
    claim = CLAIM | {"value": "84.33"}
    for rows, verdict in ((8432, "reproduced"), (8428, "reproduced"), (8427, "worse"), (8439, "better")):
        assert judge_number(claim, Estimate.fixed(rows / 100, 10_000)).verdict == verdict
    a, b, c = (Estimate.fixed(rows / 100, 10_000) for rows in (8430, 8435, 8436))
    assert all_of([greater(b, a)]).verdict == "undecided"
    assert all_of([greater(c, a)]).verdict == "holds"
    assert all_of([greater(a, c)]).verdict == "fails"
    assert all_of([greater(a, a, or_equal=True)]).verdict == "undecided"
    # Beside something random they widen its interval.
    low, high = (over([84.1, 84.2, 84.3]) - a).interval()
    alone = np.subtract(*over([84.1, 84.2, 84.3]).interval()[::-1])
    assert high - low == pytest.approx(alone + 2 * 0.05)


def test_around_widens_no_spread():
    """A unit of the last digit of .1 is all of it: ten spreads agreed, half of them by that alone."""
    claim = CLAIM | {"value": "0.1", "quantity": "accuracy_std_pct", "trials": "20"}
    for sd, verdict in ((0.1, "reproduced"), (0.3, "worse"), (0.02, "better")):
        exactly, around = (
            judge_number(claim | {"setting": setting}, Estimate(sd, float("nan"), 60, None))
            for setting in ("", "approx=yes")
        )
        assert exactly == around
        assert around.verdict == verdict


def test_where_neither_is_a_merit_there_is_no_better():
    claim = CLAIM | {"value": "24", "quantity": "peak_pass"}
    told = [judge_number(claim, over([m - 0.1, m, m + 0.1])).verdict for m in (20, 24, 28)]
    assert told == ["lower", "reproduced", "higher"]


def test_an_interval_wider_than_what_is_claimed_says_nothing():
    """The paper has two methods .8 apart."""
    sharp, blunt, one = over([97.4, 97.45, 97.5] * 9), over([97.0, 97.4, 97.9]), CLAIM | {"trials": "40"}
    assert judge_number(CLAIM, sharp).sharp_enough(0.8).verdict == "reproduced"
    assert judge_number(one, blunt).sharp_enough(0.8).verdict == "too few runs"
    found = judge_number(CLAIM, blunt).sharp_enough(0.8)  # a single result of the paper's is as uncertain
    assert found.verdict == "not testable"
    assert "1.8" in found.note
    assert judge_number(CLAIM, blunt).sharp_enough(None).verdict == "reproduced"
    apart = judge_number(CLAIM | {"value": "90"}, blunt)
    assert apart.sharp_enough(0.8) == apart  # however wide, 90 is outside
    assert apart.verdict == "better"


def test_a_spread_that_only_rounding_reproduces_is_not_testable():
    claim = CLAIM | {"quantity": "accuracy_std_pct", "trials": "20", "setting": "approx=yes"}
    ours = Estimate(0.18, float("nan"), 60, None)
    low, high = 0.18 * np.sqrt(stats.f.ppf([0.025, 0.975], 19, 59))
    assert 0.1 < low < 0.15 < high < 0.3
    for value, verdict in (
        ("0.1", "not testable"),
        ("0.2", "reproduced"),
        ("0.4", "better"),
        ("0.01", "worse"),
    ):
        assert judge_number(claim | {"value": value}, ours).verdict == verdict


def test_a_difference_is_that_of_the_two_means():
    """Only where both have the same runs are they paired; else the mean would be that of the runs in common."""
    many, few = over(np.linspace(90, 99, 10)), over([90.0, 92.0])
    assert (many - few).mean == pytest.approx(many.mean - few.mean)
    assert (many - many).error == 0


def test_a_reduction_is_that_of_means_and_not_the_mean_of_ratios():
    less, more = pd.Series([1.0, 3.0, 5.0]), pd.Series([2.0, 8.0, 5.0])
    found = estimates.reduction(less, more)
    assert found.mean == pytest.approx(100 * (1 - 9 / 15))
    assert found.mean != pytest.approx(100 * (1 - (less / more).mean()))
    rng = np.random.default_rng(8)
    drawn = [(1 + 0.1 * rng.normal(size=20), 2 + 0.3 * rng.normal(size=20)) for _ in range(400)]
    spread = np.std([100 * (1 - a.mean() / b.mean()) for a, b in drawn], ddof=1)
    told = np.mean([estimates.reduction(pd.Series(a), pd.Series(b)).error for a, b in drawn])
    assert told == pytest.approx(spread, rel=0.1)


def test_spreads_are_pooled_where_they_are_alike_and_what_moves_together_counts_once():
    rng = np.random.default_rng(9)
    independent = [over(rng.normal(10, 1, 25)) for _ in range(20)]
    found = estimates.pooled_where_alike(independent[0], ("the table", independent))
    assert found.sd == pytest.approx(np.sqrt(np.mean([e.sd**2 for e in independent])))
    assert 100 < found.freedom <= 20 * 24
    assert "20 results, the table" in found.note
    same = [over(independent[0].runs + i) for i in range(20)]
    assert estimates.pooled_where_alike(same[0], ("the table", same)).freedom == pytest.approx(24)
    # Where a few are ten times as spread, only the narrower family is pooled.
    mixed = [over(rng.normal(10, 10, 25)) for _ in range(5)]
    found = estimates.pooled_where_alike(mixed[0], ("all", independent + mixed), ("these", mixed))
    assert "5 results, these" in found.note
    alone = estimates.pooled_where_alike(mixed[0], ("all", independent + mixed))
    assert (alone.sd, alone.note) == (mixed[0].sd, "")


def test_differences_that_share_a_setting_are_no_more_certain_for_being_many():
    """Settings are pooled, not differences: of equals, one to twenty others, hardly more than 5% are refuted."""
    rng = np.random.default_rng(10)
    failed = 0
    for _ in range(150):
        settings = estimates.pooled([over(rng.normal(0, 1, 3)) for _ in range(21)])
        top, *others = settings
        failed += all_of(verdicts.Comparison(top - other) for other in others).verdict == "fails"
    assert failed / 150 < 0.08


def test_a_difference_knows_a_shared_spread_no_better_than_each_of_the_two():
    a, b, c = estimates.pooled([over([1.0, 2.0]), over([2.0, 4.0]), over([3.0, 3.5])])
    assert a.freedom == 3
    assert {e.freedom for e in (a - b, a + b, a - b - c, Estimate(5.0) - a - b)} == {3}
    assert (a - b).error == pytest.approx(a.sd)
    # From another pool it is another deviation, and degrees of freedom add up.
    (other, _) = estimates.pooled([over([1.0, 2.0]), over([3.0, 5.0])])
    assert (a - other).freedom > max(a.freedom, other.freedom)


def test_settings_of_few_runs_share_their_spread():
    rng = np.random.default_rng(4)
    values = rng.normal(1, 0.5, (30, 2))
    found = estimates.pooled([over(pair) for pair in values])
    sd = np.sqrt(values.var(axis=1, ddof=1).mean())
    half = stats.t.ppf(0.975, 30) * sd / np.sqrt(2)
    for pair, estimate in zip(values, found, strict=True):
        assert estimate.interval() == pytest.approx((pair.mean() - half, pair.mean() + half))


def test_what_is_exactly_known_is_not_uncertain():
    one, two = Estimate(1.0), Estimate(2.0)
    assert all_of([greater(two, one)]).verdict == "holds"
    assert all_of([greater(one, one)]).verdict == "fails"
    assert all_of([greater(one, one, or_equal=True)]).verdict == "holds"


def test_a_constant_leaves_a_spread_and_its_runs_alone():
    """So 50 - ours is predicted as widely as ours is."""
    ours = Estimate.of(pd.Series([43.0, 44.0, 46.0]))
    for found in (Estimate(50.0) - ours, ours - Estimate(50.0)):
        assert (abs(found.mean), found.sd, found.n) == (pytest.approx(50 - ours.mean), ours.sd, 3)
        width = np.subtract(*found.interval()[::-1])
        assert width == pytest.approx(np.subtract(*ours.interval()[::-1]))
    claim = CLAIM | {"value": "5"}
    about, itself = (judge_number(claim, e) for e in (Estimate(50.0) - ours, ours))
    assert about.high - about.low == pytest.approx(itself.high - itself.low)
    one_run = Estimate.of(pd.Series([43.0]))
    assert judge_number(claim, Estimate(50.0) - one_run).verdict == "undecided"


def test_expressions():
    values = {"a": [3.0], "b": [2.0], "c": [1.0], "d.x": [7.0], "d.y": [9.0]}

    def number(name):
        if name.endswith("*"):
            return [Estimate(v[0]) for key, v in values.items() if key.startswith(name[:-1])]
        return [Estimate(values[name][0])]

    for text, wanted in {
        "[a] > [b]": "holds",
        "[a] < [b]": "fails",
        "[a] > max([b], [c]) and [b] > [c]": "holds",
        "[a] >= [a]": "holds",
        "[b] < min([a],[c])": "fails",
        "[a] - [b] > [c] - 0.5": "holds",
        "[a] > 100 - min([d.*])": "fails",
        "100 - min([d.*]) > [a]": "holds",
    }.items():
        assert evaluate(text, number).verdict == wanted, text
    for prose in ("accuracy(pskem) > accuracy(skem)", "for all K it holds", "[a] > [b] or [a] > [c]"):
        with pytest.raises(ValueError, match="not a formal expression"):
            evaluate(prose, number)
