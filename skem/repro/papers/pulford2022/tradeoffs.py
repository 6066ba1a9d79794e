"""Orderings and statements of Pulford (2022) about the accuracy of partitions: section 3.3, on half-size MNIST."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from skem.repro.ledger.estimates import LEVEL, Claim, Estimate
from skem.repro.ledger.verdicts import Comparison, Judgement, all_of, any_of, equivalent, greater
from skem.repro.papers.pulford2022.evidence import Evidence, Judge
from skem.repro.papers.pulford2022.numbers import A_POINT, SMALLEST, TESTED, ratios_for_equal_passes
from skem.repro.training.settings import setting_name


def _below_crossing(evidence: Evidence) -> list[int]:
    """Where the paper has the unpartitioned model below the smallest blocks; from the crossing it is not."""
    return [k for k in evidence.paper.n_components if k < evidence.paper.crossing]


def _against_whole(evidence: Evidence, partitions: Sequence[str], ks: Sequence[int]) -> list[Comparison]:
    """That partitions are more accurate than the unpartitioned model, in every arrangement."""
    whole = evidence.paper.whole
    return [
        greater(evidence.half(method, p, k), evidence.half(method, whole, k), f"{p} {method}, K = {k}")
        for method in evidence.paper.arrangements
        for p in partitions
        for k in ks
    ]


def _superior(evidence: Evidence, claim: Claim) -> Judgement:
    """Whether every partition beats one block; "consistently" says so, elsewhere 12x3 at large K is excepted."""
    paper, always = evidence.paper, claim["id"] == "pulford.sec4.consistently_better"
    smallest, *others = paper.blocks
    ks = paper.n_components if always else _below_crossing(evidence)
    compared = _against_whole(evidence, others, paper.n_components)
    compared += _against_whole(evidence, [smallest], ks)
    excepted = "" if always else f"but for {smallest} at K from {paper.crossing}, which the paper excepts; "
    least = min(ratios_for_equal_passes(paper).values())
    return all_of(
        compared,
        f"{excepted}operations of one block, counted, are at least {least:.1f} times those of a partition",
    )


def _anywhere_at_its_best(evidence: Evidence, claim: Claim) -> Judgement:
    """Whether some partition beats the unpartitioned model where that is at its best."""
    return any_of(_against_whole(evidence, evidence.paper.blocks, evidence.paper.n_components[-1:]))


def other_starts(evidence: Evidence) -> str:
    """What remains of a partition's advantage from other starts: at the largest K, best partition and one block."""
    paper, k = evidence.paper, max(evidence.paper.n_components)
    told = []
    for start, method, protocol in (
        ("uniform start", paper.arrangements[0], "best-pass"),
        ("uniform start", paper.arrangements[0], "validated"),
        ("class start, but shared", "class_shared", "best-pass"),
        ("class start", "class", "best-pass"),
        ("class start", "class", "validated"),
    ):
        accuracy = {p: evidence.half(method, p, k, protocol).mean for p in paper.partitions}
        whole = accuracy.pop(paper.whole)
        best = max(accuracy, key=lambda p: accuracy[p])
        told.append(f"{start}, {protocol}: {best} {accuracy[best]:.2f}, {paper.whole} {whole:.2f}")
    return f"K = {k}, sequential, " + "; ".join(told)


def _generally(evidence: Evidence, claim: Claim) -> Judgement:
    """Whether partitions beat the unpartitioned model, each at 95%, in more than half of the settings."""
    comparisons = _against_whole(evidence, evidence.paper.blocks, evidence.paper.n_components)
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
    paper = evidence.paper
    return all_of(
        greater(evidence.half(method, p, b), evidence.half(method, p, a), f"{p} {method}, K = {a} to {b}")
        for method in paper.arrangements
        for p in (paper.partitions if method == paper.arrangements[0] else paper.blocks)
        for a, b in pairwise(paper.n_components)
    )


def _best_partitions(evidence: Evidence, claim: Claim) -> Judgement:
    """That the better of the best partitions beats each of the others."""
    paper, compared = evidence.paper, []
    for method in paper.arrangements:
        for k in (36, 40):
            top = max((evidence.half(method, p, k) for p in paper.best), key=lambda e: e.mean)
            compared += [
                greater(top, evidence.half(method, p, k), f"{p} {method}, K = {k}", or_equal=True)
                for p in paper.partitions
                if p not in paper.best
            ]
    return all_of(compared, "K from 36")


def _below_smallest(evidence: Evidence, claim: Claim) -> Judgement:
    return all_of(_against_whole(evidence, evidence.paper.blocks[:1], _below_crossing(evidence)))


def _above_smallest(evidence: Evidence, claim: Claim) -> Judgement:
    paper = evidence.paper
    return all_of(
        greater(
            evidence.half(method, paper.whole, k),
            evidence.half(method, paper.blocks[0], k),
            f"{method}, K = {k}",
            or_equal=True,
        )
        for method in paper.arrangements
        for k in paper.n_components
        if k >= paper.crossing
    )


def _best_above_12(evidence: Evidence, claim: Claim) -> Judgement:
    paper = evidence.paper
    method = paper.arrangements[0]
    return all_of(
        greater(evidence.half(method, p, k), evidence.half(method, other, k), f"{p} against {other}, K = {k}")
        for k in paper.n_components
        if k > 12
        for p in paper.best
        for other in paper.partitions
        if other not in paper.best
    )


