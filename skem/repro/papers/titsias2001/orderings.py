"""Evaluators of orderings and statements in Titsias and Likas (2001) about errors: the best method, the best lambda, the average.

The best of several lambdas is known only after the runs. It is selected on every other repetition and measured on the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from math import ceil

import numpy as np
import pandas as pd

from skem.repro.ledger.estimates import LEVEL, Claim, Estimate, NotRun, below_best, mean
from skem.repro.ledger.stated_claims import setting_of
from skem.repro.ledger.verdicts import (
    Comparison,
    Evaluation,
    all_of,
    any_of,
    at_least,
    greater,
    joined,
    listed,
)
from skem.repro.papers.measured import FINAL, final
from skem.repro.papers.titsias2001.evaluators import EVALUATORS, FOUR, by_lambda
from skem.repro.papers.titsias2001.evidence import Evidence
from skem.repro.papers.titsias2001.tables import method_of

evaluates = EVALUATORS.evaluates

MANY = 12 / 25
"""Share of columns that counts as "many cases": the paper's own tables have it in 12 of 25."""


@evaluates("table?.*.best.*")
def _best_of_column(evidence: Evidence, claim: Claim) -> Evaluation:
    """Section IV: bold numbers indicate the best average performance for a number of components.

    It holds if the method is our best, and most others are certainly worse. It fails if the method errs more than our best one in the
    prediction of one cross-validation, of which the paper has one. Any other method may win it by chance, so all share the level.
    """
    d, m, named = claim["dataset"], int(setting_of(claim)["n_components"]), method_of(claim)
    errors = {method: evidence.column(d, method, m) for method in evidence.paper.methods}
    worse = below_best({method: final(-e.runs) for method, e in errors.items() if e.runs is not None})
    ours, rival = _best(errors), _best({method: e for method, e in errors.items() if method != named})
    difference, others = errors[rival] - errors[named], len(errors) - 1
    if ours == named:
        low, high = difference.interval(1 - (1 - LEVEL) / (len(errors) * others / 2))
        verdict = "holds" if len(worse) > len(errors) / 2 else "undecided"
    else:
        low, high = replace(difference, overlap=1.0).interval(
            1 - 2 * (1 - LEVEL) / others
        )  # high on one side
        verdict = "fails" if high < 0 else "undecided"
    share, titles = float((_by_method(errors).idxmin(axis=1) == named).mean()), evidence.paper.methods
    tied = [titles[method] for method in errors if method not in {*worse, ours}]
    note = joined(
        f"our best is {titles[ours]}" + (f", not certainly better than {', '.join(tied)}" if tied else ""),
        f"{titles[named]} is the best in {share:.0%} of our repetitions",
        f"points of error below the best other method, {titles[rival]}"
        + ("" if ours == named else ", in one cross-validation"),
    )
    return Evaluation(verdict, difference.mean, low, high, difference.n, FINAL, note)


def _by_method(errors: Mapping[str, Estimate]) -> pd.DataFrame:
    """Errors by repetition, a column per method."""
    return pd.DataFrame({method: e.runs for method, e in errors.items()})


def _best(errors: Mapping[str, Estimate]) -> str:
    return min(errors, key=lambda name: errors[name].mean)


def _halves(estimate: Estimate) -> tuple[Estimate, Estimate]:
    """Every other repetition, to select by, and the rest, to measure the selected."""
    if estimate.runs is None or len(estimate.runs) < 4:
        raise NotRun("fewer than four repetitions: none is left to measure the selected ones")
    return final(estimate.runs[0::2]), final(estimate.runs[1::2])


def _selected(errors: Mapping[str, Estimate]) -> Estimate:
    """Measure the best of several methods, on the repetitions that did not select it."""
    halves = {name: _halves(estimate) for name, estimate in errors.items()}
    return halves[_best({name: first for name, (first, _) in halves.items()})][1]


def _against_selected(other: Estimate, errors: Mapping[str, Estimate], what: str = "") -> Comparison:
    """State that another method errs less than the best of several."""
    return greater(_selected(errors), _halves(other)[1], what)


def _lambdas(evidence: Evidence, dataset: str, m: int) -> dict[str, Estimate]:
    return {method: evidence.column(dataset, method, m) for method in evidence.paper.lambdas}


# The average.
@evaluates("sec4.averaging_best")
def _averaging_best(evidence: Evidence) -> Evaluation:
    average, *others = (
        mean([evidence.by_table(dataset, method) for dataset in evidence.paper.evaluated])
        for method in ("averaging", "rbf", *evidence.paper.lambdas)
    )
    titles = [title for method, title in evidence.paper.methods.items() if method != "averaging"]
    named = dict(zip(titles, others, strict=True))
    comparisons = [greater(e, average, method) for method, e in named.items()]
    return all_of(comparisons, f"{FOUR}: averaging {average.mean:.2f}, {listed(named)}")


@evaluates("sec4.averaging_best.*")
def _averaging_best_of(evidence: Evidence, claim: Claim) -> Evaluation:
    """On average over a table."""
    d = claim["dataset"]
    others = {"rbf": evidence.by_table(d, "rbf")} | by_lambda(evidence, d)
    average = evidence.by_table(d, "averaging")
    return all_of(greater(error, average, evidence.paper.methods[method]) for method, error in others.items())


EVALUATORS.not_comparable(
    "the paper says it of all tables together, and its own Table III has RBF ahead (24.04 against 24.83 on average)",
    "sec4.averaging_best.pima",
)


