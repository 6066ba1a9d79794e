"""Verdicts on claims, by one rule.

With n measured runs of mean a and standard deviation s, and a paper's number over ``trials`` runs, the number is *reproduced*
if it lies in the 95% prediction interval of a result like the paper's,

    a +- (t_{n-1} s sqrt(1/n + 1/trials) + half a unit of the last printed digit).

s is the spread over runs alone, since the test images are the same; deterministic results may differ by some test images
(`Estimate.fixed`). "Around" widens the half unit (`estimates.around`), but not of a standard deviation: one unit of ".1" is as
large as the value. Orderings and statements hold by the 95% interval of a difference, paired if both have the same runs, else
Welch's. Levels of several comparisons are shared (Bonferroni). ``docs/reproduce/protocols.md`` explains every verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy

from skem.repro.ledger.estimates import LEVEL, Claim, Estimate, around, half_a_digit, setting_of

QUOTED, VERIFIED = "quoted result", "verified analytically"
NOT_COMPARABLE = "not comparable"
"""Verdict on measurements that cannot agree with the paper or differ from it: unknown networks, other machines, other data."""
OPEN = ("undecided", "too few runs", "not testable")
"""Verdicts that contradict no other."""

VERDICTS = (
    *("reproduced", "better", "worse", "higher", "lower", "holds", "fails"),
    *(*OPEN, NOT_COMPARABLE, QUOTED, VERIFIED, "not run", "not built"),
)

SECONDS = ("seconds_per_pass", "fit_seconds")
TIMED = (*SECONDS, "seconds_per_iteration", "ratio", "speedup", "kmeans_share_pct")
"""Quantities that differ in every run; their claims go to a file of their own."""

SMALLER_IS_BETTER = (
    *SECONDS,
    *("accuracy_std_pct", "accuracy_loss_pct", "error_pct", "normalized_mean_error_pct"),
)

NO_MERIT = (
    *("peak_pass", "peak_pass_min", "peak_pass_max", "best_n_components_min", "best_n_components_max"),
    *("shared_proportion_reduction_pct", "km_iter", "em_iter_min", "em_iter_max", "samples_per_component"),
    *("kmeans_share_pct", "n_nonzero_weights", "normalized_mean_n_nonzero_weights", "n_components_removed"),
    *("n_components_removed_per_class", "weight_reduction_pct"),
    *("weight_reduction_pct_min", "weight_reduction_pct_max"),
)
"""Quantities of which neither more nor less is better."""

NAN = float("nan")


def joined(*notes: str) -> str:
    """Join the notes that are not empty."""
    return "; ".join(filter(None, notes))


def listed(estimates: Mapping[str, Estimate], form: str = "{:.2f}") -> str:
    """List the means of estimates by name, as in "LDA 92.10, QDA 91.20"."""
    return ", ".join(f"{name} {form.format(e.mean)}" for name, e in estimates.items())


@dataclass(frozen=True)
class Evaluation:
    """A verdict on a claim.

    Attributes
    ----------
    verdict : str
        One of `VERDICTS`.
    measured, low, high : float
        Mean, and the interval that decided.
    n : float
        Number of runs.
    protocol, note : str
    narrowest : float
        Width of the interval in the limit of many runs of ours.
    """

    verdict: str
    measured: float = NAN
    low: float = NAN
    high: float = NAN
    n: float = NAN
    protocol: str = ""
    note: str = ""
    narrowest: float = NAN

    def at_resolution(self, resolution: float | None) -> Evaluation:
        """Withdraw *reproduced* if the interval is wider than the differences that the paper claims."""
        width = self.high - self.low
        if self.verdict != "reproduced" or resolution is None or not width > resolution:
            return self
        note = f"interval {width:.2g} wide, and the paper's claims there are {resolution:.2g} apart at most"
        if not self.narrowest > resolution:
            return replace(self, verdict="too few runs", note=joined(note, self.note))
        note += f"; one result of the paper's is too uncertain, whatever the number of runs ({self.narrowest:.2g})"
        return replace(self, verdict="not testable", note=joined(note, self.note))


def not_built(claim: Claim) -> Evaluation:
    """Return the verdict on a claim of a paper without evaluators."""
    return Evaluation(QUOTED if claim["external"] == "yes" else "not built")


def departure(quantity: str, larger: bool) -> str:
    """Return the verdict on a number that is not reproduced, given if ours is larger."""
    if quantity in NO_MERIT:
        return "higher" if larger else "lower"
    return "better" if larger != (quantity in SMALLER_IS_BETTER) else "worse"


def _interval_of_sd(sd: float, trials: int, freedom: float) -> tuple[float, float]:
    """Return the 95% prediction interval of a standard deviation over so many trials."""
    low, high = np.sqrt(scipy.stats.f.interval(LEVEL, max(trials - 1, 1), freedom))
    return sd * float(low), sd * float(high)


def _printed_sd(claim: Claim, estimate: Estimate, trials: int) -> str:
    """Compare the paper's standard deviation after "+-" with ours, and the means in its units."""
    if not claim.get("spread") or not estimate.freedom > 0 or trials < 2:
        return ""
    printed = float(claim["spread"]) / float(claim["spread_kind"].removesuffix("sigma"))
    digit = half_a_digit(claim["spread"])
    low, high = _interval_of_sd(estimate.sd, trials, estimate.freedom)
    agrees = "as ours" if low - digit <= printed <= high + digit else "unlike ours"
    apart = abs(estimate.mean - float(claim["value"])) / printed
    return f"the paper's standard deviation {printed:.2g} is {agrees}, {estimate.sd:.2g}; {apart:.1f} of it apart"


