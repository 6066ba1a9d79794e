"""Evaluators of the likelihoods and the advice of Sanderson and Curtin (2017).

Its "gmm_diag" is Armadillo's class of today, "mlpack" the model of its Python package. A best of ten fits is compared through
the spread of the best of ten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from skem import datasets
from skem.repro.ledger.estimates import Claim, Estimate
from skem.repro.ledger.evaluators import Evaluators
from skem.repro.ledger.verdicts import (
    Comparison,
    Evaluation,
    all_of,
    any_of,
    at_least,
    evaluate_number,
    greater,
    listed,
)
from skem.repro.papers.measured import FINAL, exactly, final, resolution
from skem.repro.papers.sanderson2017.enough import Enough, enough, smallest, typical
from skem.repro.papers.sanderson2017.evidence import Evidence
from skem.repro.papers.sanderson2017.tables import IN_PAPER, METHOD_OF_PAPER

_MIXTURE, _KMEANS = "tests/estimators/test_gaussian_mixture.py", "tests/estimators/test_kmeans.py"
_ALGEBRA = "tests/repro/papers/sanderson2017/test_algebra.py"
EVALUATORS = Evaluators(
    "sanderson",
    verified={
        "sec2.monotone": f"{_MIXTURE}::test_the_objective_never_falls; without a floor",
        "sec2-1.covariance_form": f"{_ALGEBRA}::test_both_forms_of_the_covariance_are_one; far from zero eq. 8 loses digits, so samples are centred first",
        "sec2-1.reduction": f"{_MIXTURE}::test_threads_fits_at_once_and_files_do_not_change_a_bit",
        "sec2-2.log_domain": "tests/estimators/test_theory.py::test_a_density_of_many_features_underflows",
        "sec3.kmeans_special_case": f"{_ALGEBRA}::test_k_means_is_em_with_hard_assignments",
        "sec3.dead_means": f"{_KMEANS}::test_a_cluster_without_rows_takes_the_farthest_of_the_most_popular; Armadillo 11 takes it from the last cluster that has samples",
        "sec4.static_seeding_repeatable": f"{_KMEANS}::test_seeds_are_what_their_names_say",
    },
)
measures, evaluates = EVALUATORS.measures, EVALUATORS.evaluates
EVALUATORS.not_comparable(
    "other samples: hands drawn at random stand in for the paper's file",
    "table1.pokerhand.*_log_likelihood",
    "sec5.diag_higher.pokerhand",
)

NOT_MUCH = 0.05
"""Share of a log-likelihood that counts as no significant loss."""

SAMPLES = {"train": "training samples", "test": "held-out samples"}

OF_TABLE1 = 8
"""Data sets in the paper's Table 1."""

FEW = 10
"""Samples per Gaussian that the paper recommends."""


# Table 1.
@measures("table1.*.n_components")
def _n_components(evidence: Evidence, claim: Claim) -> Estimate:
    return exactly(evidence.paper.data_sets[claim["dataset"]]["n_components"])


@measures("table1.*.n_*")
def _size(evidence: Evidence, claim: Claim) -> Estimate:
    """Samples and features, counted in the data or in a stand-in."""
    entry, of_samples = evidence.entry(claim["dataset"]), claim["quantity"] == "n_samples"
    if "drawn" in entry:
        n = entry["drawn"] if of_samples else 10
        return exactly(n, "drawn by our generator: suit and rank of five cards of 52")
    if of_samples:
        return exactly(datasets.describe(entry["source"])["shape"][0])
    note = "with the class as a feature" if entry.get("with_class", False) else ""
    return exactly(evidence.n_features(claim["dataset"]), note)


@evaluates("table1.*_log_likelihood")
def _log_likelihood(evidence: Evidence, claim: Claim) -> Evaluation:
    """The best of ten runs is one result."""
    best = evidence.best(claim["dataset"], METHOD_OF_PAPER[claim["method"]])
    evaluation = evaluate_number({**claim, "trials": "1"}, best)
    if best.freedom + 1 < int(claim["trials"]):  # the interval after as many runs as the paper's is unknown
        evaluation = replace(evaluation, narrowest=float("nan"))
    return evaluation.at_resolution(resolution(evidence, claim))


def _gain(evidence: Evidence, dataset: str) -> Estimate:
    """The log-likelihood of the diagonal mixture less that of the full one."""
    return evidence.best(dataset, "armadillo_diag") - evidence.best(dataset, "mlpack_full")


