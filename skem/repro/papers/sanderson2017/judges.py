"""The judge of the claims of Sanderson and Curtin (2017).

Its "gmm_diag" is Armadillo's class as it is today, "mlpack" what its Python package trains. A best of ten fits is held
against ours through the spread of the best of ten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from skem import datasets
from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.ledger.verdicts import (
    Comparison,
    Judgement,
    all_of,
    any_of,
    at_least,
    evaluate,
    greater,
    judge_number,
)
from skem.repro.papers.sanderson2017.evidence import SYNTHETIC, Evidence

ENGINES = {"gmm_diag": "armadillo_diag", "mlpack": "mlpack_full"}
"""From the words of the claims' ids to methods."""
NOT_MUCH = 0.05
"""The share of a log-likelihood that counts as no significant loss."""


def judge(evidence: Evidence, claim: Claim) -> Judgement:
    """The verdict on a claim.

    Raises
    ------
    NotRun
        If what it needs was not part of the run, or cannot be had.
    """
    name = _name(claim)
    if claim["external"] == "yes":
        return Judgement("cited")
    if name in THEORY:
        return Judgement("theory", note=THEORY[name])
    if name in JUDGES:
        return JUDGES[name](evidence, claim)
    if name.startswith("table1."):
        return _cell(evidence, claim)
    return evaluate(claim["expression"], lambda wanted: [_log_likelihood(evidence, wanted)])


def _name(claim: Claim) -> str:
    return claim["id"].removeprefix("sanderson.")


def _log_likelihood(evidence: Evidence, wanted: str) -> Estimate:
    """Of an id of Table 1, "sanderson.table1.ozone.mlpack_log_likelihood"."""
    _, _, dataset, cell = wanted.split(".")
    return evidence.best(dataset, ENGINES[cell.removesuffix("_log_likelihood")])


def _cell(evidence: Evidence, claim: Claim) -> Judgement:
    """A cell of Table 1."""
    _, dataset, cell = _name(claim).split(".")
    if cell == "n_components":
        return judge_number(
            claim, Estimate(evidence.paper.data_sets[dataset]["n_components"], protocol="data")
        )
    if cell in ("n_samples", "n_features"):
        return _fact(evidence, claim)
    if cell.endswith("log_likelihood"):
        return judge_number({**claim, "trials": "1"}, _log_likelihood(evidence, claim["id"]))
    if cell == "fit_seconds_ratio":
        return judge_number(claim, _ratio(evidence, dataset))
    return judge_number(claim, evidence.seconds(dataset, ENGINES[cell.removesuffix("_fit_seconds")]))


def _fact(evidence: Evidence, claim: Claim) -> Judgement:
    """Rows and features: counted in the data, or in what is drawn."""
    entry, rows = evidence.entry(claim["dataset"]), claim["quantity"] == "n_samples"
    if "drawn" in entry:
        n = entry["drawn"] if rows else 10
        note = "a stand-in, drawn: suit and rank of five cards of 52"
        return judge_number(claim, Estimate(float(n), protocol="data", note=note))
    n, m = datasets.describe(entry["source"])["shape"]
    note = "the class among them" if not rows and entry.get("with_class") else ""
    m += bool(entry.get("with_class"))
    return judge_number(claim, Estimate(float(n if rows else m), protocol="data", note=note))


def _ratio(evidence: Evidence, dataset: str) -> Estimate:
    """Seconds of mlpack over those of Armadillo, round by round."""
    theirs, ours = (evidence.seconds(dataset, method) for method in ("mlpack_full", "armadillo_diag"))
    assert theirs.runs is not None
    assert ours.runs is not None
    return Estimate.of(theirs.runs / ours.runs, "last-pass", theirs.note)


def _there(evidence: Evidence, what: Callable[[str], Estimate]) -> Iterator[tuple[str, Estimate]]:
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


def _gain(evidence: Evidence, dataset: str) -> Estimate:
    """By how much the diagonal mixture is more likely than the full one."""
    return evidence.best(dataset, "armadillo_diag") - evidence.best(dataset, "mlpack_full")


def _told(found: dict[str, Estimate], digits: int = 3) -> str:
    return ", ".join(f"{name} {e.mean:.{digits}g}" for name, e in found.items())


def _higher_somewhere(evidence: Evidence, claim: Claim) -> Judgement:
    found = dict(_there(evidence, lambda dataset: _gain(evidence, dataset)))
    return any_of((Comparison(gain, what=name) for name, gain in found.items()), f"on {', '.join(found)}")


