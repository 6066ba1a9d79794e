"""The judge of the claims of Titsias and Likas (2001).

A result like the paper's is the mean over the folds of one cross-validation, so runs are repetitions, and a cell of the
tables counts as one trial, although the ledger counts its five folds. Where a claim is about all five tables it is judged
on the four that there is data for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import pairwise

import numpy as np

from skem.repro.ledger.estimates import Estimate, NotRun, mean
from skem.repro.ledger.verdicts import (
    Comparison,
    Judgement,
    all_of,
    at_least,
    evaluate,
    greater,
    judge_number,
)
from skem.repro.papers.titsias2001.evidence import AGAIN, Evidence

Claim = Mapping[str, str]


def judge(evidence: Evidence, claim: Claim) -> Judgement:
    """The verdict on a claim.

    Raises
    ------
    NotRun
        If what it needs was not part of the run, or cannot be had.
    """
    if claim["external"] == "yes":
        return Judgement("cited")
    name = claim["id"].removeprefix("titsias.")
    if name in THEORY:
        return Judgement("theory", note=THEORY[name])
    evidence.need(claim["dataset"])
    if name in JUDGES:
        return JUDGES[name](evidence, claim)
    if claim["kind"] == "number":
        return _number(evidence, claim)
    return evaluate(claim["expression"], lambda names: _named(evidence, names))


def _number(evidence: Evidence, claim: Claim) -> Judgement:
    if claim["id"] in evidence.cells:
        dataset, method, m = evidence.cells[claim["id"]]
        estimate, notes = evidence.column(dataset, method, m), []
        for name, told in evidence.paper.otherwise(dataset).items():
            with suppress(NotRun):
                notes.append(f"{told}: {evidence.column(name, method, m).mean:.2f}")
        return judge_number({**claim, "trials": "1"}, replace(estimate, note="; ".join(notes)))
    dataset, quantity = claim["dataset"], claim["quantity"]
    record = evidence.records.get(dataset)
    if not record:
        raise NotRun(f"{dataset} {AGAIN}")
    if not record["available"]:
        raise NotRun(f"{dataset} is not available")
    facts = {
        "n_samples": record["shape"][0],
        "n_features": record["shape"][1],
        "n_classes": record["n_classes"],
    }
    facts["n_features_used"] = record["n_classes"] - 1  # discriminant scores
    return judge_number(claim, Estimate(float(facts[quantity]), protocol="data"))


def _named(evidence: Evidence, names: str) -> list[Estimate]:
    """The estimates that the brackets of an expression name."""
    if ".clouds." in names:
        evidence.need("clouds")
    matching = [cell for name, cell in evidence.measured.items() if fnmatchcase(name, names)]
    if not matching:
        raise NotRun(f"{names} {AGAIN}")
    return [evidence.column(*cell) for cell in matching]


FOUR = "four tables, without clouds"


def _averaging_best(evidence: Evidence, claim: Claim) -> Judgement:
    def over_all(method: str) -> Estimate:
        return mean([evidence.by_table(dataset, method) for dataset in evidence.paper.judged])

    average = over_all("averaging")
    others = {method: over_all(method) for method in ("rbf", *evidence.paper.lambdas)}
    told = ", ".join(f"{method} {e.mean:.2f}" for method, e in others.items())
    return all_of(
        (greater(e, average, method) for method, e in others.items()),
        f"{FOUR}: averaging {average.mean:.2f}, {told}",
    )


def _intermediate(evidence: Evidence, claim: Claim) -> Judgement:
    lambdas, comparisons = list(evidence.paper.lambdas), []
    for dataset in evidence.paper.judged:
        for m in evidence.sizes(dataset):
            ends, middle = (
                min((evidence.column(dataset, method, m) for method in methods), key=lambda e: e.mean)
                for methods in ((lambdas[0], lambdas[-1]), lambdas[1:-1])
            )
            comparisons.append(greater(ends, middle, f"{dataset}, M = {m}"))
    return at_least(12, comparisons, FOUR)


def _no_winner(evidence: Evidence, claim: Claim) -> Judgement:
    differences = {
        d: evidence.by_table(d, "lambda000") - evidence.by_table(d, "lambda100")
        for d in evidence.paper.judged
    }
    told = f"{FOUR}: " + ", ".join(f"{d} {e.mean:+.2f}" for d, e in differences.items())
    zero = [
        Comparison(Estimate(-e.mean, e.sd, e.n, None, e.protocol), what=d) for d, e in differences.items()
    ]
    one = [Comparison(e, what=d) for d, e in differences.items()]
    # All four on one side would not refute it: clouds could be on the other.
    both = any(c.holds(len(one)) for c in one) and any(c.holds(len(zero)) for c in zero)
    verdict = "holds" if both else "undecided"
    values = [e.mean for e in differences.values()]
    note = f"points of error that lambda = 0 has more than lambda = 1, {told}"
    return Judgement(
        verdict, float(np.mean(values)), min(values), max(values), protocol="last-pass", note=note
    )


def _depends(evidence: Evidence, claim: Claim) -> Judgement:
    best, comparisons = {}, []
    for dataset in evidence.paper.judged:
        by_lambda = {method: evidence.by_table(dataset, method) for method in evidence.paper.lambdas}
        low = min(by_lambda, key=lambda method: by_lambda[method].mean)
        high = max(by_lambda, key=lambda method: by_lambda[method].mean)
        best[dataset] = low
        comparisons.append(greater(by_lambda[high], by_lambda[low], f"{dataset}, {low} against {high}"))
    told = ", ".join(
        f"{d}: best {low}, range {c.difference.mean:.2f}"
        for (d, low), c in zip(best.items(), comparisons, strict=True)
    )
    judgement = all_of(comparisons, f"mean over M, {told}")
    if judgement.verdict == "holds" and len(set(best.values())) == 1:
        return Judgement("fails", judgement.measured, judgement.low, judgement.high, note=judgement.note)
    return judgement


def _cost(evidence: Evidence, claim: Claim) -> Judgement:
    return all_of(
        greater(
            evidence.by_table(d, "averaging", "seconds"),
            evidence.by_table(d, method, "seconds"),
            f"{d}, {method}",
        )
        for d in evidence.paper.judged
        for method in evidence.paper.lambdas
    )


def _sharing_control(evidence: Evidence, claim: Claim) -> Judgement:
    steps = [
        greater(
            evidence.by_table(d, b, "shared"),
            evidence.by_table(d, a, "shared"),
            f"{d}, {a} to {b}",
            or_equal=True,
        )
        for d in evidence.paper.judged
        for a, b in pairwise(evidence.paper.lambdas)
    ]
    told = "; ".join(
        f"{d} "
        + ", ".join(f"{evidence.by_table(d, method, 'shared').mean:.2f}" for method in evidence.paper.lambdas)
        for d in evidence.paper.judged
    )
    return all_of(steps, f"shared proportion by lambda, mean over M: {told}")


def _own_group(evidence: Evidence, claim: Claim) -> Judgement:
    """The mean posterior of a class's own kernels, eq. 37, against an equal share of all kernels."""
    comparisons = []
    for dataset in evidence.paper.judged:
        own = {
            method: evidence.by_table(dataset, method, "own_group")
            for method in list(evidence.paper.lambdas)[1:-1]
        }
        equal = Estimate(1 / evidence.records[dataset]["n_classes"])
        comparisons += [greater(share, equal, f"{dataset}, {method}") for method, share in own.items()]
    return all_of(
        comparisons, "posterior of the class's own group, mean over rows, over its share of the kernels"
    )


