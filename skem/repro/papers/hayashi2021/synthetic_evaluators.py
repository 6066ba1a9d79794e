"""Evaluators of appendix B of Hayashi and Uchida (2021): synthetic data, whose mixture the paper does not give.

Numbers of components are per class throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.ledger.verdicts import Comparison, Evaluation, all_of, any_of, greater, joined
from skem.repro.papers.hayashi2021.evaluators import EVALUATORS, evaluates, measures
from skem.repro.papers.hayashi2021.evidence import OWN_DATA, Evidence
from skem.repro.papers.measured import exactly

FLAT = 2.0
"""Difference of errors, in percentage points, within which a curve counts as flat."""

TITLES = {
    "error": "test error",
    "train_error": "training error",
    "weights": "weights",
    "reduction": "weights removed in %",
}

# Numbers depend on the mixture; the statements are about SDGM, on any mixture of eight Gaussians per class.
EVALUATORS.not_comparable(
    "the paper does not give the mixture of its synthetic data", "fig7b.removed_at_20", "fig7d.reduction_min"
)


@measures("appendix_b.*")
def _synthetic(evidence: Evidence, claim: Claim) -> Estimate:
    drawn = evidence.paper.synthetic
    properties = {"n_classes": 2, "n_components_per_class": 8}
    return exactly((properties | drawn)[claim["quantity"]], OWN_DATA)


def _listed(curve: dict[int, Estimate], digits: int) -> str:
    return ", ".join(f"{m}: {e.mean:.{digits}f}" for m, e in curve.items())


def _not_above(a: Estimate, b: Estimate, what: str) -> Comparison:
    """The first is not larger by more than `FLAT`."""
    return Comparison(Estimate(FLAT) - (a - b), what=what, shown=a - b)


def _within(a: Estimate, b: Estimate, what: str) -> list[Comparison]:
    """The two differ by no more than `FLAT`."""
    return [_not_above(a, b, what), Comparison(Estimate(FLAT) + (a - b), what=what, shown=a - b)]


def monotonic(
    evidence: Evidence, columns: Sequence[str], rising: bool, most: float = float("inf")
) -> Evaluation:
    """Columns of appendix B rise, or fall, from each number of components to the next."""
    sizes, comparisons = [m for m in evidence.sizes if m <= most], []
    curves = {column: evidence.curve(column, sizes) for column in columns} if len(sizes) > 1 else {}
    if not curves:
        raise NotRun(f"fewer than two sizes up to {most}")
    for column, curve in curves.items():
        for a, b in pairwise(sizes):
            larger, smaller = (curve[b], curve[a]) if rising else (curve[a], curve[b])
            comparisons.append(greater(larger, smaller, f"{TITLES[column]}, {a} to {b} components"))
    means = f"{TITLES[columns[0]]} by initial components per class, {_listed(curves[columns[0]], 2)}"
    return all_of(comparisons, joined(means, OWN_DATA))


evaluates("fig7a.decreasing")(lambda e: monotonic(e, ("error", "train_error"), False, 6))
evaluates("fig7c.weights_increase")(lambda e: monotonic(e, ("weights",), True))
evaluates("fig7d.reduction_increases")(lambda e: monotonic(e, ("reduction",), True))


@evaluates("fig7a.flat")
def _flat(evidence: Evidence) -> Evaluation:
    comparisons = []
    for name in ("error", "train_error"):
        curve = evidence.curve(name, [m for m in evidence.sizes if m >= 8])
        for a, b in pairwise(curve):
            comparisons += _within(curve[b], curve[a], f"{TITLES[name]}, {a} to {b} components")
    return all_of(comparisons, f"flat: within {FLAT:g} points; {OWN_DATA}")


def _test_and_training(evidence: Evidence, sizes: list[int]) -> Iterable[tuple[Estimate, Estimate, str]]:
    test, training = (evidence.curve(name, sizes) for name in ("error", "train_error"))
    return ((test[m], training[m], f"{m} components") for m in sizes)


@evaluates("fig7a.train_equals_test")
def _train_equals_test(evidence: Evidence) -> Evaluation:
    ((test, training, what),) = _test_and_training(evidence, [min(evidence.sizes)])
    return all_of(_within(test, training, what), f"almost: within {FLAT:g} points; {OWN_DATA}")


@evaluates("fig7a.test_above_train")
def _above_train(evidence: Evidence) -> Evaluation:
    """The sign decides; "slightly" has no number in the paper."""
    compared = list(_test_and_training(evidence, [m for m in evidence.sizes if m > 8]))
    means = ", ".join(f"{what} {test.mean:.1f} and {training.mean:.1f}" for test, training, what in compared)
    note = f"test and training error in %, by initial components per class: {means}; the paper does not say how much is slightly"
    return all_of((greater(*both) for both in compared), joined(note, OWN_DATA))


@evaluates("fig7a.no_overfitting")
def _no_overfitting(evidence: Evidence) -> Evaluation:
    """The most components against each smaller number."""
    curve, (*smaller, most) = evidence.curve("error"), evidence.sizes
    comparisons = [_not_above(curve[most], curve[m], f"{m} to {most} components") for m in smaller]
    return all_of(comparisons, f"not by more than {FLAT:g} points; {OWN_DATA}")


@evaluates("fig7b.unchanged_to_eight")
def _unchanged(evidence: Evidence) -> Evaluation:
    """All components remain, up to half a component of a class."""
    left = evidence.curve("n_components", [m for m in evidence.sizes if m <= 8])
    comparisons = [
        Comparison(e - Estimate(m - 0.5), what=f"{m} components", shown=e - Estimate(float(m)))
        for m, e in left.items()
    ]
    return all_of(
        comparisons, f"within half a component; final components per class, {_listed(left, 1)}; {OWN_DATA}"
    )


@evaluates("fig7b.reduced_above_ten", "fig7b.removes_unnecessary", "sec1.automatic_components")
def _reduced(evidence: Evidence) -> Evaluation:
    left = evidence.curve("n_components", [m for m in evidence.sizes if m > 10])
    comparisons = [greater(Estimate(float(m)), e, f"{m} components") for m, e in left.items()]
    return all_of(comparisons, f"final components per class, {_listed(left, 1)}; {OWN_DATA}")


@evaluates("fig7c.not_minimal", "sec5.not_optimal_number")
def _not_minimal(evidence: Evidence) -> Evaluation:
    """After many initial components more remain than another initialisation needs for the same error."""
    few = evidence.curve("error", [m for m in evidence.sizes if m <= 8])
    best = min(few, key=lambda m: few[m].mean)
    left = evidence.curve("n_components")
    comparisons = [greater(left[m], left[best], f"{m} components") for m in evidence.sizes if m >= 9]
    return any_of(comparisons, f"{best} initial components suffice; {OWN_DATA}")


@measures("fig7b.removed_at_20", trials="5")
def _removed_at_20(evidence: Evidence) -> Estimate:
    return Estimate(20.0) - evidence.curve("n_components", [20])[20]


@measures("fig7d.reduction_min")
def _reduction_min(evidence: Evidence) -> Estimate:
    """The text defines the ratio as remaining over initial weights, and says of this share that it is above 99%: the share removed is meant."""
    curve = evidence.curve("reduction")
    fewest = min(curve, key=lambda m: curve[m].mean)
    return replace(
        curve[fewest],
        note=f"share removed, smallest with {fewest} initial components per class; the text defines the ratio as the share that is left",
    )


@evaluates("fig6.insufficient_few")
def _few_are_worse(evidence: Evidence) -> Evaluation:
    curve, (few, *others) = evidence.curve("error"), evidence.sizes
    comparisons = [greater(curve[few], curve[m], f"{few} against {m} components") for m in others if m >= 8]
    return all_of(comparisons, OWN_DATA)


@evaluates("fig6.fewer_than_actual")
def _fewer_than_actual(evidence: Evidence) -> Evaluation:
    """With some number of components below the eight of the data, SDGM errs by no more than with eight."""
    curve = evidence.curve("error", [m for m in evidence.sizes if m <= 8])
    *fewer, actual = curve
    comparisons = [_not_above(curve[m], curve[actual], f"{m} against {actual} components") for m in fewer]
    return any_of(comparisons, f"test error in %, {_listed(curve, 1)}; {OWN_DATA}")
