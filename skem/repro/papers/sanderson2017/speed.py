"""Judges of what Sanderson and Curtin (2017) claim about time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.ledger.verdicts import Comparison, Judgement, all_of, greater, judge_number
from skem.repro.papers.sanderson2017.evidence import SYNTHETIC, Evidence


def there(evidence: Evidence, what: Callable[[str], Estimate]) -> Iterator[tuple[str, Estimate]]:
    """What was measured on each data set of the paper that it was measured on."""
    reasons, some = {}, False
    for dataset in evidence.paper.data_sets:
        if dataset in ("ozone_mean", "ozone_observed"):
            continue
        try:
            estimate = what(dataset)
        except NotRun as error:
            reasons[dataset] = str(error.args[0])
            continue
        some = True
        yield dataset, estimate
    if not some:
        raise NotRun(reasons.get("winequality", next(iter(reasons.values()), "")))


def told(found: dict[str, Estimate], digits: int = 3) -> str:
    """Means by name, to be read."""
    return ", ".join(f"{name} {e.mean:.{digits}g}" for name, e in found.items())


def ratio_of(evidence: Evidence, dataset: str) -> Estimate:
    """Seconds of mlpack over those of Armadillo, round by round."""
    theirs, ours = (evidence.seconds(dataset, method) for method in ("mlpack_full", "armadillo_diag"))
    assert theirs.runs is not None
    assert ours.runs is not None
    return Estimate.of(theirs.runs / ours.runs, "last-pass", theirs.note)


def _faster_everywhere(evidence: Evidence, claim: Claim) -> Judgement:
    found = dict(
        there(
            evidence,
            lambda d: evidence.seconds(d, "mlpack_full") - evidence.seconds(d, "armadillo_diag"),
        )
    )
    return all_of((Comparison(e, what=name) for name, e in found.items()), f"on {', '.join(found)}")


def _ten_times_faster(evidence: Evidence, claim: Claim) -> Judgement:
    found = dict(there(evidence, lambda dataset: ratio_of(evidence, dataset)))
    return all_of(
        (greater(ratio, Estimate(10.0), name, or_equal=True) for name, ratio in found.items()),
        f"ratios {told(found)}",
    )


def _kmeans_cheaper(evidence: Evidence, claim: Claim) -> Judgement:
    comparisons = []

    def ahead(dataset: str) -> Estimate:
        kmeans = evidence.seconds(dataset, "armadillo_diag", "kmeans_seconds")
        per_iteration = replace(
            kmeans,
            mean=kmeans.mean / evidence.paper.kmeans_iter,
            sd=kmeans.sd / evidence.paper.kmeans_iter,
            runs=None if kmeans.runs is None else kmeans.runs / evidence.paper.kmeans_iter,
        )
        return evidence.seconds(dataset, "armadillo_diag", "seconds_per_pass") - per_iteration

    for dataset, difference in there(evidence, ahead):
        comparisons.append(Comparison(difference, what=dataset))
    comparisons.append(Comparison(ahead(SYNTHETIC), what="the rows of Figure 2"))
    return all_of(comparisons, "Armadillo's; the choice of seeds counted with k-means")


def _exp_dominates(evidence: Evidence, claim: Claim) -> Judgement:
    """exp() of as many numbers as a pass has, alone, against the pass."""

    def share(dataset: str) -> Estimate:
        rows = evidence.rows("timing_others", f"exp() on {dataset}", about="exp", dataset=dataset)
        spent = evidence.seconds(dataset, "armadillo_diag", "seconds_per_pass")
        alone = evidence.values["timing"]
        n = alone.loc[alone["dataset"] == dataset, "n_rows"].iloc[0]
        entry: Any = evidence.paper.data_sets.get(dataset, {})
        whole = entry.get("drawn", n)
        whole = evidence.paper.figure2["n_rows"] if dataset == SYNTHETIC else whole
        assert spent.runs is not None
        return Estimate.of(100 * whole / n * rows.set_index("round")["seconds"] / spent.runs, "last-pass")

    found = dict(there(evidence, share)) | {"Figure 2": share(SYNTHETIC)}
    note = f"Armadillo's pass, NumPy's exp(), share in %: {told(found)}"
    return all_of((greater(e, Estimate(50.0), name) for name, e in found.items()), note)


def _figure2(n_threads: int) -> Callable[[Evidence, Claim], Judgement]:
    return lambda evidence, claim: judge_number(
        claim, evidence.seconds(SYNTHETIC, "armadillo_diag", n_threads=n_threads)
    )


def _speedup(evidence: Evidence) -> Estimate:
    one, many = (evidence.seconds(SYNTHETIC, "armadillo_diag", n_threads=n) for n in (1, 16))
    assert one.runs is not None
    assert many.runs is not None
    return Estimate.of(one.runs / many.runs, "last-pass", one.note)


def _kmeans_share(evidence: Evidence, claim: Claim) -> Judgement:
    """For every number of threads that was run."""
    rows = evidence._of("timing", SYNTHETIC, "armadillo_diag", "seconds")
    share = 100 * rows["kmeans_seconds"] / rows["seconds"]
    by_threads = share.groupby(rows["n_threads"]).mean()
    told = ", ".join(f"{n} threads {value:.0f}" for n, value in by_threads.items())
    return judge_number(claim, Estimate.of(share.reset_index(drop=True), "last-pass", f"in %: {told}"))


def _spread_costs(evidence: Evidence, claim: Claim) -> Judgement:
    rows = evidence.rows("timing_others", "seeds", about="seeds")
    seconds = {init: Estimate.of(part.set_index("round")["seconds"]) for init, part in rows.groupby("init")}
    return all_of(
        (
            greater(seconds[f"{kind}_spread"], seconds[f"{kind}_subset"], kind)
            for kind in ("static", "random")
        ),
        f"skem's, one iteration after them, seconds: {told(seconds, 2)}",
    )


def _ten_times(evidence: Evidence, claim: Claim) -> Judgement:
    return all_of([greater(_speedup(evidence), Estimate(10.0), or_equal=True)])


JUDGES: dict[str, Callable[[Evidence, Claim], Judgement]] = {
    "abstract.speedup": _ten_times,
    "fig2.speedup_order": _ten_times,
    "sec6.speedup": _ten_times,
    "fig2.below_linear": lambda e, c: all_of([greater(Estimate(16.0), _speedup(e))]),
    "fig2.fit_seconds_1thread": _figure2(1),
    "fig2.fit_seconds_16threads": _figure2(16),
    "fig2.kmeans_share_pct": _kmeans_share,
    "sec2-1.exp_dominates": _exp_dominates,
    "sec3.kmeans_cheaper": _kmeans_cheaper,
    "sec4.spread_seeding_cost": _spread_costs,
    "sec5.speedup_over_mlpack": _ten_times_faster,
    "sec5.faster_everywhere": _faster_everywhere,
}
"""By the claims' ids."""
