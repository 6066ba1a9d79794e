"""The judge of the claims of Hayashi and Uchida (2021).

A result like the paper's is a mean over its 100 splits; ours are others. Number of components means per class throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from skem import datasets
from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.ledger.links import apart
from skem.repro.ledger.verdicts import Comparison, Judgement, all_of, any_of, evaluate, greater, judge_number
from skem.repro.papers.hayashi2021 import image_judges
from skem.repro.papers.hayashi2021.evidence import AGAIN, Evidence

RIVALS = ("gp", "mgp", "rvm")
ROWS_ALIKE = "titanic"
BY_ROW = "Titanic has 14 distinct rows; rows that are alike share one weight here, and have one each in the paper (H = N)"
ALSO_WITHOUT = "weights without Titanic, whose rows that are alike share one here"


def judge(evidence: Evidence, claim: Claim) -> Judgement:
    """The verdict on a claim.

    Raises
    ------
    NotRun
        If what it needs was not part of the run, or cannot be had.
    """
    name = claim["id"].removeprefix("hayashi.")
    if claim["external"] == "yes":
        return Judgement("cited")
    if name in THEORY:
        return Judgement("theory", note=THEORY[name])
    if name in WRONG:
        return Judgement("fails", note=WRONG[name])
    if name in BY_EYE:
        return Judgement("not testable", note="a figure that is judged by eye")
    if name.startswith("table2."):
        return image_judges.cell(evidence, claim)
    if name in JUDGES:
        return JUDGES[name](evidence, claim)
    if name.startswith("table1."):
        return _cell(evidence, claim)
    if claim["kind"] == "number":
        return _fact(evidence, claim)
    return evaluate(claim["expression"], lambda wanted: [_named(evidence, wanted)])


def _named(evidence: Evidence, wanted: str) -> Estimate:
    """Of an id of Table 1, "hayashi.table1.ripley.sdgm_error"."""
    dataset, cell = wanted.removeprefix("hayashi.table1.").split(".")
    method, column = cell.split("_")
    if column == "weights" and method in ("gp", "mgp"):
        return _all_weights(evidence, dataset, method)
    return evidence.of(dataset, method, column)


def _all_weights(evidence: Evidence, dataset: str, method: str) -> Estimate:
    """How many weights there are where none is dropped: it follows from rows and components."""
    entry = evidence.paper.data_sets[dataset]
    n_train = entry.get("n_train") or datasets.describe(entry["source"])["n_train"]
    per_row = 1 if method == "gp" else 2 * evidence.paper.model["n_components"] - 1
    return Estimate(float(per_row * n_train), protocol="data")


def _cell(evidence: Evidence, claim: Claim) -> Judgement:
    """A cell of Table 1; to say anything, its interval is narrower than the paper's methods are apart in its row."""
    _, _, dataset, cell = claim["id"].split(".")
    if dataset == "mean":
        return _mean(evidence, claim)
    if (dataset, cell) == (ROWS_ALIKE, "sdgm_weights"):
        return _by_row(evidence, claim)
    trials = "100" if claim["protocol"] == "split100" else "1"
    judgement = judge_number({**claim, "trials": trials}, _named(evidence, claim["id"]))
    return judgement.sharp_enough(apart(evidence.stated, claim))


def _mean(evidence: Evidence, claim: Claim) -> Judgement:
    """The last row of Table 1, over all five data sets; SDGM's is one by definition."""
    if claim["method"] == "sdgm":
        return judge_number(claim, Estimate(1.0, protocol="data"))
    if "weights" in claim["quantity"]:
        return _by_row(evidence, claim)
    judgement = judge_number({**claim, "trials": "100"}, evidence.relative(claim["method"]))
    return judgement.sharp_enough(apart(evidence.stated, claim))


def _by_row(evidence: Evidence, claim: Claim) -> Judgement:
    return Judgement("not testable", note=BY_ROW)


