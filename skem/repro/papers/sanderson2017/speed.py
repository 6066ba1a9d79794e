"""Evaluators of the times of Sanderson and Curtin (2017)."""

from __future__ import annotations

import numpy as np

from skem.repro.ledger.estimates import Claim, Estimate
from skem.repro.ledger.stated_claims import setting_of
from skem.repro.ledger.verdicts import Comparison, Evaluation, all_of, greater, listed
from skem.repro.papers.measured import final
from skem.repro.papers.sanderson2017.evaluators import EVALUATORS, evaluates, measures
from skem.repro.papers.sanderson2017.evidence import SYNTHETIC, Evidence
from skem.repro.papers.sanderson2017.tables import METHOD_OF_PAPER

EVALUATORS.not_comparable(
    "other machine: seconds and their ratios depend on it",
    *("table1.*_fit_seconds", "table1.*.fit_seconds_ratio", "sec5.speedup_over_mlpack"),
)
EVALUATORS.not_comparable(
    "other machine, and other samples: the paper does not describe how it drew its own",
    *("fig2.fit_seconds_*", "fig2.kmeans_share_pct", "fig2.speedup_order", "fig2.below_linear"),
    *("abstract.speedup", "sec6.speedup"),
)
EVALUATORS.not_comparable(
    "other machine: the share of exp() depends on the processor and on the library that computes it",
    "sec2-1.exp_dominates",
)

STOPS_EARLY = ("ozone",)
"""Data sets on which Armadillo ends EM after a few iterations, so that the seconds of one iteration are unknown."""


@measures("table1.*_fit_seconds", "fig2.fit_seconds_*")
def _seconds(evidence: Evidence, claim: Claim) -> Estimate:
    n_threads = int(setting_of(claim).get("n_threads", 1))
    return evidence.seconds(claim["dataset"], METHOD_OF_PAPER[claim["method"]], n_threads=n_threads)


def _ratio(evidence: Evidence, dataset: str) -> Estimate:
    """Seconds of mlpack over those of Armadillo."""
    return evidence.ratio(*(evidence.seconds(dataset, m) for m in ("mlpack_full", "armadillo_diag")))


@measures("table1.*.fit_seconds_ratio")
def _ratio_of_table1(evidence: Evidence, claim: Claim) -> Estimate:
    return _ratio(evidence, claim["dataset"])


@evaluates("sec5.faster_everywhere")
def _faster_everywhere(evidence: Evidence) -> Evaluation:
    """An ordering of two programs on one machine; as logarithms of ratios, since times vary by factors."""
    found = evidence.on_data_sets(lambda dataset: _ratio(evidence, dataset))
    missing = [name for name in map(evidence.paper.name, evidence.paper.of_table1) if name not in found]
    note = (
        f"mlpack's seconds over Armadillo's: {listed(found, '{:.3g}')}; not available: {', '.join(missing)}"
    )
    return all_of((Comparison(_logarithm(ratio), what=name) for name, ratio in found.items()), note)


def _logarithm(ratio: Estimate) -> Estimate:
    return final(np.log(ratio.runs))  # type: ignore[arg-type]


@evaluates("sec5.speedup_over_mlpack")
def _ten_times_mlpack(evidence: Evidence) -> Evaluation:
    found = evidence.on_data_sets(lambda dataset: _ratio(evidence, dataset))
    comparisons = [greater(ratio, Estimate(10.0), name, or_equal=True) for name, ratio in found.items()]
    note = f"ratios {listed(found, '{:.3g}')}; the paper's own ratio of BIRCH 3 is 7.6"
    return all_of(comparisons, note)


@evaluates("sec3.kmeans_cheaper")
def _kmeans_cheaper(evidence: Evidence) -> Evaluation:
    """An iteration of EM against one of k-means; as logarithms of ratios."""

    def ratio(dataset: str) -> Estimate:
        kmeans = evidence.seconds(dataset, "armadillo_diag", "kmeans_seconds")
        em = evidence.seconds(dataset, "armadillo_diag", "seconds_per_iteration")
        return final(em.runs * evidence.paper.kmeans_iter / kmeans.runs)  # type: ignore[operator]

    names = [d for d in evidence.paper.of_table1 if d not in STOPS_EARLY]
    found = evidence.on_data_sets(ratio, names) | {"the samples of Figure 2": ratio(SYNTHETIC)}
    comparisons = [Comparison(_logarithm(e), what=name) for name, e in found.items()]
    note = f"Armadillo's iteration of EM over one of k-means, its choice of seeds included: {listed(found, '{:.3g}')}"
    return all_of(comparisons, note)


@evaluates("sec2-1.exp_dominates")
def _exp_dominates(evidence: Evidence) -> Evaluation:
    """exp() of as many numbers as an iteration has, alone, against the iteration."""

    def share(dataset: str) -> Estimate:
        rows = evidence.rows("timing_others", f"exp() on {dataset}", about="exp", dataset=dataset)
        spent = evidence.seconds(dataset, "armadillo_diag", "seconds_per_iteration")
        n_rows = evidence.rows("timing", dataset, dataset=dataset)["n_rows"].iloc[0]
        scale = evidence.scale(dataset, n_rows)
        return final(100 * scale * rows.set_index("round")["seconds"] / spent.runs)

    found = evidence.on_data_sets(share) | {"Figure 2": share(SYNTHETIC)}
    note = f"Armadillo's iteration, NumPy's exp(), share in %: {listed(found, '{:.3g}')}"
    return all_of((greater(e, Estimate(50.0), name) for name, e in found.items()), note)


def _speedup(evidence: Evidence) -> Estimate:
    """Seconds of Figure 2 on one thread over those on sixteen."""
    times = (evidence.seconds(SYNTHETIC, "armadillo_diag", n_threads=n) for n in (1, 16))
    return evidence.ratio(*times)


@evaluates("abstract.speedup", "fig2.speedup_order", "sec6.speedup")
def _ten_times(evidence: Evidence) -> Evaluation:
    return all_of([greater(_speedup(evidence), Estimate(10.0), or_equal=True)])


@evaluates("fig2.below_linear")
def _below_linear(evidence: Evidence) -> Evaluation:
    return all_of([greater(Estimate(16.0), _speedup(evidence))])


@measures("fig2.kmeans_share_pct")
def _kmeans_share(evidence: Evidence) -> Estimate:
    """For every number of threads that was run."""
    rows = evidence.of("timing", SYNTHETIC, "armadillo_diag", "seconds")
    share = 100 * rows["kmeans_seconds"] / rows["seconds"]
    means = share.groupby(rows["n_threads"]).mean()
    listed = ", ".join(f"{n} threads {value:.0f}" for n, value in means.items())
    return final(share.reset_index(drop=True), f"in %: {listed}")


@evaluates("sec4.spread_seeding_cost")
def _spread_costs(evidence: Evidence) -> Evaluation:
    rows = evidence.rows("timing_others", "seeds", about="seeds")
    seconds = {init: Estimate.of(part.set_index("round")["seconds"]) for init, part in rows.groupby("init")}
    comparisons = [
        greater(seconds[f"{kind}_spread"], seconds[f"{kind}_subset"], kind) for kind in ("static", "random")
    ]
    return all_of(comparisons, f"skem's, one iteration after them, seconds: {listed(seconds, '{:.2g}')}")
