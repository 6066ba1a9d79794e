"""The judge of the claims of Pulford (2022).

Numbers are measured by `skem.repro.papers.pulford2022.numbers`. An ordering or statement has a judge of its own in
`skem.repro.papers.pulford2022.tradeoffs`, `robustness` or `orderings` beside it, unless its expression is formal, or algebra decides it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase

from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.ledger.verdicts import Judgement, evaluate, judge_number
from skem.repro.papers.pulford2022.evidence import Evidence
from skem.repro.papers.pulford2022.numbers import NUMBERS
from skem.repro.papers.pulford2022.orderings import ORDERINGS, otherwise
from skem.repro.papers.pulford2022.robustness import ROBUSTNESS
from skem.repro.papers.pulford2022.tradeoffs import TRADEOFFS, other_starts

JUDGES = TRADEOFFS | ROBUSTNESS | ORDERINGS
"""Of orderings and statements that are neither formal expressions nor algebra."""


def judge(evidence: Evidence, claim: Claim) -> Judgement:
    """The verdict on a claim.

    Raises
    ------
    NotRun
        If what it needs was not part of the run.
    """
    if claim["external"] == "yes":
        return Judgement("cited")
    name = claim["id"].removeprefix("pulford.")
    if name in THEORY:
        return Judgement("theory", note=THEORY[name])
    found = _judged(evidence, claim, name)
    with suppress(NotRun):
        if name in REMARKS:
            found = replace(found, note="; ".join(filter(None, [found.note, REMARKS[name](evidence)])))
    return found


def _judged(evidence: Evidence, claim: Claim, name: str) -> Judgement:
    if name in NUMBERS:
        return judge_number(claim, NUMBERS[name](evidence))
    if name in JUDGES:
        return JUDGES[name](evidence, claim)
    return evaluate(claim["expression"], lambda names: _named(evidence, names))


def _named(evidence: Evidence, names: str) -> list[Estimate]:
    """The estimates that the brackets of an expression name."""
    name = names.removeprefix("pulford.")
    if name in NUMBERS:
        return [NUMBERS[name](evidence)]
    # What the paper only cites, or another paper states, is taken as printed.
    return [Estimate(value) for key, value in evidence.printed.items() if fnmatchcase(key, names)]


_IONOSPHERE, _RICE = otherwise("ionosphere"), otherwise("rice")


REMARKS: dict[str, Callable[[Evidence], str]] = {
    "abstract.better_and_cheaper": other_starts,
    "sec1.pskem_generally_better": other_starts,
    "sec3-3.superiority": other_starts,
    "sec4.consistently_better": other_starts,
    "sec3-2.rice.margin": _RICE,
    "sec3-2.rice.beats_conventional": _RICE,
    "table1.rice.best_method": _RICE,
    "sec3-2.ionosphere.margin": _IONOSPHERE,
    "sec3-2.ionosphere.beats_conventional": _IONOSPHERE,
    "sec3-2.ionosphere.beats_prbf": _IONOSPHERE,
    "table1.ionosphere.best_method": _IONOSPHERE,
    "sec4.low_dim_wins": lambda evidence: f"{_RICE(evidence)}; {_IONOSPHERE(evidence)}",
}
"""What a reader should know beside a verdict on the paper's own terms."""

THEORY = {
    "abstract.complexity_r2": "tests/test_metrics.py::test_operations_fall_with_the_square_of_the_blocks",
    "sec4.complexity_r2": "tests/test_metrics.py::test_operations_fall_with_the_square_of_the_blocks",
    "sec1.cubic_complexity": "tests/test_metrics.py::test_operations_fall_with_the_square_of_the_blocks",
    "sec2-2.skem_operations": "tests/test_metrics.py::test_operation_count",
    "sec2-2.skem_order": "tests/test_metrics.py::test_operation_count; with one factorisation per component it is M^2 per row",
    "sec2-3.pskem_order": "tests/test_metrics.py::test_operation_count",
    "abstract.exact_if_independent": "tests/estimators/test_theory.py::test_a_product_of_mixtures_is_a_mixture",
    "sec4.exact_if_independent": "tests/estimators/test_theory.py::test_a_product_of_mixtures_is_a_mixture",
    "sec2-3.factorisation": "tests/engine/test_engine.py::test_blocks_multiply",
    "sec1.underflow_at_high_dim": "tests/estimators/test_theory.py::test_a_density_of_many_features_underflows; not an issue for logarithms",
    "sec2-2.normalisation": "tests/estimators/test_theory.py::test_weights_and_responsibilities_sum_to_one",
    "sec2-2.n_terms": "tests/estimators/test_theory.py::test_the_expectation_over_all_assignments",
    "sec2-2.q_function": "tests/estimators/test_theory.py::test_the_expectation_over_all_assignments",
    "appendix_a.n_terms_binary": "tests/estimators/test_theory.py::test_the_expectation_over_all_assignments",
    "appendix_a.categorical_q": "tests/estimators/test_theory.py::test_the_expectation_over_all_assignments",
    "sec2-2.m_step": "tests/estimators/test_theory.py::test_the_m_step_is_a_stationary_point",
    "sec2-2.same_as_titsias": "tests/estimators/test_prbf.py::test_lambda_one_is_skem",
    "sec2-2.pnn_special_case": "a remark about another paper's algorithm; the E-step it names is tests/engine/test_engine.py::test_passes_equal_the_reference",
    "sec2-2.mda_covariance": "tests/estimators/test_theory.py::test_the_covariance_of_mda_is_the_weighted_mean",
    "sec2-3.map_is_ml": "tests/estimators/test_estimators.py::test_class_prior_and_what_follows_from_it",
    "sec2-3.n_gaussians": "tests/estimators/test_theory.py::test_a_product_of_mixtures_is_a_mixture",
    "sec2-3.independent_iteration": "tests/engine/test_engine.py::test_each_block_starts_from_its_own_arrays",
    "appendix_b.direct_sum": "tests/estimators/test_theory.py::test_a_product_of_mixtures_is_a_mixture",
    "appendix_b.less_general": "tests/estimators/test_theory.py::test_a_product_of_mixtures_is_a_mixture",
}
"""Claims that algebra decides, and where it is checked."""


def knows(claim: Claim) -> bool:
    """Whether there is a judge for a claim."""
    return claim["id"].removeprefix("pulford.") in {*THEORY, *NUMBERS, *JUDGES}
