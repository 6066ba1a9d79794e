"""The judge of the claims of Sanderson and Curtin (2017).

Its "gmm_diag" is Armadillo's class as it is today, "mlpack" what its Python package trains. A best of ten fits is held
against ours through the spread of the best of ten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from skem import datasets
from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.ledger.links import apart
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
from skem.repro.papers.sanderson2017 import speed
from skem.repro.papers.sanderson2017.evidence import Evidence
from skem.repro.papers.sanderson2017.speed import ratio_of, there

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
        return _likelihood_cell(evidence, claim)
    if cell == "fit_seconds_ratio":
        return judge_number(claim, ratio_of(evidence, dataset))
    return judge_number(claim, evidence.seconds(dataset, ENGINES[cell.removesuffix("_fit_seconds")]))


def _likelihood_cell(evidence: Evidence, claim: Claim) -> Judgement:
    """To say anything, its interval is narrower than the two programs are apart; the best of ten starts is one result."""
    best = _log_likelihood(evidence, claim["id"])
    judgement = judge_number({**claim, "trials": "1"}, best)
    # What as many starts as the paper's would leave open is not known.
    if best.freedom + 1 < int(claim["trials"]):
        judgement = replace(judgement, narrowest=float("nan"))
    return judgement.sharp_enough(apart(evidence.stated, claim))


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


def _gain(evidence: Evidence, dataset: str) -> Estimate:
    """By how much the diagonal mixture is more likely than the full one."""
    return evidence.best(dataset, "armadillo_diag") - evidence.best(dataset, "mlpack_full")


def _higher_somewhere(evidence: Evidence, claim: Claim) -> Judgement:
    found = dict(there(evidence, lambda dataset: _gain(evidence, dataset)))
    return any_of((Comparison(gain, what=name) for name, gain in found.items()), f"on {', '.join(found)}")


def _no_significant_loss(evidence: Evidence, claim: Claim) -> Judgement:
    """On more than half of the data sets that are there."""

    def margin(dataset: str) -> Estimate:
        allowed = NOT_MUCH * abs(evidence.best(dataset, "mlpack_full").mean)
        return _gain(evidence, dataset) + Estimate(allowed)

    found = dict(there(evidence, margin))
    note = f"not below by more than {100 * NOT_MUCH:g}%; {', '.join(found)}"
    return at_least(len(found) // 2 + 1, [Comparison(e, what=name) for name, e in found.items()], note)


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
    """After as many passes of EM as the paper advises, and after as many as its Table 1 has."""
    setup = evidence.paper.starts
    comparisons, told = [], []
    for passes in setup["passes"]:
        ours, theirs = (
            Estimate.of(
                evidence.rows("starts", "starts by two metrics", metric=metric, passes=passes).set_index(
                    "run"
                )["train"],
                "last-pass",
            )
            for metric in ("mahalanobis", "euclidean")
        )
        comparisons.append(greater(ours, theirs, f"{passes} passes", or_equal=True))
        told.append(f"{passes} passes {ours.mean:.0f} and {theirs.mean:.0f}")
    note = f"{setup['data_set']} as it is, skem's diagonal mixture, means after {', '.join(told)}"
    return all_of(comparisons, note)


def _advised(
    about: str, choose: Callable[[list[int]], float], **setting: str
) -> Callable[[Evidence, Claim], Judgement]:
    """A number that the paper advises, against what is enough on each data set; ``setting`` replaces cells of the claim."""

    def judged(evidence: Evidence, claim: Claim) -> Judgement:
        found = {name: evidence.enough(about, name) for name in evidence.advised_on(about)}
        # At the end of a curve more might gain more.
        end = {name: max(evidence.advised(about, name)) for name in found}
        told = ", ".join(f"{n} {v}{' or more' if v == end[n] else ''}" for n, v in found.items())
        note = f"enough, but for less than {evidence.paper.advice['gain']:g} nats per held-out row: {told}"
        enough = Estimate(float(choose(list(found.values()))), note=note)
        judgement = judge_number({**claim, **setting}, enough)
        # To need more than a bound has no merit, and no fault either.
        return replace(judgement, verdict="higher") if judgement.verdict == "worse" else judgement

    return judged


def _fewer_rows(evidence: Evidence, claim: Claim) -> Judgement:
    """What few rows cost on held-out rows, against the most rows that were tried: compared as logarithms, as it has long tails."""
    comparisons, told = [], []
    for dataset in evidence.advised_on("rows_per_component"):
        costs = []
        for covariance in ("diag", "full"):
            curve = evidence.advised("rows_per_component", dataset, covariance)
            costs.append(curve[max(curve)] - curve[min(curve)])
        logs = [Estimate.of(np.log(cost.runs.clip(lower=1e-6))) for cost in costs if cost.runs is not None]
        comparisons.append(greater(logs[1], logs[0], dataset))
        told.append(f"{dataset} {costs[0].mean:.2g} and {costs[1].mean:.2g}")
    few = min(evidence.paper.advice["rows_per_component"])
    return all_of(
        comparisons, f"{few} rows per Gaussian cost, diagonal and full, nats per row: {', '.join(told)}"
    )


def _setting_of_figure2(evidence: Evidence, claim: Claim) -> Judgement:
    drawn = evidence.paper.figure2
    facts: dict[str, float] = {"n_samples": drawn["n_rows"], "n_features": drawn["n_features"]}
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
    **speed.JUDGES,
    "abstract.accuracy": _higher_somewhere,
    "sec6.accuracy": _higher_somewhere,
    "sec3.kmeans_iterations": _advised("kmeans_iter", np.median),
    "sec4.km_iter": _advised("kmeans_iter", np.median),
    "sec4.em_iter_min": _advised("em_iter", min),
    "sec4.em_iter_max": _advised("em_iter", max),
    # "At least 10" says that ten are enough: what is enough is no more.
    "sec4.samples_per_gaussian": _advised("rows_per_component", max, setting="bound=upper"),
    "sec3.mahalanobis": _mahalanobis,
    "sec4.diag_fewer_samples": _fewer_rows,
    "fig2.data_megabytes": _setting_of_figure2,
    "fig2.n_samples": _setting_of_figure2,
    "fig2.n_features": _setting_of_figure2,
    "sec5.no_significant_loss": _no_significant_loss,
    "sec5.regularisation": _overfits_less,
}
"""Numbers, orderings and statements that are neither cells nor formal expressions."""


def knows(claim: Claim) -> bool:
    """Whether there is a judge for a claim."""
    name = _name(claim)
    return name in {*THEORY, *JUDGES} or name.startswith("table1.")