def _fact(evidence: Evidence, claim: Claim) -> Judgement:
    """Counted in the data, or in what is drawn."""
    quantity, dataset = claim["quantity"], claim["dataset"]
    drawn = evidence.paper.synthetic
    if dataset == "synthetic-8":
        facts: dict[str, float] = {
            "n_classes": 2,
            "n_components_per_class": 8,
            "trials": drawn["repetitions"],
        }
        facts |= {"n_train": drawn["n_train"], "n_test": drawn["n_test"]}
        return judge_number(claim, Estimate(float(facts[quantity]), protocol="data", note="data of our own"))
    if quantity == "n_splits":
        rows = evidence.errors
        rows = rows[rows["dataset"] == dataset] if len(rows) else rows
        if len(rows) and rows["benchmark"].all():
            return judge_number(claim, Estimate(float(rows["run"].nunique()), protocol="data"))
        raise NotRun(f"the benchmark's splits are in no package; {evidence.paper.splits} were asked for here")
    entry: Any = evidence.paper.data_sets.get(dataset, {})
    source = entry.get("source", dataset)
    if source not in datasets.names():
        raise NotRun(f"{dataset} is not available")
    known = datasets.describe(source)
    if quantity == "n_components_per_class":
        return Judgement("not testable", note="how the data were drawn cannot be counted in them")
    n_samples, n_train = known["shape"][0], known["n_train"]
    facts = {"n_samples": n_samples, "n_features": known["shape"][1], "n_classes": known["n_classes"]}
    facts |= {"image_side": known["shape"][1], "n_train": n_train or float("nan")}
    facts["n_test"] = n_samples - (n_train or 0)
    return judge_number(claim, Estimate(float(facts[quantity]), protocol="data"))


def _beats(*rivals: str) -> Callable[[Evidence, Claim], Judgement]:
    """The error of SDGM is less, on average over data sets."""

    def judged(evidence: Evidence, claim: Claim) -> Judgement:
        ours, ratios = evidence.relative("sdgm"), {rival: evidence.relative(rival) for rival in rivals}
        told = ", ".join(f"{rival} {ratio.mean:.3f}" for rival, ratio in ratios.items())
        return all_of(
            (greater(ratio, ours, rival) for rival, ratio in ratios.items()),
            f"ratio of errors to SDGM's, mean: {told}",
        )

    return judged


def _removes(evidence: Evidence, claim: Claim) -> Judgement:
    """Components and weights, on the data sets together."""
    comparisons, at_first = [], 2.0 * evidence.paper.model["n_components"]
    for dataset in evidence.paper.data_sets:
        left = evidence.of(dataset, "sdgm", "n_components")
        comparisons.append(greater(Estimate(at_first), left, f"{dataset}, components"))
        if dataset != ROWS_ALIKE:
            weights, all_ = (evidence.of(dataset, "sdgm", c) for c in ("weights", "initial_weights"))
            comparisons.append(greater(all_, weights, f"{dataset}, weights"))
    return all_of(comparisons, ALSO_WITHOUT)


def _keeps_and_drops(evidence: Evidence, claim: Claim) -> Judgement:
    """More components are left on Ripley's data than one per class, and fewer than a mixture has that drops none."""
    left, at_first = evidence.of("ripley", "sdgm", "n_components"), 2 * evidence.paper.model["n_components"]
    return all_of(
        [
            greater(left, Estimate(2.0), "more than one per class"),
            greater(Estimate(float(at_first)), left, f"fewer than {at_first}"),
        ],
        f"{left.mean:.1f} components are left, of {at_first}; Figure 1 has their boundaries",
    )


def _removed_on_ripley(evidence: Evidence, claim: Claim) -> Judgement:
    at_first, runs = evidence.paper.model["n_components"], evidence.column("ripley", "sdgm", "n_components")
    removed = Estimate.of(at_first - runs / 2, "last-pass", "the published split, over starts")
    return judge_number(claim, removed).sharp_enough(1.0)  # one more component or one less


