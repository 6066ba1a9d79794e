"""Orderings and statements of Pulford (2022) about partitions: section 3.3, on half-size MNIST."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from skem.repro.ledger.estimates import LEVEL, Claim, Estimate
from skem.repro.ledger.verdicts import Comparison, Judgement, all_of, any_of, equivalent, greater
from skem.repro.papers.pulford2022.evidence import Evidence, Judge
from skem.repro.papers.pulford2022.numbers import (
    ARRANGEMENTS,
    BLOCKS,
    HALF,
    K_VALUES,
    WHOLE,
    operations_ratio,
)

SINGULAR = 1e12
"""Condition number from which a covariance counts as singular in float64."""

SMALL_K = tuple(k for k in K_VALUES if k < 28)
"""Where the paper has the unpartitioned model below 12x3; from 28 it is not."""


def _half(evidence: Evidence, method: str, partition: str, k: int) -> Estimate:
    if partition == WHOLE:
        method = "sequential"
    return evidence.accuracy(HALF, method, f"{partition}-K{k}")


def _against_whole(evidence: Evidence, partitions: tuple[str, ...], ks: tuple[int, ...]) -> list[Comparison]:
    """That partitions are more accurate than the unpartitioned model, in every arrangement."""
    return [
        greater(_half(evidence, method, p, k), _half(evidence, method, WHOLE, k), f"{p} {method}, K = {k}")
        for method in ARRANGEMENTS
        for p in partitions
        for k in ks
    ]


def _superior(evidence: Evidence, claim: Claim) -> Judgement:
    """Whether every partition beats one block; "consistently" says so, elsewhere 12x3 at large K is excepted."""
    always = claim["id"] == "pulford.sec4.consistently_better"
    least = min(operations_ratio(p, 30) for p in BLOCKS)
    compared = _against_whole(evidence, BLOCKS[1:], K_VALUES)
    compared += _against_whole(evidence, BLOCKS[:1], K_VALUES if always else SMALL_K)
    excepted = "" if always else "but for 12x3 at K from 28, which the paper excepts; "
    return all_of(
        compared,
        f"{excepted}operations of one block, counted, are at least {least:.1f} times those of a partition",
    )


def other_starts(evidence: Evidence) -> str:
    """What remains of a partition's advantage from other starts: at the largest K, best partition and one block."""
    k = K_VALUES[-1]
    told = []
    for start, method, protocol in (
        ("uniform start", "sequential", "best-pass"),
        ("uniform start", "sequential", "validated"),
        ("class start, but shared", "class_shared", "best-pass"),
        ("class start", "class", "best-pass"),
        ("class start", "class", "validated"),
    ):
        whole = evidence.accuracy(HALF, method, f"{WHOLE}-K{k}", protocol).mean
        found = {p: evidence.accuracy(HALF, method, f"{p}-K{k}", protocol).mean for p in BLOCKS}
        best = max(found, key=lambda p: found[p])
        told.append(f"{start}, {protocol}: {best} {found[best]:.2f}, {WHOLE} {whole:.2f}")
    return f"K = {k}, sequential, " + "; ".join(told)


def _majority(comparisons: list[Comparison]) -> Judgement:
    """Whether a comparison holds, each at 95%, in more than half of the settings."""
    held, wrong, n = (
        sum(c.holds() for c in comparisons),
        sum(c.fails() for c in comparisons),
        len(comparisons),
    )
    return Judgement(
        "holds" if 2 * held > n else "fails" if 2 * wrong >= n else "undecided",
        100 * held / n,
        100 * held / n,
        100 * (n - wrong) / n,
        protocol="best-pass",
        note=f"percent of {n} settings: {held} hold at 95%, {wrong} are the other way round",
    )


def _increasing(evidence: Evidence, claim: Claim) -> Judgement:
    return all_of(
        greater(_half(evidence, method, p, b), _half(evidence, method, p, a), f"{p} {method}, K = {a} to {b}")
        for method in ARRANGEMENTS
        for p in ((*BLOCKS, WHOLE) if method == "sequential" else BLOCKS)
        for a, b in pairwise(K_VALUES)
    )


def _best_partitions(
    evidence: Evidence,
    ks: tuple[int, ...],
    best: tuple[str, ...],
    others: tuple[str, ...],
) -> list[Comparison]:
    """That the better of ``best`` beats each of ``others``."""
    found = []
    for method in ARRANGEMENTS:
        for k in ks:
            top = max((_half(evidence, method, p, k) for p in best), key=lambda e: e.mean)
            found += [
                greater(top, _half(evidence, method, p, k), f"{p} {method}, K = {k}", or_equal=True)
                for p in others
            ]
    return found