def _peak_later(evidence: Evidence, claim: Claim) -> Judgement:
    """Within the same 40 passes for all: who may go on for longer can peak later for that alone."""
    paper = evidence.paper
    longer = set(evidence.settings(paper.data_set, "longer")["n_components"])
    ks = [k for k in paper.n_components if k in longer]

    def peak(method: str, partition: str) -> pd.Series:
        names = [setting_name(partition=partition, n_components=k) for k in ks]
        runs = [evidence.peak(paper.data_set, method, name) for name in names]
        return pd.concat(runs, axis=1).mean(axis=1)

    # One block has more runs than these: what is told of it is of the same ones.
    peaks = pd.DataFrame(
        {paper.whole: peak(paper.arrangements[0], paper.whole)} | {p: peak("longer", p) for p in paper.blocks}
    ).dropna()
    mean = {p: Estimate.of(peaks[p], "best-pass") for p in (paper.whole, *paper.blocks)}
    told = ", ".join(f"{p} {e.mean:.1f}" for p, e in mean.items())
    return all_of(
        (greater(mean[paper.whole], mean[p], p) for p in paper.blocks),
        f"peak within 40 passes for all, mean over K = {', '.join(map(str, ks))}: {told}",
    )


def _small_k(evidence: Evidence, claim: Claim) -> Judgement:
    sequential, *others = evidence.paper.arrangements
    smallest = evidence.paper.blocks[0]
    few = evidence.paper.n_components[: 1 if evidence.reading.option("small_k", SMALLEST) == SMALLEST else 2]
    return all_of(
        (
            greater(
                evidence.half(other, smallest, k), evidence.half(sequential, smallest, k), f"{other}, K = {k}"
            )
            for k in few
            for other in others
        ),
        f"K = {' and '.join(map(str, few))}",
    )


def _arranged(evidence: Evidence) -> dict[str, tuple[Estimate, Estimate]]:
    """Other arrangements beside the sequential one, K from 12."""
    sequential, *others = evidence.paper.arrangements
    return {
        f"{p} {other}, K = {k}": (evidence.half(other, p, k), evidence.half(sequential, p, k))
        for k in evidence.paper.n_components
        if k >= 12
        for p in evidence.paper.blocks
        for other in others
    }


def little_arrangement(evidence: Evidence) -> Judgement:
    """Whether the arrangement moves accuracy by less than a point."""
    pairs = _arranged(evidence).items()
    compared = [comparison for what, (a, b) in pairs for comparison in equivalent(a, b, 1.0, what)]
    return all_of(compared, "within 1 point of sequential, K from 12")


def _insensitive(evidence: Evidence, claim: Claim) -> Judgement:
    """Whether no difference is significant; that none is shows only where all are known to be small.

    Or, in the other reading of "significant", whether none reaches a point.
    """
    if evidence.reading.option("significant", TESTED) == A_POINT:
        return little_arrangement(evidence)
    differences = {what: a - b for what, (a, b) in _arranged(evidence).items()}
    level = 1 - (1 - LEVEL) / len(differences)
    intervals = {what: d.interval(level) for what, d in differences.items()}
    significant = [what for what, (low, high) in intervals.items() if low > 0 or high < 0]
    among = significant or list(differences)
    worst = max(among, key=lambda what: abs(differences[what].mean))
    small = not significant and little_arrangement(evidence).verdict == "holds"
    verdict = "fails" if significant else "holds" if small else "undecided"
    note = (
        f"points over sequential, K from 12: {len(significant)} of {len(differences)} are significant at a shared "
        f"95%; largest: {worst}"
    )
    return Judgement(
        verdict, differences[worst].mean, *intervals[worst], differences[worst].n, "best-pass", note
    )


def _decorrelated(evidence: Evidence, claim: Claim) -> Judgement:
    """Blocks made independent given the class are easier: dependence is there, and costs accuracy."""
    paper = evidence.paper
    mixed = evidence.settings(paper.data_set, "independent")
    compared = [
        greater(
            evidence.accuracy(paper.data_set, "independent", name),
            evidence.accuracy(paper.data_set, paper.arrangements[0], name),
            name,
        )
        for name in map(str, mixed.index[mixed["n_blocks"] > 1])
    ]
    return any_of(
        compared,
        "accuracy once rows of a class exchange blocks, less that of the blocks as they are: blocks are dependent",
    )


TRADEOFFS: dict[str, Judge] = {
    "abstract.better_and_cheaper": _anywhere_at_its_best,
    "sec1.pskem_generally_better": _generally,
    "sec2-3.outperforms_36d": _superior,
    "sec3-1.mnist.decorrelated": _decorrelated,
    "sec3-3.skem_more_passes": _peak_later,
    "sec3-3.small_k_arrangement": _small_k,
    "sec3-3.arrangement_insensitive": _insensitive,
    "sec3-3.monotone_in_k": _increasing,
    "sec3-3.best_partitions": _best_partitions,
    "sec3-3.skem_below_12x3": _below_smallest,
    "sec3-3.skem_above_12x3": _above_smallest,
    "sec3-3.superiority": _superior,
    "sec3-3.sharing.best_accuracy_above_12": _best_above_12,
    "sec4.consistently_better": _superior,
}
"""From a claim to its judge."""
