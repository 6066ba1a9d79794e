"""Evaluators of Figures 3 to 5 of Titsias and Likas (2001), on examples of our own.

The paper prints no data. Figure 4's description decides its statements: both classes in both regions, so a class needs two components.
Statements about Figures 3 and 5 depend on the positions in the drawing, and are not comparable.
"""

from __future__ import annotations

import pandas as pd
import scipy

from skem.repro.ledger.estimates import LEVEL, Claim, Estimate
from skem.repro.ledger.verdicts import Evaluation, all_of, equivalent, evaluate_number, greater
from skem.repro.papers.titsias2001.evaluators import EVALUATORS
from skem.repro.papers.titsias2001.evidence import Evidence

evaluates = EVALUATORS.evaluates

SAME = 0.05
"""Difference of components, in standard deviations of the data, and of densities, in nats, that counts as none by eye."""

EVALUATORS.not_comparable(
    "the paper does not print the data of its drawing; measured on an example of ours",
    "sec2c.fig3_*",
    "sec2d.fig3_*",
    "sec2d.fig5_*",
)


@evaluates("sec2c.fig3_supervised")
def _fig3_components(evidence: Evidence) -> Evaluation:
    """A component has at least nine tenths of the first class, or none has."""
    shared, unsupervised = (evidence.example("figure3", m, "own") for m in ("shared", "unsupervised"))
    limit = Estimate(0.9)
    return all_of(
        [greater(shared, limit, "supervised"), greater(limit, unsupervised, "unsupervised")],
        f"largest weight of a component in the first class: {shared.mean:.2f} and {unsupervised.mean:.2f}",
    )


@evaluates("sec2d.fig3_same_as_separate")
def _fig3_same(evidence: Evidence) -> Evaluation:
    """Section II-D, Figure 3, which shows one fit: most fits are almost the same."""
    distance = evidence.example("figure3", "shared", "apart")
    same = int((pd.Series(distance.runs) < SAME).sum())
    low, high = scipy.stats.binomtest(same, distance.n).proportion_ci(LEVEL)
    verdict = "holds" if low > 0.5 else "fails" if high < 0.5 else "undecided"
    note = (
        f"share of fits whose components are within {SAME} standard deviations of the data of those of λ = 0: "
        f"{same} of {distance.n}"
    )
    return Evaluation(
        verdict, same / distance.n, float(low), float(high), distance.n, distance.protocol, note
    )


def _fewer_errors(evidence: Evidence, figure: str, better: str, worse: str) -> Evaluation:
    a, b = (evidence.example(figure, model, "error") for model in (better, worse))
    return all_of([greater(b, a)], f"points of error between {worse} {b.mean:.1f} and {better} {a.mean:.1f}")


@evaluates("sec2c.fig3_prbf_better")
def _fig3_errors(evidence: Evidence) -> Evaluation:
    return _fewer_errors(evidence, "figure3", "shared", "unsupervised")


@evaluates("sec2d.fig5_separate_better")
def _fig5(evidence: Evidence) -> Evaluation:
    """Section II-D, Figure 5, by errors: the shared model contains the separate one, so likelihood cannot decide."""
    return _fewer_errors(evidence, "figure5", "separate", "shared")


@evaluates("sec2d.fig4_prbf_better")
def _fig4(evidence: Evidence) -> Evaluation:
    shared, separate = (evidence.example("figure4", m, "log_likelihood") for m in ("shared", "separate"))
    note = f"log-likelihood of new samples, in nats per sample: shared {shared.mean:.3f}, separate {separate.mean:.3f}"
    return all_of([greater(shared, separate)], note)


@evaluates("sec2d.fig4_n_kernels")
def _fig4_components(evidence: Evidence, claim: Claim) -> Evaluation:
    """Section II-D, Figure 4: four separate components equal two shared ones, and two do not.

    Otherwise more are needed if four are worse, and fewer if four are better or two are equal.
    """
    four, two, shared = (
        evidence.example("figure4", model, "log_likelihood")
        for model in ("separate, 4 components", "separate", "shared")
    )
    note = (
        f"log-likelihood of new samples, in nats per sample: 2 shared components {shared.mean:.3f}, 2 separate {two.mean:.3f}, "
        f"4 separate {four.mean:.3f}; a difference below {SAME} counts as none"
    )
    comparisons = [*equivalent(four, shared, SAME, "four"), greater(shared - two, Estimate(SAME), "two")]
    verdict = all_of(comparisons).verdict
    if verdict == "holds":
        return evaluate_number(claim, Estimate(4.0, protocol=four.protocol, note=note))
    if verdict == "fails":
        verdict = "higher" if comparisons[1].fails(len(comparisons)) else "lower"
    return Evaluation(verdict, protocol=four.protocol, note=note)