def _projection(evidence: Evidence, claim: Claim) -> Judgement:
    raise NotRun(
        "ELENA's five-dimensional file is not available; here the scores are fitted inside each fold"
    )


def _fig3_kernels(evidence: Evidence, claim: Claim) -> Judgement:
    """A kernel with at least nine tenths of the first class, or not."""
    shared, unsupervised = (evidence.example("figure3", m, "own") for m in ("shared", "unsupervised"))
    limit = Estimate(0.9)
    return all_of(
        [greater(shared, limit, "supervised"), greater(limit, unsupervised, "unsupervised")],
        f"largest weight of a kernel in the first class: {shared.mean:.2f} and {unsupervised.mean:.2f}",
    )


def _fig3_same(evidence: Evidence, claim: Claim) -> Judgement:
    apart = evidence.example("figure3", "shared", "apart")
    return all_of(
        [greater(Estimate(0.05), apart)],
        f"kernels {apart.mean:.3f} spreads of the data from those of lambda = 0; almost the same: within .05",
    )


def _example(figure: str, better: str, worse: str, column: str) -> Callable[[Evidence, Claim], Judgement]:
    def compare(evidence: Evidence, claim: Claim) -> Judgement:
        a, b = (evidence.example(figure, model, column) for model in (better, worse))
        larger = (b, a) if column == "error" else (a, b)
        return all_of(
            [greater(*larger)], f"{column}: {better} {a.mean:.3f}, {worse} {b.mean:.3f}; data of our own"
        )

    return compare