def _at_first(evidence: Evidence, claim: Claim) -> Judgement:
    at_first = float(evidence.paper.model["n_components"])
    return judge_number(claim, Estimate(at_first, protocol="data"))


def _largest_reduction(evidence: Evidence, claim: Claim) -> Judgement:
    """The paper's largest is that of Ripley's data, which is among those that are left."""
    found = []
    for dataset in evidence.paper.data_sets:
        if dataset != ROWS_ALIKE:
            left, at_first = (evidence.column(dataset, "sdgm", c) for c in ("weights", "initial_weights"))
            note = f"{dataset}; {ALSO_WITHOUT}"
            found.append(Estimate.of(100 * (1 - left / at_first), "last-pass", note))
    return judge_number({**claim, "trials": "100"}, max(found, key=lambda e: e.mean))


def _initial(evidence: Evidence, claim: Claim) -> Judgement:
    """The number of weights at first, on each data set."""
    differences = []
    for dataset in evidence.paper.data_sets:
        ours = evidence.of(dataset, "sdgm", "initial_weights")
        theirs = _all_weights(evidence, dataset, "mgp")
        differences += [Comparison(d, or_equal=True, what=dataset) for d in (ours - theirs, theirs - ours)]
    return all_of(differences)


def _steps(
    column: str, rising: bool, most: int = 10**6, remark: str = ""
) -> Callable[[Evidence, Claim], Judgement]:
    """Whether a column of appendix B rises, or falls, from each number of components to the next."""

    def judged(evidence: Evidence, claim: Claim) -> Judgement:
        sizes = [m for m in evidence.paper.synthetic["n_components"] if m <= most]
        columns = ("error", "train_error") if column == "error" else (column,)
        comparisons = []
        for name in columns:
            for a, b in pairwise(sizes):
                before, after = evidence.by_components(a, name), evidence.by_components(b, name)
                larger, smaller = (after, before) if rising else (before, after)
                comparisons.append(greater(larger, smaller, f"{name}, {a} to {b}"))
        if not comparisons:
            raise NotRun(f"fewer than two sizes {AGAIN}")
        told = ", ".join(f"{m}: {evidence.by_components(m, columns[0]).mean:.2f}" for m in sizes)
        note = [f"{columns[0]} by components per class, {told}", remark, "data of our own"]
        return all_of(comparisons, "; ".join(filter(None, note)))

    return judged


FLAT = 2.0
"""Points of error within which a curve counts as flat, and training and test error as almost the same."""


def _within(a: Estimate, b: Estimate, margin: float, what: str) -> list[Comparison]:
    d = a - b
    return [
        Comparison(Estimate(margin) - d, what=what, shown=d),
        Comparison(Estimate(margin) + d, what=what, shown=d),
    ]


def _flat(evidence: Evidence, claim: Claim) -> Judgement:
    sizes = [m for m in evidence.paper.synthetic["n_components"] if m >= 8]
    comparisons = []
    for name in ("error", "train_error"):
        for a, b in pairwise(sizes):
            both = evidence.by_components(b, name), evidence.by_components(a, name)
            comparisons += _within(*both, FLAT, f"{name}, {a} to {b}")
    return all_of(comparisons, f"flat: within {FLAT:g} points; data of our own")


def _train_equals_test(evidence: Evidence, claim: Claim) -> Judgement:
    m = min(evidence.paper.synthetic["n_components"])
    both = evidence.by_components(m, "error"), evidence.by_components(m, "train_error")
    return all_of(_within(*both, FLAT, f"{m} components"), f"almost: within {FLAT:g} points; data of our own")


def _above_train(evidence: Evidence, claim: Claim) -> Judgement:
    return all_of(
        (
            greater(
                evidence.by_components(m, "error"),
                evidence.by_components(m, "train_error"),
                f"{m} components",
            )
            for m in evidence.paper.synthetic["n_components"]
            if m > 8
        ),
        "data of our own",
    )