@evaluates("sec3b.averaging_helps")
def _averaging_helps(evidence: Evidence) -> Evaluation:
    """Section III-B, "in some cases": on one table the average errs less than the best lambda."""
    return any_of(
        (
            _against_selected(evidence.by_table(d, "averaging"), by_lambda(evidence, d), d)
            for d in evidence.paper.evaluated
        ),
        FOUR,
    )


# The RBF network.
@evaluates("sec4.pima.rbf_better")
def _rbf_better(evidence: Evidence) -> Evaluation:
    rbf = evidence.by_table("pima", "rbf")
    errors = by_lambda(evidence, "pima")
    return all_of(greater(error, rbf, evidence.paper.methods[method]) for method, error in errors.items())


@evaluates("sec4.*.lambda_beats_rbf")
def _lambda_beats_rbf(evidence: Evidence, claim: Claim) -> Evaluation:
    """The best lambda of each number of components errs less, on average over these."""
    d = claim["dataset"]
    by_size = [_lambdas(evidence, d, m) for m in evidence.sizes(d)]
    selected, rbf = mean([_selected(errors) for errors in by_size]), evidence.by_table(d, "rbf")
    measured = _halves(rbf)[1]
    optimistic = rbf - mean([final(_by_method(errors).min(axis=1)) for errors in by_size])
    low, high = optimistic.interval()
    note = joined(
        f"mean over M: RBF {measured.mean:.2f}, best λ {selected.mean:.2f}",
        "with the best λ by the test errors of the same repetition, as in the paper, the difference is "
        f"{optimistic.mean:.2f} [{low:.2f}, {high:.2f}]",
    )
    return all_of([greater(measured, selected)], note)


# The best lambda.
@evaluates("sec4.intermediate_lambda")
def _intermediate(evidence: Evidence) -> Evaluation:
    """Three lambdas against two: if all were equal, one of the three would have the least error in three fifths of columns."""
    first, *_, last = evidence.paper.lambdas
    comparisons = []
    for d in evidence.paper.evaluated:
        for m in evidence.sizes(d):
            errors = _lambdas(evidence, d, m)
            ends = {method: errors.pop(method) for method in (first, last)}
            comparisons.append(greater(_selected(ends), _selected(errors), f"{d}, M = {m}"))
    return at_least(ceil(MANY * len(comparisons)), comparisons, FOUR)


@evaluates("sec4.no_winner_0_or_1")
def _no_winner(evidence: Evidence) -> Evaluation:
    """The four tables could not refute it: in the paper only Clouds is the other way round."""
    differences = {}
    for d in evidence.paper.evaluated:
        errors = by_lambda(evidence, d)
        differences[d] = (errors["lambda000"] - errors["lambda100"]).mean
    means = ", ".join(f"{d} {value:+.2f}" for d, value in differences.items())
    note = (
        "the paper has λ = 1 ahead on Clouds alone, which is unavailable; points of error that "
        f"λ = 0 has more than λ = 1: {means}"
    )
    return Evaluation("not testable", protocol=FINAL, note=note)


@evaluates("sec5.depends_on_lambda")
def _depends(evidence: Evidence) -> Evaluation:
    """Section V, "drastically" and "problem dependent": the error changes with lambda as in the paper's tables, and the best lambda too.

    The change from the best to the worst lambda of one cross-validation is averaged over tables. It fails if the paper's is larger than
    the prediction for one. The best lambda of each table is selected on half of the repetitions and compared on the others.
    """
    evaluated, lambdas = evidence.paper.evaluated, evidence.paper.lambdas
    printed = evidence.printed.groupby(["dataset", "method"])["paper"].mean().unstack()[list(lambdas)]
    in_paper = np.ptp(printed.loc[evaluated], axis=1)
    best, errors, changes = {}, {}, {}
    for d in evaluated:
        means = by_lambda(evidence, d)
        changes[d] = _by_method(means).max(axis=1) - _by_method(means).min(axis=1)
        halves = {method: _halves(estimate) for method, estimate in means.items()}
        errors[d] = {method: measured for method, (_, measured) in halves.items()}
        best[d] = _best({method: first for method, (first, _) in halves.items()})
    change = final(pd.DataFrame(changes).mean(axis=1))
    low, high = replace(change, overlap=1.0).interval()  # of one cross-validation
    pairs = [
        (errors[a][best[b]] - errors[a][best[a]], errors[b][best[a]] - errors[b][best[b]])
        for a, b in combinations(evaluated, 2)
        if best[a] != best[b]
    ]
    level = 1 - (1 - LEVEL) / max(len(pairs), 1)
    differ = any(min(x.interval(level)[0], y.interval(level)[0]) > 0 for x, y in pairs)
    refuted = all(
        min(x.interval()[1], y.interval()[1]) < 0 for x, y in pairs
    )  # no pairs: one lambda is best everywhere
    informative = high - low <= in_paper.mean()
    verdict = (
        "fails" if high < in_paper.mean() or refuted else "holds" if differ and informative else "undecided"
    )
    by_table = [f"{d} {lambdas[best[d]]}, {changes[d].mean():.2f} ({in_paper[d]:.2f})" for d in evaluated]
    note = joined(
        "the best values of λ differ" if differ else "it is not certain that the best values of λ differ",
        f"points of error from the best to the worst λ of one cross-validation, {in_paper.mean():.2f} in the paper on average",
        f"best λ and these points by table (in brackets the paper's): {'; '.join(by_table)}",
    )
    return Evaluation(verdict, change.mean, low, high, change.n, FINAL, note)