def _peak_later(evidence: Evidence, claim: Claim) -> Judgement:
    """Within the same 40 passes for all: who may go on for longer can peak later for that alone."""
    longer = {name.partition("-K")[2] for name in evidence.settings(HALF, "longer")}
    ks = [k for k in map(str, K_VALUES) if k in longer]

    def peak(method: str, partition: str) -> pd.Series:
        runs = [evidence.peak(HALF, method, f"{partition}-K{k}") for k in ks]
        return pd.concat(runs, axis=1).mean(axis=1)

    # One block has more runs than these: what is told of it is of the same ones.
    peaks = pd.DataFrame({WHOLE: peak("sequential", WHOLE)} | {p: peak("longer", p) for p in BLOCKS}).dropna()
    found = {p: Estimate.of(peaks[p], "best-pass") for p in (WHOLE, *BLOCKS)}
    told = ", ".join(f"{p} {e.mean:.1f}" for p, e in found.items())
    return all_of(
        (greater(found[WHOLE], found[p], p) for p in BLOCKS),
        f"peak within 40 passes for all, mean over K = {', '.join(ks)}: {told}",
    )


def _small_k(evidence: Evidence, claim: Claim) -> Judgement:
    return all_of(
        (
            greater(
                _half(evidence, other, "12x3", k),
                _half(evidence, "sequential", "12x3", k),
                f"{other}, K = {k}",
            )
            for k in (4, 8)
            for other in ("interleaved", "random")
        ),
        "K = 4 and 8",
    )


def _arranged(evidence: Evidence) -> dict[str, tuple[Estimate, Estimate]]:
    """Other arrangements beside the sequential one, K from 12."""
    return {
        f"{p} {other}, K = {k}": (_half(evidence, other, p, k), _half(evidence, "sequential", p, k))
        for k in K_VALUES
        if k >= 12
        for p in BLOCKS
        for other in ("interleaved", "random")
    }


def _little(evidence: Evidence) -> Judgement:
    """Whether the arrangement moves accuracy by less than a point."""
    pairs = _arranged(evidence).items()
    found = [comparison for what, (a, b) in pairs for comparison in equivalent(a, b, 1.0, what)]
    return all_of(found, "within 1 point of sequential, K from 12")


def _insensitive(evidence: Evidence, claim: Claim) -> Judgement:
    """Whether no difference is significant; that none is shows only where all are known to be small."""
    differences = {what: a - b for what, (a, b) in _arranged(evidence).items()}
    level = 1 - (1 - LEVEL) / len(differences)
    intervals = {what: d.interval(level) for what, d in differences.items()}
    significant = [what for what, (low, high) in intervals.items() if low > 0 or high < 0]
    among = significant or list(differences)
    worst = max(among, key=lambda what: abs(differences[what].mean))
    verdict = "fails" if significant else "holds" if _little(evidence).verdict == "holds" else "undecided"
    note = (
        f"points over sequential, K from 12: {len(significant)} of {len(differences)} are significant at a shared "
        f"95%; largest: {worst}"
    )
    return Judgement(
        verdict, differences[worst].mean, *intervals[worst], differences[worst].n, "best-pass", note
    )


def _no_divergence(evidence: Evidence, claim: Claim) -> Judgement:
    """From the runs without a ridge: a singular covariance is one that EM could not replace, or nearly so."""
    largest, where, n, kept = 0.0, "", 0, 0
    for name in evidence.settings(HALF, "no_ridge"):
        condition = evidence.last(HALF, "no_ridge", name, "condition")
        kept += int(evidence.last(HALF, "no_ridge", name, "kept").gt(0).sum())
        n += len(condition)
        if not condition.max() <= largest:  # NaN too
            largest, where = float(condition.max()), name
    verdict = "holds" if not kept and largest < SINGULAR else "fails"
    return Judgement(
        verdict,
        largest,
        0,
        SINGULAR,
        n,
        "last-pass",
        f"largest condition number of a covariance in {n} runs without a ridge: {where}; "
        f"in {kept} of them a covariance turned singular"
        + ("" if kept else f", so at 95% in at most {100 * (1 - (1 - LEVEL) ** (1 / n)):.1f}% of such runs"),
    )


