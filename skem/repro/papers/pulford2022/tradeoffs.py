"""Evaluators of orderings and statements in Pulford (2022) about the accuracy of partitions: section 3.3, on half-size MNIST."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pandas as pd

from skem.repro.ledger.estimates import LEVEL, Claim, Estimate, mean
from skem.repro.ledger.verdicts import (
    Comparison,
    Evaluation,
    all_of,
    any_of,
    at_least,
    equivalent,
    greater,
    listed,
)
from skem.repro.papers.pulford2022.evaluators import EVALUATORS
from skem.repro.papers.pulford2022.evidence import Evidence
from skem.repro.papers.pulford2022.numbers import ratios_for_equal_iterations
from skem.repro.protocols import LABELS
from skem.repro.training.settings import setting_name

evaluates = EVALUATORS.evaluates


def _below_crossing(evidence: Evidence) -> list[int]:
    """Return the K for which the paper has the unpartitioned model below the smallest blocks."""
    return [k for k in evidence.paper.n_components if k < evidence.paper.crossing]


def _above_whole(evidence: Evidence, partitions: Sequence[str], ks: Iterable[int]) -> list[Comparison]:
    """Compare partitions with the unpartitioned model, in every arrangement."""
    half, whole = evidence.half, evidence.paper.whole
    return [
        greater(half(method, p, k), half(method, whole, k), f"{p} {method}, K = {k}")
        for method in evidence.paper.arrangements
        for p in partitions
        for k in ks
    ]


@evaluates("sec2-3.outperforms_36d", "sec3-3.superiority", "sec4.consistently_better")
def superior(evidence: Evidence, claim: Claim) -> Evaluation:
    """Every partition beats one block, in every configuration or on average over K; only section 4 does not except 12x3 at large K."""
    paper, always = evidence.paper, claim["id"] == "pulford.sec4.consistently_better"
    if evidence.interpretation.choice("superiority") == "average":
        return _superior_on_average(evidence)
    smallest, *others = paper.blocks
    compared = _above_whole(evidence, others, paper.n_components)
    compared += _above_whole(
        evidence, [smallest], paper.n_components if always else _below_crossing(evidence)
    )
    exception = f"{smallest} at K from {paper.crossing}"
    excepted = (
        f"section 3.3 excepts {exception}; " if always else f"but for {exception}, which the paper excepts; "
    )
    least = min(ratios_for_equal_iterations(paper).values())
    return all_of(
        compared,
        f"{excepted}operations of one block, counted, are at least {least:.1f} times those of a partition",
    )


def _superior_on_average(evidence: Evidence) -> Evaluation:
    paper = evidence.paper

    def average(method: str, partition: str) -> Estimate:
        return mean([evidence.half(method, partition, k) for k in paper.n_components])

    return all_of(
        (
            greater(average(method, p), average(method, paper.whole), f"{p} {method}")
            for method in paper.arrangements
            for p in paper.blocks
        ),
        f"mean over K from {min(paper.n_components)} to {max(paper.n_components)}",
    )


@evaluates("abstract.better_and_cheaper")
def better_at_its_best(evidence: Evidence) -> Evaluation:
    """Some partition beats the unpartitioned model at the largest K, where that is most accurate."""
    return any_of(_above_whole(evidence, evidence.paper.blocks, evidence.paper.n_components[-1:]))


@EVALUATORS.remarks(
    "abstract.better_and_cheaper",
    "sec1.pskem_generally_better",
    "sec3-3.superiority",
    "sec4.consistently_better",
)
def other_initialisations(evidence: Evidence) -> str:
    """Name the best partition and one block at the largest K, by initialisation and protocol."""
    paper, k = evidence.paper, max(evidence.paper.n_components)
    sequential, notes = paper.arrangements[0], []
    for init, method, protocol in (
        ("uniform initialisation", sequential, "test_selected_iteration"),
        ("uniform initialisation", sequential, "validation_selected_iteration"),
        ("initialisation by class, but shared", "class_shared", "test_selected_iteration"),
        ("initialisation by class", "class", "test_selected_iteration"),
        ("initialisation by class", "class", "validation_selected_iteration"),
    ):
        accuracy = {p: evidence.half(method, p, k, protocol).mean for p in paper.partitions}
        whole = accuracy.pop(paper.whole)
        top = max(accuracy, key=lambda p: accuracy[p])
        notes.append(f"{init}, {LABELS[protocol]}: {top} {accuracy[top]:.2f}, {paper.whole} {whole:.2f}")
    return f"K = {k}, sequential, " + "; ".join(notes)


@evaluates("sec1.pskem_generally_better")
def generally_better(evidence: Evidence) -> Evaluation:
    """Partitions beat the unpartitioned model in more than half of the configurations."""
    compared = _above_whole(evidence, evidence.paper.blocks, evidence.paper.n_components)
    return at_least(len(compared) // 2 + 1, compared)


@evaluates("sec3-3.monotone_in_k")
def increasing(evidence: Evidence) -> Evaluation:
    paper = evidence.paper
    return all_of(
        greater(evidence.half(method, p, b), evidence.half(method, p, a), f"{p} {method}, K = {a} to {b}")
        for method in paper.arrangements
        for p in (paper.partitions if method == paper.arrangements[0] else paper.blocks)
        for a, b in pairwise(paper.n_components)
    )


@evaluates("sec3-3.best_partitions")
def best_partitions(evidence: Evidence) -> Evaluation:
    """Both of the best partitions beat each of the others at large K, in every arrangement."""
    paper, half = evidence.paper, evidence.half
    return all_of(
        (
            greater(half(method, p, k), half(method, other, k), f"{p} against {other} {method}, K = {k}")
            for method in paper.arrangements
            for k in paper.many
            for p in paper.best
            for other in paper.other_partitions
        ),
        f"K from {paper.crossing}",
    )


@evaluates("sec3-3.skem_below_12x3")
def below_smallest(evidence: Evidence) -> Evaluation:
    return all_of(_above_whole(evidence, evidence.paper.blocks[:1], _below_crossing(evidence)))


@evaluates("sec3-3.skem_above_12x3")
def above_smallest(evidence: Evidence) -> Evaluation:
    paper, half = evidence.paper, evidence.half
    return all_of(
        greater(half(m, paper.whole, k), half(m, paper.blocks[0], k), f"{m}, K = {k}", or_equal=True)
        for m in paper.arrangements
        for k in paper.many
    )


@evaluates("sec3-3.sharing.best_accuracy_above_12")
def best_above_12(evidence: Evidence) -> Evaluation:
    paper, method = evidence.paper, evidence.paper.arrangements[0]
    return all_of(
        greater(evidence.half(method, p, k), evidence.half(method, other, k), f"{p} against {other}, K = {k}")
        for k in paper.n_components
        if k > 12
        for p in paper.best
        for other in paper.other_partitions
    )


@evaluates("sec3-3.skem_more_passes")
def peaks_later(evidence: Evidence) -> Evaluation:
    """Compare iterations of the best accuracy within 40 for all; more iterations alone may move them."""
    paper = evidence.paper
    longer = set(evidence.settings(paper.data_set, "longer")["n_components"])
    ks = [k for k in paper.n_components if k in longer]

    def peak(method: str, partition: str) -> pd.Series:
        names = [setting_name(partition=partition, n_components=k) for k in ks]
        runs = [evidence.column(paper.data_set, method, name, "peak") for name in names]
        return pd.concat(runs, axis=1).mean(axis=1)

    # One block has more runs; the same ones are compared.
    peaks = {paper.whole: peak(paper.arrangements[0], paper.whole)} | {
        p: peak("longer", p) for p in paper.blocks
    }
    table = pd.DataFrame(peaks).dropna()
    found = {p: Estimate.of(table[p], "test_selected_iteration") for p in peaks}
    return all_of(
        (greater(found[paper.whole], found[p], p) for p in paper.blocks),
        f"peak within 40 iterations for all, mean over K = {', '.join(map(str, ks))}: {listed(found, '{:.1f}')}",
    )


@evaluates("sec2-3.early_stopping")
def early_stopping(evidence: Evidence) -> Evaluation:
    """The validation-selected iteration is more accurate than the final one of the same fit, mean over K and partitions."""
    paper, half = evidence.paper, evidence.half

    def gain(method: str, ks: Sequence[int]) -> Estimate:
        partitions = paper.partitions if method == paper.arrangements[0] else paper.blocks
        selected, final = (
            mean([half(method, p, k, protocol) for p in partitions for k in ks])
            for protocol in ("validation_selected_iteration", "final_iteration")
        )
        return selected - final

    by_k = {f"K = {k}": gain(paper.arrangements[0], [k]) for k in paper.n_components}
    return all_of(
        (greater(gain(method, paper.n_components), Estimate(0.0), method) for method in paper.arrangements),
        f"points gained over the final iteration, {paper.arrangements[0]}: {listed(by_k)}",
    )


@evaluates("sec3-3.small_k_arrangement")
def arrangement_at_small_k(evidence: Evidence) -> Evaluation:
    (sequential, *others), smallest = evidence.paper.arrangements, evidence.paper.blocks[0]
    few = evidence.paper.n_components[: 2 if evidence.interpretation.choice("small_k") == "4-and-8" else 1]
    half = evidence.half
    return all_of(
        (
            greater(half(other, smallest, k), half(sequential, smallest, k), f"{other}, K = {k}")
            for k in few
            for other in others
        ),
        f"K = {' and '.join(map(str, few))}",
    )


def _arranged(evidence: Evidence) -> dict[str, tuple[Estimate, Estimate]]:
    """Return pairs of another arrangement and the sequential one, K from 12."""
    sequential, *others = evidence.paper.arrangements
    return {
        f"{p} {other}, K = {k}": (evidence.half(other, p, k), evidence.half(sequential, p, k))
        for k in evidence.paper.n_components
        if k >= 12
        for p in evidence.paper.blocks
        for other in others
    }


def little_arrangement(evidence: Evidence) -> Evaluation:
    """The arrangement moves the accuracy by less than a point."""
    pairs = _arranged(evidence).items()
    compared = [comparison for name, (a, b) in pairs for comparison in equivalent(a, b, 1.0, name)]
    return all_of(compared, "within 1 point of sequential, K from 12")


@evaluates("sec3-3.arrangement_insensitive")
def insensitive(evidence: Evidence) -> Evaluation:
    """No difference is significant, and all are known to be small; or, as "significant" may mean, none reaches a point."""
    if evidence.interpretation.choice("significant") == "point":
        return little_arrangement(evidence)
    differences = {name: a - b for name, (a, b) in _arranged(evidence).items()}
    level = 1 - (1 - LEVEL) / len(differences)
    intervals = {name: d.interval(level) for name, d in differences.items()}
    significant = [name for name, (low, high) in intervals.items() if low > 0 or high < 0]
    worst = max(significant or differences, key=lambda name: abs(differences[name].mean))
    small = not significant and little_arrangement(evidence).verdict == "holds"
    verdict = "fails" if significant else "holds" if small else "undecided"
    note = (
        f"points over sequential, K from 12: {len(significant)} of {len(differences)} are significant at a shared "
        f"95%; largest: {worst}"
    )
    largest = differences[worst]
    return Evaluation(
        verdict, largest.mean, *intervals[worst], largest.n_runs, "test_selected_iteration", note
    )


@evaluates("sec3-1.mnist.decorrelated")
def dependent(evidence: Evidence) -> Evaluation:
    """Blocks made independent given the class are easier, so they are dependent."""
    half, sequential = evidence.paper.data_set, evidence.paper.arrangements[0]
    mixed = evidence.settings(half, "independent")
    compared = [
        greater(evidence.accuracy(half, "independent", name), evidence.accuracy(half, sequential, name), name)
        for name in map(str, mixed.index[mixed["n_blocks"] > 1])
    ]
    return any_of(
        compared,
        "accuracy once samples of a class exchange blocks, less that of the blocks as they are: blocks are dependent",
    )
