"""Outcomes of claims under one interpretation, in detail, by one rule.

With n measured runs of mean a and standard deviation s, and a paper's number over ``trials`` runs, the number is *reproduced*
if it lies in the 95% prediction interval of a result like the paper's,

    a +- (t_{n-1} s sqrt(1/n + 1/trials) + half a unit of the last printed digit).

s is the spread over runs alone, since the test images are the same; deterministic results may differ by some test images
(`Estimate.fixed`). "Around" widens the half unit (`estimates.around`), of a standard deviation to half its value at most: one unit of
".1" is as large as the value. An interval that says little decides nothing (`Evaluation.at_resolution`). Orderings and statements
hold by the 95% interval of a difference, paired if both have the same runs, else Welch's; levels of several comparisons are shared
(`decide`). ``docs/reproduce/protocols.md`` explains every outcome.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy

from skem.repro.ledger.estimates import CERTAIN, LEVEL, Claim, Estimate, around, half_a_digit, setting_of

QUOTED, VERIFIED = "quoted result", "verified analytically"
NOT_COMPARABLE = "not comparable"
"""Outcome of measurements that cannot agree with the paper or differ from it: unknown networks, other machines, other data."""
OPEN = ("undecided", "too few runs", "not testable")
"""Outcomes that contradict no other."""

DETAILS = (
    *("reproduced", "better", "worse", "higher", "lower", "holds", "fails"),
    *(*OPEN, NOT_COMPARABLE, QUOTED, VERIFIED, "not run"),
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
    *("weight_reduction_pct_min", "weight_reduction_pct_max", "printed_std", "n_grey_levels"),
)
"""Quantities of which neither more nor less is better."""

SIGNED = ("_pct", "_fraction", "log_likelihood")
"""Endings of quantities whose zero is no limit; all others, and standard deviations, are positive by nature."""

MAGNITUDE = 10.0
"""Largest ratio of the ends of an interval of a positive quantity that says something about it."""

NAN = float("nan")


def joined(*notes: str) -> str:
    """Join the notes that are not empty."""
    return "; ".join(filter(None, notes))


@dataclass(frozen=True)
class Evaluation:
    """The outcome of a claim under one interpretation."""

    detail: str  # one of `DETAILS`
    measured: float = NAN
    low: float = NAN  # ends of the interval that decided
    high: float = NAN
    n: float = NAN  # runs, see `Estimate.n_runs`
    protocol: str = ""
    note: str = ""
    # The interval without the rounding of the printed digit, of a number that may lie outside.
    unrounded: tuple[float, float] = (NAN, NAN)
    narrowest: float = NAN  # width of ``unrounded`` in the limit of many runs of ours
    positive: bool = False  # a quantity that is positive by nature
    spread: Evaluation | None = None  # of the standard deviation that the paper prints after the number

    def at_resolution(self, resolution: float | None = None) -> Evaluation:
        """Withdraw *reproduced* if the interval, without rounding, says too little.

        It may not be wider than the largest difference that the paper claims there, nor, if the quantity is positive, span more than an
        order of magnitude. If more runs of ours would not change that, the number is *not testable*.
        """
        (low, high), half = self.unrounded, self.narrowest / 2
        if self.detail != "reproduced" or not (fault := self._fault(low, high, resolution)):
            return self
        if limit := self._fault(self.measured - half, self.measured + half, resolution):
            note = (
                f"{fault}; one result of the paper's is too uncertain, whatever the number of runs ({limit})"
            )
            return replace(self, detail="not testable", note=joined(note, self.note))
        return replace(self, detail="too few runs", note=joined(fault, self.note))

    def _fault(self, low: float, high: float, resolution: float | None) -> str:
        """Return the reason why an interval says too little, or nothing."""
        if self.positive and high > MAGNITUDE * max(low, 0.0):
            return (
                f"the interval from {max(low, 0.0):.2g} to {high:.2g} spans more than an order of magnitude"
            )
        if resolution is not None and high - low > resolution:
            return f"interval {high - low:.3g} wide, and the paper's claims there are {resolution:.3g} apart at most"
        return ""


def departure(quantity: str, larger: bool) -> str:
    """Return the outcome of a number that is not reproduced, given if ours is larger."""
    if quantity in NO_MERIT:
        return "higher" if larger else "lower"
    return "better" if larger != (quantity in SMALLER_IS_BETTER) else "worse"


def _prediction(estimate: Estimate, trials: int, is_sd: bool) -> tuple[float, float, float]:
    """Return the ends of the prediction interval of a mean or a standard deviation over so many trials, and its width for many runs of ours."""
    if estimate.sd == 0:
        return *estimate.interval(), 2 * estimate.grain
    if is_sd:
        (low, high), (lowest, highest) = (
            estimate.mean * np.sqrt(scipy.stats.f.interval(LEVEL, max(trials - 1, 1), freedom))
            for freedom in (estimate.freedom, 1e9)
        )
        return float(low), float(high), float(highest - lowest)
    one = estimate.sd * np.sqrt(1 / trials + estimate.overlap)
    t, z = scipy.special.stdtrit([estimate.freedom, 1e9], (1 + LEVEL) / 2)
    half = float(t * np.hypot(estimate.error, one)) + estimate.grain
    return estimate.mean - half, estimate.mean + half, 2 * float(z * one + estimate.grain)


def evaluate_number(claim: Claim, estimate: Estimate) -> Evaluation:
    """Compare a printed number with an estimate, by the rule at the top of this module."""
    value, digit = float(claim["value"]), half_a_digit(claim["value"])
    quantity, setting, is_sd = claim["quantity"], setting_of(claim), "std" in claim["quantity"]
    positive = is_sd or not quantity.endswith(SIGNED)
    if setting.get("approx") == "yes":
        digit = min(around(claim["value"]), value / 2) if is_sd else around(claim["value"])
    found = Evaluation(
        "undecided",
        estimate.mean,
        n=estimate.n_runs,
        protocol=estimate.protocol,
        note=estimate.note,
        positive=positive,
    )
    few_equal = estimate.sd == 0 and 1 < estimate.n < CERTAIN
    if few_equal:  # no certainty: as if one run more differed by a unit of the last printed digit
        estimate = replace(estimate, sd=2 * half_a_digit(claim["value"]) / np.sqrt(estimate.n + 1))
    if bound := setting.get("bound"):
        low, high = estimate.interval()
        inside, outside = (low - value, high - value) if bound == "lower" else (value - high, value - low)
        violated = departure(quantity, larger=bound == "upper")
        detail = "reproduced" if inside >= 0 else violated if outside < 0 else "undecided"
        return replace(found, detail=detail, low=low, high=high)
    if not estimate.freedom > 0 and estimate.sd != 0:
        return replace(found, note=joined(estimate.note, "one run: no spread"))
    low, high, narrowest = _prediction(estimate, int(claim["trials"] or 1), is_sd)
    found = replace(found, unrounded=(low, high), narrowest=narrowest)
    near = digit + 1e-12 * abs(value)
    inside = low - near <= value <= high + near
    low, high = low - digit, high + digit
    detail = "reproduced" if inside else departure(quantity, larger=estimate.mean > value)
    if inside and few_equal and abs(estimate.mean - value) <= near:
        found = replace(found, unrounded=(estimate.mean, estimate.mean))
    elif inside and few_equal:
        detail, note = "too few runs", f"{estimate.n} equal runs may be a coincidence; {CERTAIN} would not"
        found = replace(found, note=joined(note, estimate.note))
    return replace(found, detail=detail, low=max(low, 0.0) if positive else low, high=high)


def evaluate_spread(claim: Claim, estimate: Estimate) -> Evaluation | None:
    """Compare the standard deviation that a paper prints after "+-" with that of an estimate, in the paper's units; None without one."""
    spread = estimate.spread or Estimate(estimate.sd, NAN, estimate.n, dof=estimate.freedom)
    if (
        not claim.get("spread")
        or int(claim["trials"] or 1) < 2
        or not (spread.mean >= 0 and spread.freedom > 0)
    ):
        return None
    scale = float(claim["spread_kind"].removesuffix("sigma"))
    stated = {"value": claim["spread"], "quantity": "printed_std", "trials": claim["trials"], "setting": ""}
    return evaluate_number(stated, replace(spread, mean=scale * spread.mean, sd=NAN)).at_resolution()


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
        """No difference between constants, or in so many runs that this is no coincidence."""
        d = self.difference
        return d.mean == d.error == d.grain == 0 and not 1 < d.n < CERTAIN

    @property
    def certainty(self) -> float:
        """Minus the logarithm of the p-value of the difference; negative if it contradicts the hypothesis."""
        d = self.difference
        if self._exactly_zero:
            return np.inf if self.or_equal else -np.inf
        beyond = abs(d.mean) - d.grain
        if not beyond > 0 or np.isnan(d.error):
            return 0.0
        tail = scipy.special.stdtr(d.freedom, -beyond / d.error) if d.error else 0.0
        return float(np.copysign(-np.log(max(tail, 1e-300)), d.mean))

    def holds(self, share: int = 1) -> bool:
        """Return True if the interval is on the side of the hypothesis."""
        return bool(self._interval(share)[0] > 0 or (self.or_equal and self._exactly_zero))

    def fails(self, share: int = 1) -> bool:
        """Return True if the interval is on the other side."""
        return bool(self._interval(share)[1] < 0 or (not self.or_equal and self._exactly_zero))


