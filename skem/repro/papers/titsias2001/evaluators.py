"""Evaluators of the claims of Titsias and Likas (2001).

A result like the paper's is the mean over the folds of one cross-validation: runs are repetitions, and a cell of the tables is
one trial. Claims about all five tables are evaluated on the four with data.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NoReturn

import numpy as np

from skem import datasets
from skem.repro.ledger.estimates import Claim, Estimate, NotRun, mean, pooled_if_equal_variances
from skem.repro.ledger.evaluators import Evaluators
from skem.repro.ledger.stated_claims import setting_of
from skem.repro.ledger.verdicts import Comparison, Evaluation, all_of, greater, listed
from skem.repro.papers.measured import data_set_property, exactly, final, select
from skem.repro.papers.titsias2001.evidence import Evidence
from skem.repro.papers.titsias2001.tables import method_of

_TESTS = "tests/estimators/test_prbf.py"
_ITERATION = f"{_TESTS}::test_passes_are_the_equations_of_the_paper"
_MONOTONE = f"{_TESTS}::test_the_penalised_likelihood_never_falls"
_ZERO, _ONE = f"{_TESTS}::test_lambda_zero_is_a_mixture_per_class", f"{_TESTS}::test_lambda_one_is_skem"
_MEAN = f"{_TESTS}::test_a_kernel_is_the_mean_of_what_the_classes_would_make_of_it"
EVALUATORS = Evaluators(
    "titsias",
    verified={
        "sec4.rbf_protocol": f"{_TESTS}::test_the_rbf_network_is_least_squares_on_the_kernels_of_a_mixture",
        "sec4.multiples_of_classes": "tests/repro/papers/titsias2001/test_titsias.py::test_kernels_are_multiples_of_classes",
        "sec3b.averaging_density": f"{_TESTS}::test_the_average_is_over_densities",
        "sec2a.class_prior": f"{_TESTS}::test_the_class_prior_is_that_of_the_data",
        "sec2.separate_is_special_case": _ZERO,
        "sec2b.updates": f"{_ITERATION}; {_MONOTONE}",
        "sec2c.expected_update": _MEAN,
        "sec2c.class_posterior": _MEAN,
        "sec3.p_lambda_not_density": f"{_TESTS}::test_what_p_lambda_integrates_to",
        "sec3.posteriors_sum": _ITERATION,
        "sec3.lambda_zero_weights": _ZERO,
        "sec3a.lambda_zero": _ZERO,
        "sec3a.lambda_one": _ONE,
        "sec3a.e_step_only": f"{_ITERATION}; step 5 of the listing should go to step 3",
        "sec3a.local_maximum": _MONOTONE,
        "sec5.unifying": f"{_ZERO}; {_ONE}",
    },
)
measures, evaluates = EVALUATORS.measures, EVALUATORS.evaluates

FOUR = "four tables, without clouds"
SHARE = 0.01
"""Difference of shared proportions that counts as none."""


@evaluates("*clouds*", "sec4.no_winner_0_or_1.check")
def _clouds(evidence: Evidence) -> NoReturn:
    raise NotRun(f"clouds is not available: {evidence.paper.tables['clouds']['not_available']}")


# Numbers.
def _resolution(evidence: Evidence, claim: Claim) -> float:
    """The largest difference between methods in a column."""
    m = int(setting_of(claim)["n_components"])
    return float(np.ptp(select(evidence.printed, dataset=claim["dataset"], n_components=m)["paper"]))


@measures("table?.*.rbf.*", "table?.*.lambda*", "table?.*.averaging.*", trials="1", resolution=_resolution)
def _cell(evidence: Evidence, claim: Claim) -> Estimate:
    dataset, size = claim["dataset"], int(setting_of(claim)["n_components"])
    own = evidence.column(dataset, method_of(claim), size)
    table = {
        (method, m): evidence.column(dataset, method, m)
        for method in evidence.paper.methods
        for m in evidence.sizes(dataset)
    }
    column = [estimate for (_, m), estimate in table.items() if m == size]
    families = ("all of the table", list(table.values())), (f"{size} components", column)
    return replace(
        pooled_if_equal_variances(own, *families), spread=evidence.over_folds(dataset, method_of(claim), size)
    )


@measures("sec4.*.n_features_used")
def _n_scores(evidence: Evidence, claim: Claim) -> Estimate:
    return exactly(datasets.describe(claim["dataset"])["n_classes"] - 1)  # discriminant scores


@measures("sec4.*.n_*")
def _property(evidence: Evidence, claim: Claim) -> Estimate:
    return data_set_property(claim["dataset"], claim["quantity"])


# Statements about training.
def by_lambda(evidence: Evidence, dataset: str, column: str = "error") -> dict[str, Estimate]:
    """Means over a table by lambda."""
    return {method: evidence.by_table(dataset, method, column) for method in evidence.paper.lambdas}


@evaluates("sec4.averaging_cost")
def _cost(evidence: Evidence) -> Evaluation:
    """The seconds of an average are the sum of its members'."""
    return all_of(
        greater(
            evidence.by_table(d, "averaging", "seconds"), seconds, f"{d}, {evidence.paper.lambdas[method]}"
        )
        for d in evidence.paper.evaluated
        for method, seconds in by_lambda(evidence, d, "seconds").items()
    )


@evaluates("sec3.sharing_control")
def _sharing_control(evidence: Evidence) -> Evaluation:
    """The shared proportion is zero at lambda = 0, and never falls as lambda grows."""
    comparisons, proportions = [], []
    for d in evidence.paper.evaluated:
        shared = by_lambda(evidence, d, "shared")
        proportions.append(f"{d} " + ", ".join(f"{e.mean:.2f}" for e in shared.values()))
        for a, b in pairwise(shared):
            step = f"{d}, {evidence.paper.lambdas[a]} to {evidence.paper.lambdas[b]}"
            grown = shared[b] - shared[a]
            no_fall = replace(grown, mean=grown.mean + SHARE, runs=None)
            comparisons.append(Comparison(no_fall, what=step, shown=grown))
    note = f"a fall below {SHARE} counts as none; shared proportion by λ, mean over M: "
    return all_of(comparisons, note + "; ".join(proportions))


@evaluates("sec3.group_posteriors_higher")
def _own_group(evidence: Evidence) -> Evaluation:
    """The mean posterior of a class's own components, eq. 37, against an equal share of all."""
    comparisons = []
    for d in evidence.paper.evaluated:
        equal = Estimate(1 / datasets.describe(d)["n_classes"])
        _, *own, _ = by_lambda(evidence, d, "own_group").items()
        comparisons += [
            greater(share, equal, f"{d}, {evidence.paper.lambdas[method]}") for method, share in own
        ]
    note = "posterior of the class's own group, mean over samples, over its share of the components"
    return all_of(comparisons, note)


@evaluates("sec4.satimage.projection")
def _projection(evidence: Evidence) -> Evaluation:
    """In part: the printed errors are nearer to those of five scores of all samples than to those of all 36 features."""
    printed, distances = evidence.printed, {}
    for table in ("satimage_whole", "satimage_raw"):
        cell_distances = []
        for row in printed[printed["dataset"] == "satimage"].itertuples():
            runs = evidence.column(table, row.method, row.n_components).runs
            cell_distances.append(final((runs - row.paper).abs()))
        distances[table] = mean(cell_distances)
    return all_of(
        [greater(distances["satimage_raw"], distances["satimage_whole"])],
        f"mean distance of errors from the printed ones: {listed(distances)}; ELENA's own file is not available",
    )
