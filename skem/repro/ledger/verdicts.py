"""The ledger: what the papers state, what was measured, and a verdict by one rule.

Numbers. With n measured runs of mean a and standard deviation s, and a paper's value over ``trials`` runs (1 where
it does not say), a value is *reproduced* if it lies in the 95% prediction interval of a result like the paper's,

    a +- (t_{n-1} s sqrt(1/n + 1/trials) + half a unit of the last printed digit);

"around" widens that half unit (`skem.repro.ledger.estimates.around`). Else ours is *better* (larger; for times, spreads and
losses smaller) or *worse*; where neither is a merit, *higher* or *lower*. s is the spread over runs alone, since the
test images are the same; what is the same in every run may differ by some test images (`Estimate.fixed`). A standard
deviation is compared through the F distribution; where only the rounding of the printed one decides, it is *not
testable*. "Around" widens no deviation: one unit of ".1" is as large as the deviation, so that almost any would agree. A
bound ("more than") is reproduced where it holds at 95%. A claimed maximum is compared with our maximum: run by run that of
the settings tried, with the spread of a single one.

An interval wider than all that the paper claims to be different there says nothing: the verdict is then *too few runs*,
or *not testable* where no number of runs would narrow it enough, because one result of the paper's is as uncertain.

Orderings and statements *hold*, *fail* or are *undecided*. A comparison of means holds if the 95% interval of the
difference (paired where both have the same runs, else Welch's) is on its side. All of several comparisons hold if
each does, and fail if one is on the wrong side at a level shared among them (Bonferroni); of alternatives one has
to hold at such a level. The interval shown is that of the comparison that decided, at the level that decided.

Without a measurement: *cited* (the paper only quotes it), *theory* (the note names the test that checks it), *not
testable* (the note says why), *not run* (not part of this run) and *not built*.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy

from skem.repro.ledger.estimates import LEVEL, Claim, Estimate, around, half_a_digit, mean

VERDICTS = (
    *("reproduced", "better", "worse", "higher", "lower", "holds", "fails", "undecided", "too few runs"),
    *("not testable", "cited", "theory", "not run", "not built"),
)
SECONDS = ("seconds_per_pass", "fit_seconds")
TIMED = (*SECONDS, "seconds_per_iteration", "ratio", "speedup", "kmeans_share_pct")
"""Quantities whose claims go to a file of their own: they are never the same twice."""

SMALLER_IS_BETTER = (
    *(*SECONDS, "accuracy_std_pct", "accuracy_loss_pct", "error_pct"),
    "normalized_mean_error_pct",
)
"""Quantities of which less is *better*."""

NO_MERIT = (
    *("peak_pass", "peak_pass_min", "peak_pass_max", "best_n_components_min", "best_n_components_max"),
    "shared_proportion_reduction_pct",
    *("km_iter", "em_iter_min", "em_iter_max", "samples_per_component", "kmeans_share_pct"),
    *("n_nonzero_weights", "normalized_mean_n_nonzero_weights", "n_components_removed"),
    *(
        "n_components_removed_per_class",
        "weight_reduction_pct",
        "weight_reduction_pct_min",
        "weight_reduction_pct_max",
    ),
)
"""Quantities of which neither more nor less is better."""


@dataclass(frozen=True)
class Judgement:
    """What was found of a claim.

    Attributes
    ----------
    verdict : str
        One of `VERDICTS`.
    measured, low, high : float
        Low and high are the interval the verdict was read from.
    n : float
        Runs.
    protocol, note : str
    narrowest : float
        Width of the interval after any number of runs of ours.
    """

    verdict: str
    measured: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    n: float = float("nan")
    protocol: str = ""
    note: str = ""
    narrowest: float = float("nan")

    def sharp_enough(self, resolution: float | None) -> Judgement:
        """The same, unless it says *reproduced* of an interval wider than what the paper claims to be different."""
        width = self.high - self.low
        if self.verdict != "reproduced" or resolution is None or not width > resolution:
            return self
        hopeless = self.narrowest > resolution
        told = f"interval {width:.2g} wide, and the paper's claims there are {resolution:.2g} apart at most"
        if hopeless:
            told += f"; one result of the paper's is too uncertain, whatever the number of runs ({self.narrowest:.2g})"
        verdict = "not testable" if hopeless else "too few runs"
        return replace(self, verdict=verdict, note="; ".join(filter(None, [told, self.note])))


def departure(quantity: str, larger: bool) -> str:
    """The word for a number that is not reproduced, from whether ours is larger."""
    if quantity in NO_MERIT:
        return "higher" if larger else "lower"
    return "better" if larger != (quantity in SMALLER_IS_BETTER) else "worse"


def _of_a_spread(sd: float, trials: int, freedom: float) -> tuple[float, float]:
    """The 95% prediction interval of a standard deviation over so many trials."""
    ratios = scipy.stats.f.ppf([(1 - LEVEL) / 2, (1 + LEVEL) / 2], max(trials - 1, 1), freedom)
    return sd * float(np.sqrt(ratios[0])), sd * float(np.sqrt(ratios[1]))


def _beside_its_spread(claim: Claim, estimate: Estimate, trials: int) -> str:
    """What the paper prints after "+-", beside ours, and how many of it the means are apart."""
    if not claim.get("spread") or not estimate.freedom > 0 or trials < 2:
        return ""
    printed = float(claim["spread"]) / float(claim["spread_kind"].removesuffix("sigma"))
    digit = half_a_digit(claim["spread"])
    low, high = _of_a_spread(estimate.sd, trials, estimate.freedom)
    agrees = "as ours" if low - digit <= printed <= high + digit else "unlike ours"
    apart = abs(estimate.mean - float(claim["value"])) / printed
    return f"the paper's standard deviation {printed:.2g} is {agrees}, {estimate.sd:.2g}; {apart:.1f} of it apart"


def judge_number(claim: Mapping[str, str], estimate: Estimate) -> Judgement:
    """The verdict on a number, by the rule at the top of this module.

    The larger number is the better one, but for `SMALLER_IS_BETTER` and `NO_MERIT`.
    """
    value, digit = float(claim["value"]), half_a_digit(claim["value"])
    trials = int(claim["trials"] or 1)
    spread = "std" in claim["quantity"]
    if "approx=yes" in claim["setting"].split(";") and not spread:
        digit = around(claim["value"])
    narrowest = 2 * (digit + estimate.grain)

    def judgement(verdict: str, low: float = np.nan, high: float = np.nan, more: str = "") -> Judgement:
        note = "; ".join(filter(None, [estimate.note, more, _beside_its_spread(claim, estimate, trials)]))
        return Judgement(verdict, estimate.mean, low, high, estimate.n, estimate.protocol, note, narrowest)

    bound = re.search(r"bound=(lower|upper)", claim["setting"])
    if bound:
        low, high = estimate.interval()
        sign = 1 if bound[1] == "lower" else -1
        sides = sorted((sign * (low - value), sign * (high - value)))
        verdict = "reproduced" if sides[0] >= 0 else "worse" if sides[1] < 0 else "undecided"
        return judgement(verdict, low, high)
    if estimate.sd == 0:
        low, high = estimate.interval()
    elif not estimate.freedom > 0:
        return judgement("undecided", more="one run: no spread")
    elif spread:
        low, high = _of_a_spread(estimate.mean, trials, estimate.freedom)
        narrowest -= np.subtract(*_of_a_spread(estimate.mean, trials, 1e9))
    else:
        t, z = scipy.stats.t.ppf((1 + LEVEL) / 2, estimate.freedom), scipy.stats.norm.ppf((1 + LEVEL) / 2)
        half = t * estimate.sd * np.sqrt(1 / estimate.n + 1 / trials) + estimate.grain
        narrowest += 2 * z * estimate.sd / np.sqrt(trials)
        low, high = estimate.mean - half, estimate.mean + half
    near = 1e-12 * abs(value)
    as_it_is = low - near <= value <= high + near
    low, high = low - digit, high + digit
    if claim["quantity"] in TIMED:
        low = max(low, 0.0)
    if low - near <= value <= high + near:
        if spread and not as_it_is and estimate.sd != 0:
            return judgement(
                "not testable", low, high, "the printed digit is too coarse: only its rounding decides"
            )
        return judgement("reproduced", low, high)
    return judgement(departure(claim["quantity"], estimate.mean > value), low, high)


@dataclass(frozen=True)
class Comparison:
    """That a difference is positive (or, if ``or_equal``, not negative).

    ``shown`` is what a reader is told instead, where the difference is a step of the argument only.
    """

    difference: Estimate
    or_equal: bool = False
    what: str = ""
    shown: Estimate | None = None

    def holds(self, share: int = 1) -> bool:
        """At 95%; ``share`` alternatives share the level."""
        low = self.difference.interval(1 - (1 - LEVEL) / share)[0]
        exactly = self.difference.error == 0 and low == 0 == self.difference.grain
        return bool(low > 0 or (self.or_equal and exactly))

    def fails(self, share: int = 1) -> bool:
        """At 95%; ``share`` comparisons share the level."""
        high = self.difference.interval(1 - (1 - LEVEL) / share)[1]
        strictly = not self.or_equal and self.difference.error == 0 and high == 0 == self.difference.grain
        return bool(high < 0 or strictly)


def greater(a: Estimate, b: Estimate, what: str = "", or_equal: bool = False) -> Comparison:
    """That a is greater than b on average."""
    return Comparison(a - b, or_equal, what)


def equivalent(a: Estimate, b: Estimate, margin: float, what: str) -> list[Comparison]:
    """That two means differ by less than a margin, in either direction."""
    d = a - b
    return [
        Comparison(replace(d, mean=margin - d.mean, runs=None), what=what, shown=d),
        Comparison(replace(d, mean=margin + d.mean, runs=None), what=what, shown=d),
    ]


def all_of(comparisons: Iterable[Comparison], note: str = "") -> Judgement:
    """Whether all comparisons hold."""
    several = list(comparisons)
    wrong = [c for c in several if c.fails(len(several))]
    open_ = [c for c in several if not c.holds()]
    verdict = "fails" if wrong else "undecided" if open_ else "holds"
    # Something compared with itself holds, and tells nothing.
    telling = [c for c in several if c.difference.error > 0 or c.difference.mean] or several
    worst = min(wrong or open_ or telling, key=lambda c: c.difference.mean)
    told = [note] if note else []
    if len(several) > 1:
        held = sum(c.holds() for c in several)
        told.append(
            f"{held} of {len(several)} comparisons hold, {len(wrong)} fail"
            + (f"; least: {worst.what}" if worst.what else "")
        )
    return _judgement(verdict, worst, "; ".join(told), 1 if verdict == "holds" else len(several))


def at_least(wanted: int, comparisons: Iterable[Comparison], note: str = "") -> Judgement:
    """Whether so many of several comparisons hold: each at 95%, or, to fail, too few that are not refuted."""
    several = list(comparisons)
    held, wrong = sum(c.holds() for c in several), sum(c.fails() for c in several)
    on_its_side = sum(c.difference.mean > 0 for c in several)
    verdict = "holds" if held >= wanted else "fails" if len(several) - wrong < wanted else "undecided"
    told = f"{on_its_side} of {len(several)} are on its side, {held} at 95%; {wanted} are needed"
    return Judgement(
        verdict,
        on_its_side,
        held,
        len(several) - wrong,
        len(several),
        note="; ".join(filter(None, [note, told])),
    )


def any_of(comparisons: Iterable[Comparison], note: str = "") -> Judgement:
    """Whether one of several alternatives holds."""
    several = list(comparisons)
    held = any(c.holds(len(several)) for c in several)
    verdict = "holds" if held else "fails" if all(c.fails() for c in several) else "undecided"
    best = max(several, key=lambda c: c.difference.mean)
    told = [note] if note else []
    if best.what:
        told.append(f"best: {best.what}")
    return _judgement(verdict, best, "; ".join(told), 1 if verdict == "fails" else len(several))


def _judgement(verdict: str, comparison: Comparison, note: str, share: int) -> Judgement:
    told = comparison.shown or comparison.difference
    low, high = told.interval(1 - (1 - LEVEL) / share)
    n = told.n if told.dof is None else float("nan")
    return Judgement(verdict, told.mean, low, high, n, told.protocol, note)


def evaluate(expression: str, number: Callable[[str], list[Estimate]]) -> Judgement:
    """Judge a formal expression, such as ``[a] > max([b], [c]) and [a] >= 100 - min([d.*])``.

    Parameters
    ----------
    expression : str
        Comparisons joined by ``and``; + and - of ids and constants; max, min and mean of several. In front, ``forall m
        in {8,10}:`` repeats it with each number for ``<m>``.
    number : callable
        From what stands in brackets to the estimates it names.

    Raises
    ------
    ValueError
        If the expression is prose.
    """
    every = re.fullmatch(r"forall (\w+) in \{([^}]*)\}: (.*)", expression)
    if every:
        name, numbers, inner = every.groups()
        expression = " and ".join(inner.replace(f"<{name}>", one.strip()) for one in numbers.split(","))
    names: list[str] = re.findall(r"\[([^\]]+)\]", expression)
    text = expression
    for i, name in enumerate(names):
        text = text.replace(f"[{name}]", f"_{i}", 1)
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"not a formal expression: {expression!r}") from error

    def values(node: ast.expr) -> list[Estimate]:
        match node:
            case ast.Name(id=name) if name.startswith("_"):
                return number(names[int(name[1:])])
            case ast.Constant(value=value):
                return [Estimate(float(value))]  # type: ignore[arg-type]
            case ast.Call(func=ast.Name(id="max" | "min" as which), args=args):
                found = [value for arg in args for value in values(arg)]
                return [(max if which == "max" else min)(found, key=lambda e: e.mean)]
            case ast.Call(func=ast.Name(id="mean"), args=args):
                return [mean([value for arg in args for value in values(arg)])]
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                (a,), (b,) = values(left), values(right)
                return [a + b if isinstance(op, ast.Add) else a - b]
        raise ValueError(f"not a formal expression: {expression!r}")

    comparisons = []
    match tree:
        case ast.BoolOp(op=ast.And(), values=parts):
            pass
        case _:
            parts = [tree]
    for part in parts:
        if not isinstance(part, ast.Compare) or len(part.ops) != 1:
            raise ValueError(f"not a formal expression: {expression!r}")
        a, b = values(part.left), values(part.comparators[0])
        if isinstance(part.ops[0], ast.Lt | ast.LtE):
            a, b = b, a
        or_equal = isinstance(part.ops[0], ast.GtE | ast.LtE)
        comparisons += [greater(x, y, or_equal=or_equal) for x in a for y in b]
    return all_of(comparisons)