Need = Literal["all", "any", "most"]
"""Comparisons that must hold."""

RELATIONS = (">", ">=", "not above", "within")
"""Relations of two means; "not above" and "within" are by ``slack``."""


def related(a: Estimate, relation: str, b: Estimate, slack: float = 0.0, what: str = "") -> list[Comparison]:
    """State that two means have a relation.

    a > b, also by less than ``slack`` below; a is not above b by more than ``slack``; a and b differ by no more than ``slack``.
    """
    d = a - b
    if relation in (">", ">=") and not slack:
        return [Comparison(d, relation == ">=", what)]
    if relation in (">", ">="):
        return [Comparison(replace(d, mean=d.mean + slack, runs=None), relation == ">=", what, shown=d)]
    signs = (1, -1) if relation == "within" else (1,)
    return [
        Comparison(replace(d, mean=slack - sign * d.mean, runs=None), what=what, shown=d) for sign in signs
    ]


def decide(comparisons: Iterable[Comparison], need: Need = "all", note: str = "") -> Evaluation:
    """Evaluate the claim that all, any or most of several comparisons hold.

    If k are needed, the k-th most certain one decides. It is found after the fact, so its level is shared among all that could have been the last
    one needed: to hold, among those up to the number that may be missing; to fail, among k (Benjamini and Heller 2008).
    """
    several = sorted(comparisons, key=lambda c: (c.certainty, c.difference.mean), reverse=True)
    n = len(several)
    wanted = {"all": n, "any": 1, "most": n // 2 + 1}[need]
    decisive, spare = several[wanted - 1], n - wanted + 1
    holds, fails = decisive.holds(spare), decisive.fails(wanted)
    detail, share = (
        ("holds", spare) if holds else ("fails", wanted) if fails else ("undecided", max(spare, wanted))
    )
    if detail == "undecided" and 0 < abs(decisive.difference.mean) <= decisive.difference.grain:
        detail = "not testable"  # more runs do not make the fixed test set larger
    if n > 1:
        decided = f"decided by: {decisive.what}" if decisive.what else ""
        count = f"{sum(c.holds() for c in several)} of {n} comparisons hold at 95%"
        needed = f"{wanted} needed" if 1 < wanted < n else ""
        note = joined(decided, note, ", ".join(filter(None, [count, needed])))
    shown = decisive.shown or decisive.difference
    low, high = shown.interval(1 - (1 - LEVEL) / share)
    runs = shown.n if shown.dof is None else NAN
    return Evaluation(detail, shown.mean, low, high, runs, shown.protocol, note)