@evaluates("sec5.diag_higher.*")
def _diag_higher(evidence: Evidence, claim: Claim) -> Evaluation:
    return all_of([Comparison(_gain(evidence, claim["dataset"]))])


@evaluates("abstract.accuracy", "sec6.accuracy")
def _higher_somewhere(evidence: Evidence) -> Evaluation:
    found = evidence.on_data_sets(lambda dataset: _gain(evidence, dataset))
    note = f"compared on {', '.join(found)}; on wine quality MLPACK's bound on condition numbers decides"
    return any_of((Comparison(gain, what=name) for name, gain in found.items()), note)


@evaluates("sec5.no_significant_loss")
def _no_significant_loss(evidence: Evidence) -> Evaluation:
    """Most of eight are five."""

    def margin(dataset: str) -> Estimate:
        allowed = NOT_MUCH * abs(evidence.best(dataset, "mlpack_full").mean)
        return _gain(evidence, dataset) + Estimate(allowed)

    found = evidence.on_data_sets(margin)
    note = f"not below by more than {100 * NOT_MUCH:g}%; {', '.join(found)}"
    comparisons = [Comparison(e, what=name) for name, e in found.items()]
    if len(found) > OF_TABLE1 // 2:
        return at_least(OF_TABLE1 // 2 + 1, comparisons, note)
    note = f"{len(found)} of {OF_TABLE1} data sets are measured, too few to decide about most; {note}"
    return replace(at_least(len(found) // 2 + 1, comparisons, note), verdict="undecided")


@evaluates("sec5.regularisation")
def _overfits_less(evidence: Evidence) -> Evaluation:
    """If overfitting is the cause, the full mixture is ahead on its training samples and behind on held-out ones.

    On data sets whose diagonal mixture is the more likely one in Table 1.
    """
    found = evidence.on_data_sets(
        lambda d: {samples: [evidence.of_folds(d, m, samples) for m in IN_PAPER] for samples in SAMPLES},
        ("winequality", "phy", "covertype", "pokerhand"),
    )
    comparisons, notes = [], []
    for name, by_samples in found.items():
        for samples, (diagonal, full) in by_samples.items():
            words = f"{name}, {SAMPLES[samples]}"
            ahead, behind = (full, diagonal) if samples == "train" else (diagonal, full)
            comparisons.append(greater(ahead, behind, words))
            notes.append(f"{words} {diagonal.mean:.2f} and {full.mean:.2f}")
    return all_of(comparisons, f"log p per sample, gmm_diag and MLPACK: {'; '.join(notes)}")


# Advice.
@evaluates("sec2-2.variance_floor")
def _floor_is_enough(evidence: Evidence) -> Evaluation:
    """On all data sets; where no variance comes near the floor, fits are the same."""
    found = evidence.on_data_sets(evidence.saved_by_floor, evidence.paper.floors["data_sets"])
    comparisons = [Comparison(e, or_equal=True, what=name) for name, e in found.items()]
    return all_of(comparisons, _saved_by_floor(evidence, found))


@evaluates("sec4.var_floor")
def _floor_can_help(evidence: Evidence) -> Evaluation:
    found = evidence.on_data_sets(evidence.saved_by_floor, evidence.paper.floors["data_sets"])
    comparisons = [Comparison(e, what=name) for name, e in found.items()]
    return any_of(comparisons, _saved_by_floor(evidence, found))


def _saved_by_floor(evidence: Evidence, found: Mapping[str, Estimate]) -> str:
    floor = sorted(evidence.paper.floors["floors"])[1]
    return f"fits by Armadillo in % of which a variance collapses unless there is a floor of {floor:g}: {listed(found, '{:.0f}')}"


@evaluates("sec3.mahalanobis")
def _mahalanobis(evidence: Evidence) -> Evaluation:
    """After as many iterations of EM as the paper advises, or after those of its Table 1: a poor initialisation *can* lead to a poor model."""
    setup, comparisons, means = evidence.paper.starts, [], []
    for n in setup["em_iter"]:
        ours, theirs = (
            final(
                evidence.rows("starts", "starts by two metrics", metric=m, em_iter=n).set_index("run")[
                    "train"
                ]
            )
            for m in ("mahalanobis", "euclidean")
        )
        comparisons.append(greater(ours, theirs, f"{n} iterations"))
        difference, (low, high) = ours - theirs, (ours - theirs).interval()
        means.append(f"after {n} iterations {difference.mean:.0f} ({low:.0f} to {high:.0f})")
    note = (
        f"log p on {setup['data_set']} by the Mahalanobis distance less by the Euclidean: {', '.join(means)}"
    )
    return any_of(comparisons, note)


def advised(
    evidence: Evidence, claim: Claim, about: str, choose: Callable[[list[Enough]], Enough] = typical
) -> Evaluation:
    """Compare a number that the paper calls sufficient with the smallest sufficient one; fewer are no contradiction."""
    found = {
        name: enough({n: Estimate.of(runs) for n, runs in evidence.advised(about, name).items()})
        for name in evidence.advised_on(about)
    }
    number, low, high = choose(list(found.values()))
    value = float(claim["value"])
    verdict = "reproduced" if high <= value else "higher" if low > value else "undecided"
    each = ", ".join(f"{evidence.paper.name(name)} {one}" for name, one in found.items())
    sufficient = sum(one.high <= value for one in found.values())
    note = f"{value:g} are enough on {sufficient} of {len(found)} data sets; "
    note += f"more iterations gain less than another initialisation from: {each}"
    runs = len(next(iter(evidence.advised(about, next(iter(found))).values())))
    return Evaluation(verdict, number, low, high, runs, FINAL, note)


evaluates("sec3.kmeans_iterations", "sec4.km_iter")(lambda e, c: advised(e, c, "kmeans_iter"))
evaluates("sec4.em_iter_min")(lambda e, c: advised(e, c, "em_iter", smallest))
evaluates("sec4.em_iter_max")(lambda e, c: advised(e, c, "em_iter"))


@evaluates("sec4.samples_per_gaussian")
def _samples_per_gaussian(evidence: Evidence, claim: Claim) -> Evaluation:
    """The smallest number with which, and with all larger ones, every fit converges.

    Fewer than the paper's are no contradiction, but if the fewest tried are enough, nothing shows that more help.
    """
    needed, iterations, few = [], [], min(evidence.paper.advice["rows_per_component"])
    for dataset in evidence.advised_on("rows_per_component"):
        converged = evidence.advised("rows_per_component", dataset, column="converged")
        failing = max((n for n, runs in converged.items() if not runs.all()), default=0)
        needed.append(min((n for n in converged if n > failing), default=max(converged)))
        n_iter = evidence.advised("rows_per_component", dataset, column="n_iter")
        name = evidence.paper.name(dataset)
        iterations.append(f"{name} {n_iter[few].median():.0f} and {n_iter[FEW].median():.0f}")
    number = float(max(needed))
    verdict = "higher" if number > float(claim["value"]) else "reproduced" if number > few else "undecided"
    note = f"every fit to {number:g} or more samples per Gaussian converges"
    note += f"; median iterations with {few} and with {FEW}: "
    return Evaluation(
        verdict, number, number, number, evidence.paper.advice["runs"], FINAL, note + ", ".join(iterations)
    )


@evaluates("sec4.diag_fewer_samples")
def _fewer_samples(evidence: Evidence) -> Evaluation:
    """The loss by few samples against the most, on held-out samples; as logarithms, since it has long tails."""
    comparisons, means = [], []
    for dataset in evidence.advised_on("rows_per_component"):
        name, costs = evidence.paper.name(dataset), []
        for covariance in ("diag", "full"):
            curve = evidence.advised("rows_per_component", dataset, covariance)
            costs.append(curve[max(curve)] - curve[FEW])
        logs = [Estimate.of(np.log(cost.clip(lower=1e-6))) for cost in costs]
        comparisons.append(greater(logs[1], logs[0], name))
        means.append(f"{name} {costs[0].mean():.2g} and {costs[1].mean():.2g}")
    note = f"{FEW} samples per Gaussian cost, diagonal and full, nats per held-out sample: {', '.join(means)}"
    return all_of(comparisons, note)


@measures("fig2.data_megabytes", "fig2.n_samples", "fig2.n_features")
def _size_of_figure2(evidence: Evidence, claim: Claim) -> Estimate:
    n, m = (evidence.paper.figure2[key] for key in ("n_rows", "n_features"))
    sizes = {"n_samples": n, "n_features": m, "megabytes": n * m * 8 / 2**20}
    return exactly(sizes[claim["quantity"]], "samples drawn by us")
