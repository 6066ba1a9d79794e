"""Measures of Titsias and Likas (2001) that no row of ``config/claims/titsias2001.yaml`` can say.

A result like the paper's is the mean over the folds of one cross-validation: runs are repetitions, and a cell of the tables is
one trial. The best of several lambdas is known only after the runs. It is selected on every other repetition and measured on the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import scipy
from scipy.special import gamma

from skem import datasets
from skem.repro.ledger.cells import ALL, FINAL, Evidence
from skem.repro.ledger.decisions import Comparison, Evaluation, decide, evaluate_number, joined, related
from skem.repro.ledger.estimates import (
    LEVEL,
    Claim,
    Estimate,
    NotRun,
    below_best,
    mean,
    setting_of,
)
from skem.repro.ledger.evaluator import Listed
from skem.repro.papers.titsias2001.settings import Settings
from skem.repro.papers.titsias2001.tables import cells, method_of

SAME = 0.05
"""Difference of components, in standard deviations of the data, and of densities, in nats, that counts as none by eye."""

Errors = Mapping[str, Estimate]


def names(paper: Settings) -> dict[str, Any]:
    """Return the names that rows use."""
    _, *between, _ = paper.lambdas
    return {
        "lambdas": paper.lambdas,
        "between": {method: paper.lambdas[method] for method in between},
        "single": {method: title for method, title in paper.methods.items() if method != "averaging"},
        "evaluated": paper.evaluated,
        "sizes": {table: entry["n_components"] for table, entry in paper.tables.items()},
        "not_available": {table: entry.get("not_available", "") for table, entry in paper.tables.items()},
    }


def cell(evidence: Evidence, dataset: str, method: str, n_components: str) -> Estimate:
    """Estimate a cell of the tables, with the standard deviation over folds."""
    cell = {"dataset": dataset, "method": method, "n_components": n_components}
    return replace(evidence.estimate("error", **cell), spread=over_folds(evidence, **cell))


def over_folds(evidence: Evidence, **cell: Any) -> Estimate:
    """Estimate the standard deviation of errors over the folds of a cross-validation, which the paper prints after "+-".

    The mean over repetitions is that of a normal sample's standard deviation, which is too small by the factor c4.
    """
    row = evidence.rows("spread", **cell).iloc[0]
    freedom, n = evidence.paper.n_folds - 1, int(row["n_runs"])
    c4 = np.sqrt(2 / freedom) * gamma((freedom + 1) / 2) / gamma(freedom / 2)
    return Estimate(float(row["std"] / c4), np.nan, n, protocol=FINAL, dof=n * freedom)


def _errors(evidence: Evidence, among: Sequence[str], **cell: Any) -> dict[str, Estimate]:
    return {method: evidence.estimate("error", method=method, **cell) for method in among}


def _by_method(errors: Errors) -> pd.DataFrame:
    return pd.DataFrame({method: e.runs for method, e in errors.items()})


def _best(errors: Errors) -> str:
    return min(errors, key=lambda name: errors[name].mean)


def _halves(estimate: Estimate) -> tuple[Estimate, Estimate]:
    """Every other repetition, to select by, and the rest, to measure the selected."""
    if estimate.runs is None or len(estimate.runs) < 4:
        raise NotRun("fewer than four repetitions: none is left to measure the selected ones")
    first, second = estimate.runs[0::2], estimate.runs[1::2]
    return Estimate.of(first, FINAL), Estimate.of(second, FINAL)


def selected(evidence: Evidence, among: Sequence[str], dataset: str, n_components: Any) -> Estimate:
    """Measure the best of several methods, on the repetitions that did not select it; of a list of sizes, the mean over the best of each."""
    if isinstance(n_components, list):
        return mean([selected(evidence, among, dataset, n) for n in n_components])
    errors = _errors(evidence, among, dataset=dataset, n_components=n_components)
    halves = {name: _halves(estimate) for name, estimate in errors.items()}
    return halves[_best({name: first for name, (first, _) in halves.items()})][1]


def rest(evidence: Evidence, **cell: Any) -> Estimate:
    """Measure errors on the repetitions that do not select."""
    return _halves(evidence.estimate("error", **cell))[1]


def least(evidence: Evidence, among: Sequence[str], dataset: str, n_components: list[int]) -> Estimate:
    """Measure the best method of each repetition, as the paper selects it."""
    by_size = [_errors(evidence, among, dataset=dataset, n_components=n) for n in n_components]
    return mean([Estimate.of(_by_method(errors).min(axis=1), FINAL) for errors in by_size])


def equal_share(evidence: Evidence, dataset: str) -> Estimate:
    """Return the share of the components that each class has."""
    return Estimate(1 / datasets.describe(dataset)["n_classes"])


def from_printed(evidence: Evidence, dataset: str) -> Estimate:
    """Measure the mean distance of the errors in a variant of Satimage from the printed ones."""
    printed = cells(evidence.stated)
    own = printed[printed["dataset"] == "satimage"]
    distances = []
    for row in own.itertuples():
        runs = evidence.estimate(
            "error", dataset=dataset, method=row.method, n_components=row.n_components
        ).runs
        distances.append(Estimate.of((runs - row.paper).abs(), FINAL))  # type: ignore[operator]
    return mean(distances)


def best_of_column(evidence: Evidence, claim: Claim) -> Evaluation:
    """Section IV: bold numbers indicate the best average performance for a number of components.

    It holds if the method is our best, and most others are certainly worse. It fails if the method has a higher error than our best one in the
    prediction of one cross-validation, of which the paper has one. Any other method may win it by chance, so all share the level. If it is
    certainly worse, and one cross-validation too uncertain for any number of ours, it is *not testable*.
    """
    d, m, named = claim["dataset"], setting_of(claim)["n_components"], method_of(claim)
    errors = _errors(evidence, list(evidence.paper.methods), dataset=d, n_components=m)
    worse = below_best(
        {method: Estimate.of(-e.runs, FINAL) for method, e in errors.items() if e.runs is not None}
    )
    ours, rival = _best(errors), _best({method: e for method, e in errors.items() if method != named})
    difference, others = errors[rival] - errors[named], len(errors) - 1
    if ours == named:
        low, high = difference.interval(1 - (1 - LEVEL) / (len(errors) * others / 2))
        detail = "holds" if len(worse) > len(errors) / 2 else "undecided"
    else:
        one_sided = 1 - 2 * (1 - LEVEL) / others
        low, high = replace(difference, overlap=1.0).interval(one_sided)
        highest = difference.mean + scipy.special.ndtri((1 + one_sided) / 2) * difference.sd
        never = named in worse and highest > 0
        detail = "fails" if high < 0 else "not testable" if never else "undecided"
    share, titles = float((_by_method(errors).idxmin(axis=1) == named).mean()), evidence.paper.methods
    tied = [titles[method] for method in errors if method not in {*worse, ours}]
    note = joined(
        f"our best is {titles[ours]}" + (f", not certainly better than {', '.join(tied)}" if tied else ""),
        f"{titles[named]} is the best in {share:.0%} of our repetitions",
        f"points of error below the best other method, {titles[rival]}"
        + ("" if ours == named else ", in one cross-validation"),
    )
    return Evaluation(detail, difference.mean, low, high, difference.n_runs, FINAL, note)


def intermediate_lambda(evidence: Evidence, claim: Claim) -> Evaluation:
    """Section IV, "in many cases": columns of one cross-validation in which a lambda between 0 and 1 has a smaller error than both ends.

    The paper's number of columns is evaluated as a number of one cross-validation; more columns are no contradiction.
    """
    printed = cells(evidence.stated)
    in_paper, counts = 0, []
    for d in evidence.paper.evaluated:
        table = printed[printed["dataset"] == d].pivot(index="n_components", columns="method", values="paper")
        in_paper += int(_between_ahead(evidence, table).sum())
        counts += [
            _between_ahead(
                evidence,
                _by_method(_errors(evidence, list(evidence.paper.lambdas), dataset=d, n_components=m)),
            )
            for m in table.index
        ]
    ours = pd.concat(counts, axis=1, join="inner")  # repetitions that all tables have
    count, n_lambdas = Estimate.of(ours.sum(axis=1), FINAL), len(evidence.paper.lambdas)
    note = (
        f"columns in one cross-validation less the paper's; of {ours.shape[1]}, without clouds, the paper has {in_paper}, "
        f"ours {count:.1f} on average; if all λ had equal errors, chance alone would give {ours.shape[1] * (n_lambdas - 2) / n_lambdas:g}"
    )
    stated = {"value": str(in_paper), "quantity": "columns", "setting": "", "trials": "1"}
    found = evaluate_number(stated, count).at_resolution()
    detail = {"reproduced": "holds", "better": "holds", "worse": "fails"}.get(found.detail, found.detail)
    measured, low, high = (end - in_paper for end in (found.measured, found.low, found.high))
    return Evaluation(detail, measured, low, high, count.n, FINAL, joined(found.note, note))


def _between_ahead(evidence: Evidence, errors: pd.DataFrame) -> pd.Series:
    """Return True where a lambda between 0 and 1 has a smaller error than both ends; columns are methods."""
    first, *between, last = evidence.paper.lambdas
    return errors[between].min(axis=1) < errors[[first, last]].min(axis=1)


def depends_on_lambda(evidence: Evidence, claim: Claim) -> Evaluation:
    """Section V, "drastically" and "problem dependent": the error changes with lambda as in the paper's tables, and the best lambda too.

    The change from the best to the worst lambda of one cross-validation is averaged over tables. It fails if the paper's is larger than
    the prediction for one. The best lambda of each table is selected on half of the repetitions and compared on the others.
    """
    evaluated, lambdas = evidence.paper.evaluated, evidence.paper.lambdas
    printed = cells(evidence.stated).groupby(["dataset", "method"])["paper"].mean().unstack()[list(lambdas)]
    in_paper = np.ptp(printed.loc[evaluated], axis=1)
    best, errors, changes = {}, {}, {}
    for d in evaluated:
        means = _errors(evidence, list(lambdas), dataset=d, n_components=ALL)
        changes[d] = _by_method(means).max(axis=1) - _by_method(means).min(axis=1)
        halves = {method: _halves(estimate) for method, estimate in means.items()}
        errors[d] = {method: measured for method, (_, measured) in halves.items()}
        best[d] = _best({method: first for method, (first, _) in halves.items()})
    change = Estimate.of(
        pd.DataFrame(changes).dropna().mean(axis=1), FINAL
    )  # repetitions that all tables have
    low, high = replace(change, overlap=1.0).interval()  # of one cross-validation
    pairs = [
        (errors[a][best[b]] - errors[a][best[a]], errors[b][best[a]] - errors[b][best[b]])
        for a, b in combinations(evaluated, 2)
        if best[a] != best[b]
    ]
    level = 1 - (1 - LEVEL) / max(len(pairs), 1)
    differ = any(min(x.interval(level)[0], y.interval(level)[0]) > 0 for x, y in pairs)
    # Without pairs, one lambda is best everywhere.
    refuted = all(min(x.interval()[1], y.interval()[1]) < 0 for x, y in pairs)
    informative = high - low <= in_paper.mean()
    detail = (
        "fails" if high < in_paper.mean() or refuted else "holds" if differ and informative else "undecided"
    )
    by_table = [f"{d} {lambdas[best[d]]}, {changes[d].mean():.2f} ({in_paper[d]:.2f})" for d in evaluated]
    note = joined(
        "the best values of λ differ" if differ else "it is not certain that the best values of λ differ",
        f"points of error from the best to the worst λ of one cross-validation, {in_paper.mean():.2f} in the paper on average",
        f"best λ and these points by table (in brackets the paper's): {'; '.join(by_table)}",
    )
    return Evaluation(detail, change.mean, low, high, change.n, FINAL, note)


def same_fits(evidence: Evidence, claim: Claim) -> Evaluation:
    """Section II-D, Figure 3, which shows one fit: most fits are almost the same."""
    distance = evidence.estimate("apart", figure="figure3", model="shared")
    same = int((pd.Series(distance.runs) < SAME).sum())
    low, high = scipy.stats.binomtest(same, distance.n).proportion_ci(LEVEL)
    detail = "holds" if low > 0.5 else "fails" if high < 0.5 else "undecided"
    note = (
        f"share of fits whose components are within {SAME} standard deviations of the data of those of λ = 0: "
        f"{same} of {distance.n}"
    )
    return Evaluation(detail, same / distance.n, float(low), float(high), distance.n, distance.protocol, note)


def n_separate(evidence: Evidence, claim: Claim) -> Evaluation:
    """Section II-D, Figure 4: four separate components equal two shared ones, and two do not.

    Otherwise more are needed if four are worse, and fewer if four are better or two are equal.
    """
    models = {
        "2 shared components": "shared",
        "2 separate": "separate",
        "4 separate": "separate, 4 components",
    }
    found = {
        words: evidence.estimate("log_likelihood", figure="figure4", model=model)
        for words, model in models.items()
    }
    shared, two, four = found.values()
    note = (
        f"log-likelihood of new samples, in nats per sample: {Listed(found):.3f}; "
        f"a difference below {SAME} counts as none"
    )
    comparisons = [
        *related(four, "within", shared, SAME, "four"),
        Comparison(shared - two - Estimate(SAME), what="two"),
    ]
    detail = decide(comparisons).detail
    if detail == "holds":
        return evaluate_number(claim, Estimate(4.0, protocol=four.protocol, note=note))
    if detail == "fails":
        detail = "higher" if comparisons[1].fails(len(comparisons)) else "lower"
    return Evaluation(detail, protocol=four.protocol, note=note)