def evaluate_number(claim: Claim, estimate: Estimate) -> Evaluation:
    """Compare a printed number with an estimate, by the rule at the top of this module."""
    value, digit = float(claim["value"]), half_a_digit(claim["value"])
    trials, is_sd = int(claim["trials"] or 1), "std" in claim["quantity"]
    setting = setting_of(claim)
    if setting.get("approx") == "yes" and not is_sd:
        digit = around(claim["value"])
    narrowest = 2 * (digit + estimate.grain)

    def evaluation(verdict: str, low: float = NAN, high: float = NAN, more: str = "") -> Evaluation:
        note = joined(estimate.note, more, _printed_sd(claim, estimate, trials))
        return Evaluation(verdict, estimate.mean, low, high, estimate.n, estimate.protocol, note, narrowest)

    if bound := setting.get("bound"):
        low, high = estimate.interval()
        inside, outside = (low - value, high - value) if bound == "lower" else (value - high, value - low)
        verdict = "reproduced" if inside >= 0 else "worse" if outside < 0 else "undecided"
        return evaluation(verdict, low, high)
    if estimate.sd == 0:
        low, high = estimate.interval()
    elif not estimate.freedom > 0:
        return evaluation("undecided", more="one run: no spread")
    elif is_sd:
        low, high = _interval_of_sd(estimate.mean, trials, estimate.freedom)
        narrowest -= np.subtract(*_interval_of_sd(estimate.mean, trials, 1e9))
    else:
        t, z = scipy.stats.t.ppf((1 + LEVEL) / 2, estimate.freedom), scipy.stats.norm.ppf((1 + LEVEL) / 2)
        half = t * estimate.sd * np.sqrt(1 / estimate.n + 1 / trials) + estimate.grain
        narrowest += 2 * z * estimate.sd / np.sqrt(trials)
        low, high = estimate.mean - half, estimate.mean + half
    near = 1e-12 * abs(value)
    unrounded = low - near <= value <= high + near
    low, high = low - digit, high + digit
    if claim["quantity"] in TIMED:
        low = max(low, 0.0)
    if not low - near <= value <= high + near:
        return evaluation(departure(claim["quantity"], estimate.mean > value), low, high)
    if is_sd and not unrounded and estimate.sd != 0:
        coarse = "the printed digit is too coarse: only its rounding decides"
        return evaluation("not testable", low, high, coarse)
    return evaluation("reproduced", low, high)


@dataclass(frozen=True)
class Comparison:
    """The hypothesis that a difference is positive (if ``or_equal``, not negative).

    ``shown`` is the difference shown instead, if ``difference`` is only a step of the argument.
    """

    difference: Estimate
    or_equal: bool = False
    what: str = ""
    shown: Estimate | None = None

    def _interval(self, share: int) -> tuple[float, float]:
        """Return the interval at 95%; ``share`` comparisons share the level."""
        return self.difference.interval(1 - (1 - LEVEL) / share)

    @property
    def _exactly_zero(self) -> bool:
        return self.difference.mean == self.difference.error == self.difference.grain == 0

    def holds(self, share: int = 1) -> bool:
        """Return True if the interval is on the side of the hypothesis."""
        return bool(self._interval(share)[0] > 0 or (self.or_equal and self._exactly_zero))

    def fails(self, share: int = 1) -> bool:
        """Return True if the interval is on the other side."""
        return bool(self._interval(share)[1] < 0 or (not self.or_equal and self._exactly_zero))