def _no_overfitting(evidence: Evidence, claim: Claim) -> Judgement:
    """The most components against each smaller number: not above by more than what counts as flat."""
    *smaller, most = evidence.paper.synthetic["n_components"]
    last = evidence.by_components(most, "error")
    return all_of(
        (
            Comparison(
                Estimate(FLAT) - (last - evidence.by_components(m, "error")),
                what=f"{m} to {most}",
                shown=last - evidence.by_components(m, "error"),
            )
            for m in smaller
        ),
        f"not by more than {FLAT:g} points; data of our own",
    )


def _left(
    evidence: Evidence, most: int | None = None, least: int | None = None
) -> list[tuple[int, Estimate]]:
    return [
        (m, evidence.by_components(m, "n_components"))
        for m in evidence.paper.synthetic["n_components"]
        if (most is None or m <= most) and (least is None or m >= least)
    ]


def _unchanged(evidence: Evidence, claim: Claim) -> Judgement:
    """All components stay: fewer by less than half a component of a class."""
    comparisons = [
        Comparison(left - Estimate(m - 0.5), what=f"{m} components", shown=left - Estimate(float(m)))
        for m, left in _left(evidence, most=8)
    ]
    told = ", ".join(f"{m}: {e.mean:.1f}" for m, e in _left(evidence, most=8))
    return all_of(comparisons, f"components left per class, {told}; data of our own")


def _reduced(least: int) -> Callable[[Evidence, Claim], Judgement]:
    def judged(evidence: Evidence, claim: Claim) -> Judgement:
        left = _left(evidence, least=least)
        told = ", ".join(f"{m}: {e.mean:.1f}" for m, e in left)
        return all_of(
            (greater(Estimate(float(m)), e, f"{m} components") for m, e in left),
            f"components left per class, {told}; data of our own",
        )

    return judged


def _not_minimal(evidence: Evidence, claim: Claim) -> Judgement:
    """More components are left after many at first than another start shows to be enough for the same error."""
    sizes = evidence.paper.synthetic["n_components"]
    few = [m for m in sizes if m <= 8]
    best = min(few, key=lambda m: evidence.by_components(m, "error").mean)
    enough = evidence.by_components(best, "n_components")
    return any_of(
        (greater(left, enough, f"{m} components") for m, left in _left(evidence, least=9)),
        f"{best} at first are enough; data of our own",
    )


def _removed_at_20(evidence: Evidence, claim: Claim) -> Judgement:
    left = evidence.by_components(20, "n_components")
    return judge_number({**claim, "trials": "5"}, Estimate(20.0) - left)


def _reduction_min(evidence: Evidence, claim: Claim) -> Judgement:
    found = [evidence.by_components(m, "reduction") for m in evidence.paper.synthetic["n_components"]]
    return judge_number(claim, min(found, key=lambda e: e.mean))


def _few_are_worse(evidence: Evidence, claim: Claim) -> Judgement:
    few, *others = evidence.paper.synthetic["n_components"]
    worst = evidence.by_components(few, "error")
    return all_of(
        (greater(worst, evidence.by_components(m, "error"), f"{few} against {m}") for m in others if m >= 8),
        "data of our own",
    )


def _fewer_than_actual(evidence: Evidence, claim: Claim) -> Judgement:
    """Four components a class, of eight that made the data, err by no more than eight do, but for what counts as flat."""
    four, eight = (evidence.by_components(m, "error") for m in (4, 8))
    return all_of(
        [Comparison(Estimate(FLAT) - (four - eight), what="4 against 8", shown=four - eight)],
        "data of our own",
    )


_TEST = "tests/estimators/test_sdgm.py"
_ENGINE = "tests/engine/test_softmax_mixture.py"
_LOGISTIC = f"{_ENGINE}::test_one_component_per_class_with_linear_features_is_logistic_regression"

