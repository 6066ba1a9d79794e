"""Judges of what Hayashi and Uchida (2021) claim of networks: Table 2, Figure 5, and sentences about them."""

from __future__ import annotations

from collections.abc import Callable

from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.ledger.links import apart
from skem.repro.ledger.verdicts import Comparison, Judgement, all_of, greater, judge_number
from skem.repro.papers.hayashi2021.evidence import Evidence

NEAR = 0.25
"""Errors are of the same level where ours is not larger by more than this part of the other."""


def cell(evidence: Evidence, claim: Claim) -> Judgement:
    """A cell of Table 2, "table2.mnist_d2.sdgm"; to say anything, its interval is narrower than the column is wide."""
    _, column, method = claim["id"].removeprefix("hayashi.").split(".")
    if column == "mean":
        raise NotRun(f"of its six columns {_left_out(evidence)} are not run")
    judgement = judge_number(claim, evidence.network(column, method, "error"))
    return judgement.sharp_enough(apart(evidence.stated, claim))


def _left_out(evidence: Evidence) -> str:
    *others, last = evidence.paper.images["left_out"]
    return f"{', '.join(others)} and {last}" if others else last


def _remark(evidence: Evidence) -> str:
    return f"without {_left_out(evidence)}; {evidence.own_network}"


def _beats(*rivals: str) -> Callable[[Evidence, Claim], Judgement]:
    """The error of SDGM is less in each column that is run."""

    def judged(evidence: Evidence, claim: Claim) -> Judgement:
        return all_of(
            (
                greater(
                    evidence.network(column, rival, "error"),
                    evidence.network(column, "sdgm", "error"),
                    f"{rival}, {column}",
                )
                for column in evidence.paper.images["data_sets"]
                for rival in rivals
            ),
            _remark(evidence),
        )

    return judged


def _beats_on_average(*rivals: str) -> Callable[[Evidence, Claim], Judgement]:
    def judged(evidence: Evidence, claim: Claim) -> Judgement:
        ours, ratios = evidence.network_ratio("sdgm"), {r: evidence.network_ratio(r) for r in rivals}
        told = ", ".join(f"{rival} {ratio.mean:.2f}" for rival, ratio in ratios.items())
        return all_of(
            (greater(ratio, ours, rival) for rival, ratio in ratios.items()),
            f"{_remark(evidence)}; ratio of errors to SDGM's, mean: {told}",
        )

    return judged


def _count(evidence: Evidence, claim: Claim) -> Judgement:
    raise NotRun(f"it counts over six columns, and {_left_out(evidence)} are not run")


def _same_level(evidence: Evidence, claim: Claim) -> Judgement:
    """No larger error than large-margin softmax and the mixture that drops nothing, and fewer weights than that."""
    comparisons = []
    for column in evidence.paper.images["data_sets"]:
        ours = evidence.network(column, "sdgm", "error")
        for rival in ("large_margin_softmax", "dgmm"):
            theirs = evidence.network(column, rival, "error")
            margin = Estimate((1 + NEAR) * theirs.mean - theirs.mean)
            comparisons.append(
                Comparison(theirs - ours + margin, what=f"{rival}, {column}", shown=theirs - ours)
            )
        fewer = _fewer(evidence, column)
        comparisons.append(fewer)
    return all_of(
        comparisons,
        f"same level: error not larger by more than {NEAR:.0%}; fewer weights than the mixture that drops none; "
        f"{_remark(evidence)}",
    )


def _fewer(evidence: Evidence, column: str) -> Comparison:
    ours, theirs = (evidence.network(column, method, "weights") for method in ("sdgm", "dgmm"))
    return greater(theirs, ours, f"weights, {column}")


def _sparsity(evidence: Evidence, claim: Claim) -> Judgement:
    """Fewer weights and a smaller error than without sparse learning."""
    comparisons = []
    for column in evidence.paper.images["data_sets"]:
        ours, theirs = (evidence.network(column, method, "error") for method in ("sdgm", "dgmm"))
        comparisons += [_fewer(evidence, column), greater(theirs, ours, f"error, {column}")]
    return all_of(comparisons, f"against the discriminative mixture of Table 2; {_remark(evidence)}")


def _shapes(evidence: Evidence, claim: Claim) -> Judgement:
    """Under softmax classes lie along rays from the origin, more than under SDGM, and overlap more."""
    radial, silhouette = (
        {method: evidence.network("mnist_d2", method, measure) for method in ("softmax", "sdgm")}
        for measure in ("radial", "silhouette")
    )
    told = ", ".join(
        f"{name} {each['softmax'].mean:.2f} and {each['sdgm'].mean:.2f}"
        for name, each in (("alignment with rays", radial), ("silhouette", silhouette))
    )
    return all_of(
        [
            greater(radial["softmax"], radial["sdgm"], "alignment with rays"),
            greater(silhouette["sdgm"], silhouette["softmax"], "silhouette"),
        ],
        f"of softmax and SDGM, means over seeds: {told}; {evidence.own_network}",
    )


RIVALS = ("softmax", "softmax_l1", "large_margin_softmax")

JUDGES: dict[str, Callable[[Evidence, Claim], Judgement]] = {
    "abstract.beats_softmax": _beats_on_average(*RIVALS),
    "sec1.beats_fc_softmax": _beats("softmax"),
    "sec4-2-2.beats_softmax": _beats("softmax"),
    "sec4-2-2.n_worse_than_dgmm": _count,
    "sec4-2-2.same_level_sparse": _same_level,
    "sec4-2-2.best_on_average": _beats_on_average(*RIVALS, "dgmm"),
    "sec5.beats_softmax": _beats("softmax"),
    "sec5.sparsity": _sparsity,
    "fig5.feature_shape": _shapes,
}
"""All but the cells of Table 2."""