def _fig5(evidence: Evidence, claim: Claim) -> Judgement:
    """By likelihood, as the ledger has it; the shared model contains the separate one, so it can hardly hold."""
    judgement = _example("figure5", "separate", "shared", "log_likelihood")(evidence, claim)
    by_error = _example("figure5", "separate", "shared", "error")(evidence, claim)
    return replace(judgement, note=f"{judgement.note}. As classifiers it {by_error.verdict}: {by_error.note}")


def _fig4_kernels(evidence: Evidence, claim: Claim) -> Judgement:
    four = evidence.example("figure4", "separate, 4 kernels", "log_likelihood")
    two, shared = (evidence.example("figure4", m, "log_likelihood") for m in ("separate", "shared"))
    enough = abs((four - shared).mean) < 0.05 < (shared - two).mean
    note = f"log-likelihood of 2 shared kernels {shared.mean:.3f}, of 2 separate {two.mean:.3f}, of 4 {four.mean:.3f}"
    return judge_number(claim, Estimate(4.0 if enough else float("nan"), protocol="fresh rows", note=note))


def _test(name: str) -> str:
    return f"tests/estimators/test_prbf.py::{name}"


_PASSES = _test("test_passes_are_the_equations_of_the_paper")
_ZERO = _test("test_lambda_zero_is_a_mixture_per_class")
_ONE = _test("test_lambda_one_is_skem")

THEORY = {
    "sec4.rbf_protocol": _test("test_the_rbf_network_is_least_squares_on_the_kernels_of_a_mixture"),
    "sec4.multiples_of_classes": "tests/repro/papers/titsias2001/test_titsias.py::test_kernels_are_multiples_of_classes",
    "sec3b.averaging_density": _test("test_the_average_is_over_densities"),
    "sec2a.class_prior": _test("test_the_class_prior_is_that_of_the_data"),
    "sec2.separate_is_special_case": _ZERO,
    "sec2b.updates": f"{_PASSES}; {_test('test_the_penalised_likelihood_never_falls')}",
    "sec2c.expected_update": _test("test_a_kernel_is_the_mean_of_what_the_classes_would_make_of_it"),
    "sec2c.class_posterior": _test("test_a_kernel_is_the_mean_of_what_the_classes_would_make_of_it"),
    "sec3.p_lambda_not_density": _test("test_what_p_lambda_integrates_to"),
    "sec3.posteriors_sum": _PASSES,
    "sec3.lambda_zero_weights": _ZERO,
    "sec3a.lambda_zero": _ZERO,
    "sec3a.lambda_one": _ONE,
    "sec3a.e_step_only": f"{_PASSES}; step 5 of the listing should go to step 3",
    "sec3a.local_maximum": _test("test_the_penalised_likelihood_never_falls"),
    "sec5.unifying": f"{_ZERO}; {_ONE}",
}
"""Claims that algebra decides, and where it is checked."""

JUDGES: dict[str, Callable[[Evidence, Claim], Judgement]] = {
    "sec4.satimage.projection": _projection,
    "sec4.no_winner_0_or_1": _no_winner,
    "sec4.intermediate_lambda": _intermediate,
    "sec4.averaging_best": _averaging_best,
    "sec4.averaging_cost": _cost,
    "sec5.depends_on_lambda": _depends,
    "sec3.sharing_control": _sharing_control,
    "sec3.group_posteriors_higher": _own_group,
    "sec2c.fig3_supervised": _fig3_kernels,
    "sec2c.fig3_prbf_better": _example("figure3", "shared", "unsupervised", "error"),
    "sec2d.fig3_same_as_separate": _fig3_same,
    "sec2d.fig4_prbf_better": _example("figure4", "shared", "separate", "log_likelihood"),
    "sec2d.fig4_n_kernels": _fig4_kernels,
    "sec2d.fig5_separate_better": _fig5,
}
"""Numbers, orderings and statements that are neither cells nor facts nor formal expressions."""


def knows(claim: Claim) -> bool:
    """Whether there is a judge for a claim.

    Numbers are found by table or quantity. There are no data for the clouds: what is said of them is not run.
    """
    name = claim["id"].removeprefix("titsias.")
    return name in {*THEORY, *JUDGES} or claim["kind"] == "number" or claim["dataset"] == "clouds"