def greater(a: Estimate, b: Estimate, what: str = "", or_equal: bool = False) -> Comparison:
    """State that a is greater than b on average."""
    return Comparison(a - b, or_equal, what)


def equivalent(a: Estimate, b: Estimate, margin: float, what: str) -> list[Comparison]:
    """State that two means differ by less than a margin, in either direction."""
    d = a - b
    return [
        Comparison(replace(d, mean=margin - sign * d.mean, runs=None), what=what, shown=d) for sign in (1, -1)
    ]


def all_of(comparisons: Iterable[Comparison], note: str = "") -> Evaluation:
    """Evaluate the claim that all comparisons hold."""
    several = list(comparisons)
    wrong = [c for c in several if c.fails(len(several))]
    open_ = [c for c in several if not c.holds()]
    verdict = "fails" if wrong else "undecided" if open_ else "holds"
    # A comparison of something with itself holds, and shows nothing.
    telling = [c for c in several if c.difference.error > 0 or c.difference.mean] or several
    worst = min(wrong or open_ or telling, key=lambda c: c.difference.mean)
    if len(several) > 1:
        held = sum(c.holds() for c in several)
        least = f"least: {worst.what}" if worst.what else ""
        note = joined(note, f"{held} of {len(several)} comparisons hold, {len(wrong)} fail", least)
    return _evaluation(verdict, worst, note, 1 if verdict == "holds" else len(several))


def at_least(wanted: int, comparisons: Iterable[Comparison], note: str = "") -> Evaluation:
    """Evaluate the claim that so many comparisons hold; it fails if too few are not refuted."""
    several = list(comparisons)
    held, possible = sum(c.holds() for c in several), sum(not c.fails() for c in several)
    on_its_side = sum(c.difference.mean > 0 for c in several)
    verdict = "holds" if held >= wanted else "fails" if possible < wanted else "undecided"
    count = f"{on_its_side} of {len(several)} are on its side, {held} at 95%; {wanted} are needed"
    return Evaluation(verdict, on_its_side, held, possible, len(several), note=joined(note, count))


def any_of(comparisons: Iterable[Comparison], note: str = "") -> Evaluation:
    """Evaluate the claim that one of several comparisons holds."""
    several = list(comparisons)
    held = any(c.holds(len(several)) for c in several)
    verdict = "holds" if held else "fails" if all(c.fails() for c in several) else "undecided"
    best = max(several, key=lambda c: c.difference.mean)
    note = joined(note, f"best: {best.what}" if best.what else "")
    return _evaluation(verdict, best, note, 1 if verdict == "fails" else len(several))


def _evaluation(verdict: str, comparison: Comparison, note: str, share: int) -> Evaluation:
    shown = comparison.shown or comparison.difference
    low, high = shown.interval(1 - (1 - LEVEL) / share)
    n = shown.n if shown.dof is None else NAN
    return Evaluation(verdict, shown.mean, low, high, n, shown.protocol, note)


_ORDERING = re.compile(r"\[([\w.-]+)\] (<=|>=|<|>) \[([\w.-]+)\]")


def _orderings(expression: str) -> list[tuple[str, str, str]]:
    found = [_ORDERING.fullmatch(part) for part in expression.split(" and ")]
    return [(match[1], match[2], match[3]) for match in found if match] if all(found) else []


def compared_claims(expression: str) -> list[str]:
    """Return the ids that a formal expression compares, in order; none of prose."""
    return [id for a, _, b in _orderings(expression) for id in (a, b)]


def evaluate_ordering(expression: str, number: Callable[[str], Estimate]) -> Evaluation:
    """Evaluate a formal expression, such as ``[table1.a] > [table1.b] and [table1.a] <= [table1.c]``.

    Parameters
    ----------
    expression : str
    number : callable
        From an id to its estimate.
    """
    comparisons = []
    for left, sign, right in _orderings(expression):
        a, b = (number(left), number(right)) if ">" in sign else (number(right), number(left))
        comparisons.append(greater(a, b, or_equal="=" in sign))
    return all_of(comparisons)
