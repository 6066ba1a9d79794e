"""Orderings and statements of Pulford (2022) about what a partition costs, shares and withstands: section 3.3."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from skem.repro.ledger.estimates import LEVEL, Claim, Estimate
from skem.repro.ledger.verdicts import Judgement, all_of, greater
from skem.repro.papers.pulford2022.evidence import Evidence, Judge
from skem.repro.papers.pulford2022.numbers import ratios_for_equal_passes
from skem.repro.papers.pulford2022.tradeoffs import little_arrangement
from skem.repro.training.settings import setting_name

SINGULAR = 1e12
"""Condition number from which a covariance counts as singular in float64."""


def _no_divergence(evidence: Evidence, claim: Claim) -> Judgement:
    """From the runs without a ridge: a singular covariance is one that EM could not replace, or nearly so."""
    half = evidence.paper.data_set
    largest, where, n, kept = 0.0, "", 0, 0
    for name in map(str, evidence.settings(half, "no_ridge").index):
        condition = evidence.column(half, "no_ridge", name, "condition")
        kept += int(evidence.column(half, "no_ridge", name, "kept").gt(0).sum())
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
    half, whole = evidence.paper.data_set, evidence.paper.whole
    tried = evidence.settings(half, "no_ridge")["partition"]

    def shares(partition: str) -> tuple[float, float, float, int]:
        columns = [
            np.log10(evidence.column(half, "no_ridge", str(name), "condition").to_numpy())
            for name in tried.index[tried == partition]
        ]
        table = np.column_stack(columns)
        rng = np.random.default_rng(0)
        rows = rng.integers(len(table), size=(2000, len(table)))
        explained = [_explained(table), *(_explained(table[drawn]) for drawn in rows)]
        low, high = np.quantile(explained[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return explained[0], float(low), float(high), len(table)

    by_partition = {p: shares(p) for p in tried.unique()}
    share, low, high, n = by_partition[whole]
    verdict = "holds" if low > 0.5 else "fails" if high < 0.5 else "undecided"
    others = ", ".join(f"{p} {found[0]:.2f}" for p, found in by_partition.items() if p != whole)
    return Judgement(
        verdict,
        share,
        low,
        high,
        n,
        "last-pass",
        "share of the variance of log condition number that K explains and a run (start and training images) "
        f"does not, {whole}, interval by bootstrap over runs; {others}",
    )


def _explained(table: NDArray[np.float64]) -> float:
    """Share of the variance between columns."""
    between = float(table.mean(axis=0).var())
    within = float(table.var(axis=0).mean())
    return between / (between + within)


def _shared(evidence: Evidence, partition: str, k: int) -> Estimate:
    """The shared proportion after the last pass."""
    paper, name = evidence.paper, setting_name(partition=partition, n_components=k)
    runs = evidence.column(paper.data_set, paper.arrangements[0], name, "shared_proportion")
    return Estimate.of(runs, "last-pass")


def _sharing_falls(evidence: Evidence, claim: Claim) -> Judgement:
    return all_of(
        greater(_shared(evidence, p, a), _shared(evidence, p, b), f"{p}, K = {a} to {b}")
        for p in evidence.paper.partitions
        for a, b in pairwise(evidence.paper.n_components)
    )


def _best_share_least(evidence: Evidence, claim: Claim) -> Judgement:
    paper = evidence.paper
    return all_of(
        (
            greater(_shared(evidence, other, k), _shared(evidence, p, k), f"{p} against {other}, K = {k}")
            for k in (32, 36, 40)
            for p in paper.best
            for other in paper.partitions
            if other not in paper.best
        ),
        "K from 32",
    )


def _within_unit(evidence: Evidence, claim: Claim) -> Judgement:
    half, method = evidence.paper.data_set, evidence.paper.arrangements[0]
    names = map(str, evidence.settings(half, method).index)
    values = pd.concat([evidence.column(half, method, name, "shared_proportion") for name in names])
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
    ratios = ratios_for_equal_passes(evidence.paper)
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
    ratios = ratios_for_equal_passes(evidence.paper).values()
    return Judgement(
        "holds" if min(ratios) > 1 else "fails",
        min(ratios),
        min(ratios),
        max(ratios),
        note=f"counted operations of {evidence.paper.whole} over those of a partition",
    )


def _faster(evidence: Evidence, claim: Claim) -> Judgement:
    paper = evidence.paper

    def seconds(partition: str, k: int) -> Estimate:
        name = setting_name(partition=partition, n_components=k)
        return evidence.seconds_per_pass(paper.data_set, paper.arrangements[0], name)

    return all_of(
        greater(seconds(paper.whole, k), seconds(p, k), f"{p}, K = {k}")
        for k in paper.n_components
        for p in paper.blocks
    )


def _steady(evidence: Evidence) -> Judgement:
    """Whether the spread of PSKEM over runs is below a point of accuracy, K from 12, at 95%."""
    paper, spreads = evidence.paper, {}
    for k in (k for k in paper.n_components if k >= 12):
        for p in paper.blocks:
            name = setting_name(partition=p, n_components=k)
            runs = evidence.runs(paper.data_set, paper.arrangements[0], name)
            freedom = len(runs) - 1
            limits = np.sqrt(runs.var(ddof=1) * freedom / scipy.stats.chi2.ppf([0.975, 0.025], freedom))
            spreads[f"{p}, K = {k}"] = (runs.std(ddof=1), *limits)
    worst = max(spreads, key=lambda name: spreads[name][0])
    low, high = (bound(limits[side] for limits in spreads.values()) for bound, side in ((max, 1), (max, 2)))
    verdict = "fails" if low > 1 else "holds" if high < 1 else "undecided"
    note = f"largest standard deviation over runs, each with a start and training images of its own, {spreads[worst][0]:.2f} ({worst})"
    return Judgement(verdict, float(spreads[worst][0]), float(low), float(high), note=note)


def _robust(evidence: Evidence, claim: Claim) -> Judgement:
    """Section 1 names divergence, arrangement and start; section 4 only the first."""
    divergence = _no_divergence(evidence, claim)
    if claim["id"] == "pulford.sec4.robust":
        return divergence
    arrangement, steady = little_arrangement(evidence), _steady(evidence)
    verdicts = {divergence.verdict, arrangement.verdict, steady.verdict}
    verdict = "fails" if "fails" in verdicts else "holds" if verdicts == {"holds"} else "undecided"
    note = (
        f"divergence {divergence.verdict}: {divergence.note}; "
        f"arrangement {arrangement.verdict}: {arrangement.note}; start {steady.verdict}: {steady.note}"
    )
    return Judgement(verdict, steady.measured, steady.low, steady.high, steady.n, "best-pass", note)


ROBUSTNESS: dict[str, Judge] = {
    "sec1.pskem_speedup": _faster,
    "sec1.robustness": _robust,
    "sec2-3.orders_of_magnitude": _orders,
    "sec3-3.no_divergence": _no_divergence,
    "sec3-3.stability_driver": _stability,
    "sec3-3.sharing.range": _within_unit,
    "sec3-3.sharing.decreasing_in_k": _sharing_falls,
    "sec3-3.sharing.best_share_least": _best_share_least,
    "sec4.robust": _robust,
    "sec4.lower_cost": _cheaper,
}
"""From a claim to its judge."""
