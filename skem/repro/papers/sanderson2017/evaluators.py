"""Evaluators of the likelihoods and the advice of Sanderson and Curtin (2017).

Its "gmm_diag" is Armadillo's class of today, "mlpack" the model of its Python package. A best of ten fits is compared through
the spread of the best of ten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

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
)
from skem.repro.papers.measured import exactly, final, resolution
from skem.repro.papers.sanderson2017.evidence import Evidence
from skem.repro.papers.sanderson2017.tables import METHOD_OF_PAPER, sufficient

_MIXTURE, _KMEANS = "tests/estimators/test_gaussian_mixture.py", "tests/estimators/test_kmeans.py"
_ALGEBRA = "tests/repro/papers/sanderson2017/test_algebra.py"
EVALUATORS = Evaluators(
    "sanderson",
    verified={
        "sec2.monotone": f"{_MIXTURE}::test_the_objective_never_falls; without a floor",
        "sec2-1.covariance_form": f"{_ALGEBRA}::test_both_forms_of_the_covariance_are_one; far from zero eq. 8 loses digits, so samples are centred first",
        "sec2-1.reduction": f"{_MIXTURE}::test_threads_fits_at_once_and_files_do_not_change_a_bit",
        "sec2-2.log_domain": "tests/estimators/test_theory.py::test_a_density_of_many_features_underflows",
        "sec2-2.variance_floor": f"{_ALGEBRA}::test_a_floor_keeps_a_fit_of_ties_finite",
        "sec3.kmeans_special_case": f"{_ALGEBRA}::test_k_means_is_em_with_hard_assignments",
        "sec3.dead_means": f"{_KMEANS}::test_a_cluster_without_rows_takes_the_farthest_of_the_most_popular; Armadillo 11 takes it from the last cluster that has samples",
        "sec4.static_seeding_repeatable": f"{_KMEANS}::test_seeds_are_what_their_names_say",
    },
)
measures, evaluates = EVALUATORS.measures, EVALUATORS.evaluates

NOT_MUCH = 0.05
"""Share of a log-likelihood that counts as no significant loss."""


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
        return exactly(n, "a stand-in, drawn: suit and rank of five cards of 52")
    n, m = datasets.describe(entry["source"])["shape"]
    with_class = not of_samples and entry.get("with_class", False)
    return exactly(n if of_samples else m + with_class, "the class among them" if with_class else "")


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
    return any_of((Comparison(gain, what=name) for name, gain in found.items()), f"on {', '.join(found)}")


@evaluates("sec5.no_significant_loss")
def _no_significant_loss(evidence: Evidence) -> Evaluation:
    """On more than half of the data sets."""

    def margin(dataset: str) -> Estimate:
        allowed = NOT_MUCH * abs(evidence.best(dataset, "mlpack_full").mean)
        return _gain(evidence, dataset) + Estimate(allowed)

    found = evidence.on_data_sets(margin)
    note = f"not below by more than {100 * NOT_MUCH:g}%; {', '.join(found)}"
    return at_least(len(found) // 2 + 1, [Comparison(e, what=name) for name, e in found.items()], note)


@evaluates("sec5.regularisation")
def _overfits_less(evidence: Evidence) -> Evaluation:
    """On held-out samples of the data sets whose diagonal mixture is the more likely one in Table 1."""
    found = evidence.on_data_sets(
        lambda d: [evidence.held_out(d, f"skem_{kind}") for kind in ("diag", "full")],
        ("winequality", "phy", "covertype", "pokerhand"),
    )
    means = ", ".join(f"{d} {diagonal.mean:.2f} and {full.mean:.2f}" for d, (diagonal, full) in found.items())
    comparisons = [greater(diagonal, full, d) for d, (diagonal, full) in found.items()]
    return all_of(comparisons, f"log p per held-out sample, diagonal and full: {means}")


# Advice.
@evaluates("sec3.mahalanobis")
def _mahalanobis(evidence: Evidence) -> Evaluation:
    """After as many iterations of EM as the paper advises, and after those of its Table 1."""
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
        comparisons.append(greater(ours, theirs, f"{n} iterations", or_equal=True))
        means.append(f"{n} iterations {ours.mean:.0f} and {theirs.mean:.0f}")
    note = f"{setup['data_set']} as it is, skem's diagonal mixture, means after {', '.join(means)}"
    return all_of(comparisons, note)


def advised(evidence: Evidence, claim: Claim, about: str, choose: Callable[[list[int]], float]) -> Evaluation:
    """Compare a number that the paper advises with the sufficient one of each data set."""
    gain, found = evidence.paper.advice["gain"], {}
    for name in evidence.advised_on(about):
        curve = {n: e.mean for n, e in evidence.advised(about, name).items()}
        found[name] = sufficient(pd.Series(curve), gain)
    words = ", ".join(f"{name} {enough}" for name, (_, enough) in found.items())
    note = f"enough, but for less than {gain:g} nats per held-out sample: {words}"
    value = Estimate(float(choose([n for n, _ in found.values()])), note=note)
    evaluation = evaluate_number(claim, value)
    # Neither more nor less than a bound is a merit.
    return replace(evaluation, verdict="higher") if evaluation.verdict == "worse" else evaluation


evaluates("sec3.kmeans_iterations", "sec4.km_iter")(lambda e, c: advised(e, c, "kmeans_iter", np.median))
evaluates("sec4.em_iter_min")(lambda e, c: advised(e, c, "em_iter", min))
evaluates("sec4.em_iter_max")(lambda e, c: advised(e, c, "em_iter", max))
# "At least 10" states that ten are enough: the sufficient number is no larger.
evaluates("sec4.samples_per_gaussian")(
    lambda e, c: advised(e, {**c, "setting": "bound=upper"}, "rows_per_component", max)
)


@evaluates("sec4.diag_fewer_samples")
def _fewer_samples(evidence: Evidence) -> Evaluation:
    """The loss by few samples against the most, on held-out samples; as logarithms, since it has long tails."""
    comparisons, means = [], []
    for dataset in evidence.advised_on("rows_per_component"):
        costs = []
        for covariance in ("diag", "full"):
            curve = evidence.advised("rows_per_component", dataset, covariance)
            costs.append(curve[max(curve)] - curve[min(curve)])
        logs = [Estimate.of(np.log(cost.runs.clip(lower=1e-6))) for cost in costs]  # type: ignore[union-attr]
        comparisons.append(greater(logs[1], logs[0], dataset))
        means.append(f"{dataset} {costs[0].mean:.2g} and {costs[1].mean:.2g}")
    few = min(evidence.paper.advice["rows_per_component"])
    note = f"{few} samples per Gaussian cost, diagonal and full, nats per sample: {', '.join(means)}"
    return all_of(comparisons, note)


@measures("fig2.data_megabytes", "fig2.n_samples", "fig2.n_features")
def _size_of_figure2(evidence: Evidence, claim: Claim) -> Estimate:
    n, m = (evidence.paper.figure2[key] for key in ("n_rows", "n_features"))
    sizes = {"n_samples": n, "n_features": m, "megabytes": n * m * 8 / 2**20}
    return exactly(sizes[claim["quantity"]], "samples drawn by us")