def _stability(evidence: Evidence, claim: Claim) -> Judgement:
    """Share of the variance of log10 condition that K explains, for the unpartitioned model without a ridge."""
    names = evidence.settings(HALF, "no_ridge")

    def shares(partition: str) -> tuple[float, float, float, int]:
        columns = [
            np.log10(evidence.last(HALF, "no_ridge", name, "condition").to_numpy())
            for name in names
            if name.startswith(f"{partition}-")
        ]
        table = np.column_stack(columns)
        rng = np.random.default_rng(0)
        rows = rng.integers(len(table), size=(2000, len(table)))
        found = [_explained(table), *(_explained(table[drawn]) for drawn in rows)]
        low, high = np.quantile(found[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return found[0], float(low), float(high), len(table)

    partitions = dict.fromkeys(name.partition("-")[0] for name in names)
    found = {p: shares(p) for p in partitions}
    share, low, high, n = found[WHOLE]
    verdict = "holds" if low > 0.5 else "fails" if high < 0.5 else "undecided"
    others = ", ".join(f"{p} {found[p][0]:.2f}" for p in partitions if p != WHOLE)
    return Judgement(
        verdict,
        share,
        low,
        high,
        n,
        "last-pass",
        "share of the variance of log condition number that K explains and a run (start and training images) "
        f"does not, 1x36, interval by bootstrap over runs; {others}",
    )


def _explained(table: NDArray[np.float64]) -> float:
    """Share of the variance between columns."""
    between = float(table.mean(axis=0).var())
    within = float(table.var(axis=0).mean())
    return between / (between + within)


def _shared(evidence: Evidence, partition: str, k: int) -> Estimate:
    return Estimate.of(
        evidence.last(HALF, "sequential", f"{partition}-K{k}", "shared_proportion"), "last-pass"
    )


def _sharing_falls(evidence: Evidence, claim: Claim) -> Judgement:
    return all_of(
        greater(_shared(evidence, p, a), _shared(evidence, p, b), f"{p}, K = {a} to {b}")
        for p in (*BLOCKS, WHOLE)
        for a, b in pairwise(K_VALUES)
    )


def _share_least(evidence: Evidence, claim: Claim) -> Judgement:
    return all_of(
        (
            greater(_shared(evidence, other, k), _shared(evidence, p, k), f"{p} against {other}, K = {k}")
            for k in (32, 36, 40)
            for p in ("3x12", "2x18")
            for other in ("12x3", "6x6", WHOLE)
        ),
        "K from 32",
    )


def _within_unit(evidence: Evidence, claim: Claim) -> Judgement:
    values = pd.concat(
        [
            evidence.last(HALF, "sequential", name, "shared_proportion")
            for name in evidence.settings(HALF, "sequential")
        ]
    )
    inside = bool(values.between(0, 1).all())
    return Judgement(
        "holds" if inside else "fails",
        float(values.mean()),
        float(values.min()),
        float(values.max()),
        len(values),
        "last-pass",
    )


def _orders(evidence: Evidence, claim: Claim) -> Judgement:
    ratios = {p: operations_ratio(p, 30) for p in BLOCKS}
    verdict = "holds" if all(10 <= ratio <= 100 for ratio in ratios.values()) else "fails"
    told = ", ".join(f"{p} {ratio:.1f}" for p, ratio in ratios.items())
    return Judgement(
        verdict,
        min(ratios.values()),
        min(ratios.values()),
        max(ratios.values()),
        note=f"counted, equal passes: {told}",
    )


def _cheaper(evidence: Evidence, claim: Claim) -> Judgement:
    ratios = [operations_ratio(p, 30) for p in BLOCKS]
    return Judgement(
        "holds" if min(ratios) > 1 else "fails",
        min(ratios),
        min(ratios),
        max(ratios),
        note="counted operations of 1x36 over those of a partition",
    )


def _steady(evidence: Evidence) -> Judgement:
    """Whether the spread of PSKEM over runs is below a point of accuracy, K from 12, at 95%."""
    spreads = {}
    for k in (k for k in K_VALUES if k >= 12):
        for p in BLOCKS:
            runs = evidence.runs(HALF, "sequential", f"{p}-K{k}")
            freedom = len(runs) - 1
            limits = np.sqrt(runs.var(ddof=1) * freedom / stats.chi2.ppf([0.975, 0.025], freedom))
            spreads[f"{p}, K = {k}"] = (runs.std(ddof=1), *limits)
    worst = max(spreads, key=lambda name: spreads[name][0])
    low, high = (bound(limits[side] for limits in spreads.values()) for bound, side in ((max, 1), (max, 2)))
    verdict = "fails" if low > 1 else "holds" if high < 1 else "undecided"
    note = f"largest standard deviation over runs, each with a start and training images of its own, {spreads[worst][0]:.2f} ({worst})"
    return Judgement(verdict, float(spreads[worst][0]), float(low), float(high), note=note)


def _robust(evidence: Evidence, claim: Claim) -> Judgement:
    divergence = _no_divergence(evidence, claim)
    if claim["id"] == "pulford.sec4.robust":
        return divergence
    arrangement, steady = _little(evidence), _steady(evidence)
    verdicts = {divergence.verdict, arrangement.verdict, steady.verdict}
    verdict = "fails" if "fails" in verdicts else "holds" if verdicts == {"holds"} else "undecided"
    note = (
        f"divergence {divergence.verdict}: {divergence.note}; "
        f"arrangement {arrangement.verdict}: {arrangement.note}; start {steady.verdict}: {steady.note}"
    )
    return Judgement(verdict, steady.measured, steady.low, steady.high, steady.n, "best-pass", note)


def _decorrelated(evidence: Evidence, claim: Claim) -> Judgement:
    """Blocks made independent given the class are easier: dependence is there, and costs accuracy."""
    names = evidence.settings(HALF, "independent")
    found = []
    for name in names:
        if not name.startswith(WHOLE):
            mixed = evidence.accuracy(HALF, "independent", name)
            found.append(greater(mixed, evidence.accuracy(HALF, "sequential", name), name))
    return any_of(
        found,
        "accuracy once rows of a class exchange blocks, less that of the blocks as they are: blocks are dependent",
    )


def _faster(evidence: Evidence, claim: Claim) -> Judgement:
    found = []
    for k in K_VALUES:
        whole = evidence.seconds_per_pass(HALF, "sequential", f"{WHOLE}-K{k}")
        found += [
            greater(whole, evidence.seconds_per_pass(HALF, "sequential", f"{p}-K{k}"), f"{p}, K = {k}")
            for p in BLOCKS
        ]
    return all_of(found)


TRADEOFFS: dict[str, Judge] = {
    # Where the unpartitioned model is at its best.
    "abstract.better_and_cheaper": lambda e, c: any_of(_against_whole(e, BLOCKS, K_VALUES[-1:])),
    "sec1.pskem_generally_better": lambda e, c: _majority(_against_whole(e, BLOCKS, K_VALUES)),
    "sec1.pskem_speedup": _faster,
    "sec1.robustness": _robust,
    "sec2-3.orders_of_magnitude": _orders,
    "sec2-3.outperforms_36d": _superior,
    "sec3-1.mnist.decorrelated": _decorrelated,
    "sec3-3.skem_more_passes": _peak_later,
    "sec3-3.small_k_arrangement": _small_k,
    "sec3-3.arrangement_insensitive": _insensitive,
    "sec3-3.no_divergence": _no_divergence,
    "sec3-3.stability_driver": _stability,
    "sec3-3.monotone_in_k": _increasing,
    "sec3-3.best_partitions": lambda e, c: all_of(
        _best_partitions(e, (36, 40), ("3x12", "2x18"), ("12x3", "6x6", WHOLE)), "K from 36"
    ),
    "sec3-3.skem_below_12x3": lambda e, c: all_of(_against_whole(e, ("12x3",), SMALL_K)),
    "sec3-3.skem_above_12x3": lambda e, c: all_of(
        greater(_half(e, m, WHOLE, k), _half(e, m, "12x3", k), f"{m}, K = {k}", or_equal=True)
        for m in ARRANGEMENTS
        for k in K_VALUES
        if k not in SMALL_K
    ),
    "sec3-3.superiority": _superior,
    "sec3-3.sharing.range": _within_unit,
    "sec3-3.sharing.decreasing_in_k": _sharing_falls,
    "sec3-3.sharing.best_share_least": _share_least,
    "sec3-3.sharing.best_accuracy_above_12": lambda e, c: all_of(
        greater(
            _half(e, "sequential", p, k), _half(e, "sequential", other, k), f"{p} against {other}, K = {k}"
        )
        for k in K_VALUES
        if k > 12
        for p in ("3x12", "2x18")
        for other in ("12x3", "6x6", WHOLE)
    ),
    "sec4.robust": _robust,
    "sec4.lower_cost": _cheaper,
    "sec4.consistently_better": _superior,
}
"""From a claim to its judge."""