THEORY = {
    "sec1.logistic_expansion": _LOGISTIC,
    "sec2.rvm_expansion": f"{_TEST}::test_one_component_with_a_radial_kernel_is_the_relevance_vector_machine; there with a radial kernel",
    "sec3-2.n_weights": f"{_ENGINE}::test_weights_of_a_gaussian",
    "sec3-2.weights_of_gaussian": f"{_ENGINE}::test_weights_of_a_gaussian",
    "sec3-3.dual_cost": f"{_TEST}::test_what_a_fit_leaves",
    "sec3-4.elimination": f"{_TEST}::test_weights_are_dropped_and_the_classes_still_told_apart",
    "sec3-4.mixture_weight": f"{_TEST}::test_what_a_fit_leaves; eq. 18 does not maximise eq. 11",
    "sec4-2.fc_softmax_equivalence": _LOGISTIC,
    "sec4-2.hessian_cost": f"{_ENGINE}::test_low_rank_and_direct_give_the_same; where Phi has low rank it takes less",
    "appendix_a.softmax_equivalence": _LOGISTIC,
}
"""Claims that algebra decides, and where it is checked."""

WRONG = {
    "sec3-3.kernel": f"not as printed: phi lacks factors of sqrt(2), {_ENGINE}::test_the_kernel_is_an_inner_product_of_features",
    "sec3-4.gradient": f"not as printed: sums over rows are missing, {_ENGINE}::test_gradient_and_hessian_by_finite_differences",
}
"""Formulas that are not right as the paper prints them, and where the right ones are checked."""

BY_EYE = ("sec4-1.sharp_boundaries",)

JUDGES: dict[str, Callable[[Evidence, Claim], Judgement]] = {
    **image_judges.JUDGES,
    "sec1.ripley_n_components": _keeps_and_drops,
    "abstract.sparsity": _removes,
    "sec1.beats_kernel_bayes": _beats(*RIVALS),
    "sec1.automatic_components": _reduced(9),
    "sec4-1.best_on_average.gp": _beats("gp"),
    "sec4-1.best_on_average.mgp": _beats("mgp"),
    "sec4-1.sparser.titanic": _by_row,
    "sec5.beats_kernel_bayes": _beats(*RIVALS),
    "sec5.not_optimal_number": _not_minimal,
    "sec4-1.initial_weights": _initial,
    "sec4-1.weight_reduction_min": lambda evidence, claim: Judgement(
        "not testable", note=f"the paper's smallest is Titanic's; {BY_ROW}"
    ),
    "sec4-1.weight_reduction_max": _largest_reduction,
    "fig3.n_components_initial": _at_first,
    "fig3.n_components_removed": _removed_on_ripley,
    "fig7a.train_equals_test": _train_equals_test,
    "fig7a.decreasing": _steps("error", rising=False, most=4, remark="from 2 to 4, as 6 is not trained"),
    "fig7a.flat": _flat,
    "fig7a.test_above_train": _above_train,
    "fig7a.no_overfitting": _no_overfitting,
    "fig7b.unchanged_to_eight": _unchanged,
    "fig7b.reduced_above_ten": _reduced(11),
    "fig7b.removes_unnecessary": _reduced(9),
    "fig7b.removed_at_20": _removed_at_20,
    "fig7c.weights_increase": _steps("weights", rising=True),
    "fig7c.not_minimal": _not_minimal,
    "fig7d.reduction_increases": _steps("reduction", rising=True),
    "fig7d.reduction_min": _reduction_min,
    "fig6.insufficient_few": _few_are_worse,
    "fig6.fewer_than_actual": _fewer_than_actual,
}
"""Numbers, orderings and statements that are neither cells nor facts nor formal expressions."""


def knows(claim: Claim) -> bool:
    """Whether there is a judge for a claim."""
    name = claim["id"].removeprefix("hayashi.")
    return name in {*THEORY, *WRONG, *BY_EYE, *JUDGES} or claim["kind"] == "number"