def _no_significant_loss(evidence: Evidence, claim: Claim) -> Judgement:
    """On more than half of the data sets that are there."""

    def margin(dataset: str) -> Estimate:
        allowed = NOT_MUCH * abs(evidence.best(dataset, "mlpack_full").mean)
        return _gain(evidence, dataset) + Estimate(allowed)

    found = dict(_there(evidence, margin))
    note = f"not below by more than {100 * NOT_MUCH:g}%; {', '.join(found)}"
    return at_least(len(found) // 2 + 1, [Comparison(e, what=name) for name, e in found.items()], note)


def _faster_everywhere(evidence: Evidence, claim: Claim) -> Judgement:
    found = dict(
        _there(
            evidence,
            lambda d: evidence.seconds(d, "mlpack_full") - evidence.seconds(d, "armadillo_diag"),
        )
    )
    return all_of((Comparison(e, what=name) for name, e in found.items()), f"on {', '.join(found)}")


def _ten_times_faster(evidence: Evidence, claim: Claim) -> Judgement:
    found = dict(_there(evidence, lambda dataset: _ratio(evidence, dataset)))
    return all_of(
        (greater(ratio, Estimate(10.0), name, or_equal=True) for name, ratio in found.items()),
        f"ratios {_told(found)}",
    )


def _overfits_less(evidence: Evidence, claim: Claim) -> Judgement:
    """On held-out rows, where the diagonal mixture of Table 1 is the more likely one."""
    comparisons, told = [], []
    for dataset in ("winequality", "phy", "covertype", "pokerhand"):
        try:
            diagonal, full = (evidence.held_out(dataset, f"skem_{kind}") for kind in ("diag", "full"))
        except NotRun:
            continue
        comparisons.append(greater(diagonal, full, dataset))
        told.append(f"{dataset} {diagonal.mean:.2f} and {full.mean:.2f}")
    if not comparisons:
        evidence.held_out("winequality", "skem_full")
    return all_of(comparisons, f"log p per held-out row, diagonal and full: {', '.join(told)}")


def _mahalanobis(evidence: Evidence, claim: Claim) -> Judgement:
    setup = evidence.paper.starts
    both = []
    for metric in ("mahalanobis", "euclidean"):
        rows = evidence.rows("starts", "starts by two metrics", metric=metric, passes=max(setup["passes"]))
        both.append(Estimate.of(rows.set_index("run")["train"], "last-pass"))
    ours, theirs = both
    note = f"{setup['data_set']} as it is, skem's diagonal mixture, means of {ours.mean:.0f} and {theirs.mean:.0f}"
    return all_of([greater(ours, theirs, or_equal=True)], note)


def _advised(about: str, choose: Callable[[list[int]], float]) -> Callable[[Evidence, Claim], Judgement]:
    """A number that the paper advises, against what is enough on each data set."""

    def judged(evidence: Evidence, claim: Claim) -> Judgement:
        found = {name: evidence.enough(about, name) for name in evidence.advised_on(about)}
        told = ", ".join(f"{name} {value}" for name, value in found.items())
        note = f"enough, but for less than {evidence.paper.advice['gain']:g} nats per held-out row: {told}"
        return judge_number(claim, Estimate(float(choose(list(found.values()))), note=note))

    return judged


def _fewer_rows(evidence: Evidence, claim: Claim) -> Judgement:
    """What few rows cost on held-out rows, against the most rows that were tried; and the numbers of parameters."""
    comparisons, told = [], []
    for dataset in evidence.advised_on("rows_per_component"):
        costs = []
        for covariance in ("diag", "full"):
            curve = evidence.advised("rows_per_component", dataset, covariance)
            costs.append(curve[max(curve)] - curve[min(curve)])
        comparisons.append(greater(costs[1], costs[0], dataset))
        told.append(f"{dataset} {costs[0].mean:.2g} and {costs[1].mean:.2g}")
    few = min(evidence.paper.advice["rows_per_component"])
    return all_of(
        comparisons, f"{few} rows per Gaussian cost, diagonal and full, nats per row: {', '.join(told)}"
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

    for dataset, difference in _there(evidence, ahead):
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
        whole = evidence.paper.data_sets.get(dataset, {}).get("drawn", n)
        whole = evidence.paper.figure2["n_rows"] if dataset == SYNTHETIC else whole
        assert spent.runs is not None
        return Estimate.of(100 * whole / n * rows.set_index("round")["seconds"] / spent.runs, "last-pass")

    found = dict(_there(evidence, share)) | {"Figure 2": share(SYNTHETIC)}
    note = f"Armadillo's pass, NumPy's exp(), share in %: {_told(found)}"
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
        f"skem's, one iteration after them, seconds: {_told(seconds, 2)}",
    )


def _setting_of_figure2(evidence: Evidence, claim: Claim) -> Judgement:
    drawn = evidence.paper.figure2
    facts = {"n_samples": drawn["n_rows"], "n_features": drawn["n_features"]}
    facts["megabytes"] = drawn["n_rows"] * drawn["n_features"] * 8 / 2**20
    return judge_number(
        claim, Estimate(float(facts[claim["quantity"]]), protocol="data", note="rows drawn by us")
    )


_STARTS, _MIXTURE = "tests/estimators/test_mixture_starts.py", "tests/estimators/test_gaussian_mixture.py"
_KMEANS = "tests/estimators/test_kmeans.py"
_OWN = "tests/repro/papers/sanderson2017/test_algebra.py"

THEORY = {
    "sec2.monotone": f"{_MIXTURE}::test_the_objective_never_falls; without a floor",
    "sec2-1.covariance_form": f"{_OWN}::test_both_forms_of_the_covariance_are_one; far from zero eq. 8 loses digits, so rows are centred first",
    "sec2-1.reduction": f"{_MIXTURE}::test_threads_fits_at_once_and_files_do_not_change_a_bit",
    "sec2-2.log_domain": "tests/estimators/test_theory.py::test_a_density_of_many_features_underflows",
    "sec2-2.variance_floor": f"{_OWN}::test_a_floor_keeps_a_fit_of_ties_finite",
    "sec3.kmeans_special_case": f"{_OWN}::test_k_means_is_em_with_hard_assignments",
    "sec3.dead_means": f"{_KMEANS}::test_a_cluster_without_rows_takes_the_farthest_of_the_most_popular; Armadillo 11 takes it from the last cluster that has rows",
    "sec4.static_seeding_repeatable": f"{_KMEANS}::test_seeds_are_what_their_names_say",
}
"""Claims that algebra decides, and where it is checked."""

JUDGES: dict[str, Callable[[Evidence, Claim], Judgement]] = {
    "abstract.speedup": lambda e, c: all_of([greater(_speedup(e), Estimate(10.0), or_equal=True)]),
    "fig2.speedup_order": lambda e, c: all_of([greater(_speedup(e), Estimate(10.0), or_equal=True)]),
    "sec6.speedup": lambda e, c: all_of([greater(_speedup(e), Estimate(10.0), or_equal=True)]),
    "fig2.below_linear": lambda e, c: all_of([greater(Estimate(16.0), _speedup(e))]),
    "abstract.accuracy": _higher_somewhere,
    "sec6.accuracy": _higher_somewhere,
    "sec2-1.exp_dominates": _exp_dominates,
    "sec3.kmeans_iterations": _advised("kmeans_iter", np.median),
    "sec4.km_iter": _advised("kmeans_iter", np.median),
    "sec4.em_iter_min": _advised("em_iter", min),
    "sec4.em_iter_max": _advised("em_iter", max),
    "sec4.samples_per_gaussian": _advised("rows_per_component", max),
    "sec3.kmeans_cheaper": _kmeans_cheaper,
    "sec3.mahalanobis": _mahalanobis,
    "sec4.diag_fewer_samples": _fewer_rows,
    "sec4.spread_seeding_cost": _spread_costs,
    "fig2.data_megabytes": _setting_of_figure2,
    "fig2.n_samples": _setting_of_figure2,
    "fig2.n_features": _setting_of_figure2,
    "fig2.fit_seconds_1thread": _figure2(1),
    "fig2.fit_seconds_16threads": _figure2(16),
    "fig2.kmeans_share_pct": _kmeans_share,
    "sec5.speedup_over_mlpack": _ten_times_faster,
    "sec5.faster_everywhere": _faster_everywhere,
    "sec5.no_significant_loss": _no_significant_loss,
    "sec5.regularisation": _overfits_less,
}
"""Numbers, orderings and statements that are neither cells nor formal expressions."""


def knows(claim: Claim) -> bool:
    """Whether there is a judge for a claim."""
    name = _name(claim)
    return name in {*THEORY, *JUDGES} or name.startswith("table1.")
