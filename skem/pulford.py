"""The judge of the claims of Pulford (2022).

Numbers are measured by `skem.pulford_numbers`. An ordering or statement has a function of its own in `JUDGES`, unless
its expression is formal, or algebra decides it (`THEORY`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import stats

from skem.claims import (
    Comparison,
    Estimate,
    Judgement,
    all_of,
    any_of,
    evaluate,
    greater,
    judge_number,
    pooled,
)
from skem.evidence import Evidence
from skem.pulford_numbers import (
    ARRANGEMENTS,
    BLOCKS,
    FASHION,
    HALF,
    K_VALUES,
    KNN,
    LINEAR,
    NUMBERS,
    TREES,
    WHOLE,
    operations_ratio,
)

Claim = Mapping[str, str]
Judge = Callable[[Evidence, Claim], Judgement]


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


def _half(evidence: Evidence, method: str, partition: str, k: int) -> Estimate:
    if partition == WHOLE:
        method = "sequential"
    return evidence.accuracy(HALF, method, f"{partition}-K{k}")


def _against_whole(evidence: Evidence, partitions: tuple[str, ...], ks: tuple[int, ...]) -> list[Comparison]:
    """That partitions are more accurate than the unpartitioned model, in every arrangement."""
    return [
        greater(_half(evidence, method, p, k), _half(evidence, method, WHOLE, k), f"{p} {method}, K = {k}")
        for method in ARRANGEMENTS
        for p in partitions
        for k in ks
    ]


def _most(comparisons: list[Comparison]) -> Judgement:
    """Whether a comparison holds more often than not, counting ties by the sign of the mean."""
    held = sum(c.difference.mean > 0 for c in comparisons)
    found = all_of(comparisons)
    verdict = "holds" if 2 * held > len(comparisons) else "fails"
    return Judgement(
        verdict,
        held,
        0,
        len(comparisons),
        len(comparisons),
        "best-pass",
        f"more accurate on average in {held} of {len(comparisons)} settings; {found.note}",
    )


def _increasing(evidence: Evidence, claim: Claim) -> Judgement:
    return all_of(
        greater(_half(evidence, method, p, b), _half(evidence, method, p, a), f"{p} {method}, K = {a} to {b}")
        for method in ARRANGEMENTS
        for p in ((*BLOCKS, WHOLE) if method == "sequential" else BLOCKS)
        for a, b in pairwise(K_VALUES)
    )


def _best_partitions(
    evidence: Evidence,
    ks: tuple[int, ...],
    best: tuple[str, ...],
    others: tuple[str, ...],
    methods: tuple[str, ...] = ARRANGEMENTS,
) -> list[Comparison]:
    """That the better of ``best`` beats each of ``others``."""
    found = []
    for method in methods:
        for k in ks:
            top = max((_half(evidence, method, p, k) for p in best), key=lambda e: e.mean)
            found += [
                greater(top, _half(evidence, method, p, k), f"{p} {method}, K = {k}", or_equal=True)
                for p in others
            ]
    return found


def _peak_later(evidence: Evidence, claim: Claim) -> Judgement:
    def peak(partition: str) -> Estimate:
        runs = [evidence.peak(HALF, "sequential", f"{partition}-K{k}") for k in K_VALUES]
        return Estimate.of(pd.concat(runs, axis=1).mean(axis=1), "best-pass")

    whole = peak(WHOLE)
    return all_of(
        (greater(whole, peak(p), f"{p}") for p in BLOCKS),
        f"peak pass of 1x36, mean over K: {whole.mean:.1f} of 40",
    )


def _small_k(evidence: Evidence, claim: Claim) -> Judgement:
    return all_of(
        (
            greater(
                _half(evidence, other, "12x3", k),
                _half(evidence, "sequential", "12x3", k),
                f"{other}, K = {k}",
            )
            for k in (4, 8)
            for other in ("interleaved", "random")
        ),
        "K = 4 and 8",
    )


def _equivalent(a: Estimate, b: Estimate, margin: float, what: str) -> list[Comparison]:
    """That two means differ by less than a margin, in either direction."""
    d = a - b
    return [
        Comparison(Estimate(margin - d.mean, d.sd, d.n, None, d.protocol), what=what),
        Comparison(Estimate(margin + d.mean, d.sd, d.n, None, d.protocol), what=what),
    ]


def _insensitive(evidence: Evidence, claim: Claim) -> Judgement:
    found = []
    for k in (k for k in K_VALUES if k >= 12):
        for p in BLOCKS:
            for other in ("interleaved", "random"):
                found += _equivalent(
                    _half(evidence, other, p, k),
                    _half(evidence, "sequential", p, k),
                    1.0,
                    f"{p} {other}, K = {k}",
                )
    return all_of(found, "within 1 point of sequential, K from 12")


def _no_divergence(evidence: Evidence, claim: Claim) -> Judgement:
    largest, where, n = 0.0, "", 0
    for method in ("no_ridge", *ARRANGEMENTS):
        for name in evidence.settings(HALF, method):
            condition = evidence.last(HALF, method, name, "condition")
            n += len(condition)
            if condition.max() > largest:
                largest, where = float(condition.max()), f"{name}, {method}"
    verdict = "holds" if largest < SINGULAR else "fails"
    return Judgement(
        verdict,
        largest,
        0,
        SINGULAR,
        n,
        "last-pass",
        f"largest condition number of a covariance in {n} runs, with and without a ridge: {where}",
    )


SINGULAR = 1e12
"""Condition number from which a covariance counts as singular in float64."""


def _stability(evidence: Evidence, claim: Claim) -> Judgement:
    """Share of the variance of log10 condition that K explains, without a ridge, averaged over partitions."""
    shares = []
    names = evidence.settings(HALF, "no_ridge")
    for p in dict.fromkeys(name.partition("-")[0] for name in names):
        table = pd.DataFrame(
            {
                name: np.log10(evidence.last(HALF, "no_ridge", name, "condition"))
                for name in names
                if name.startswith(f"{p}-")
            }
        )
        between = float(table.mean().var(ddof=0))
        within = float(table.var(ddof=0).mean())
        shares.append(between / (between + within))
    share = float(np.mean(shares))
    low, high = min(shares), max(shares)
    verdict = "holds" if low > 0.5 else "fails" if high < 0.5 else "undecided"
    return Judgement(
        verdict,
        share,
        low,
        high,
        len(shares),
        "last-pass",
        "share of the variance of log condition number that K explains and the start does not; range over partitions",
    )


def _sharing_falls(evidence: Evidence, claim: Claim) -> Judgement:
    def shared(p: str, k: int) -> Estimate:
        return Estimate.of(evidence.last(HALF, "sequential", f"{p}-K{k}", "shared_proportion"), "last-pass")

    return all_of(
        greater(shared(p, a), shared(p, b), f"{p}, K = {a} to {b}")
        for p in (*BLOCKS, WHOLE)
        for a, b in pairwise(K_VALUES)
    )


def _share_least(evidence: Evidence, claim: Claim) -> Judgement:
    def shared(p: str, k: int) -> Estimate:
        return Estimate.of(evidence.last(HALF, "sequential", f"{p}-K{k}", "shared_proportion"), "last-pass")

    return all_of(
        (
            greater(shared(other, k), shared(p, k), f"{p} against {other}, K = {k}")
            for k in (32, 36, 40)
            for p in ("3x12", "2x18")
            for other in ("12x3", "6x6", WHOLE)
        ),
        "K from 32",
    )


def _within_unit(evidence: Evidence, claim: Claim) -> Judgement:
    values = pd.concat(
        [
            evidence.last(HALF, "sequential", name, "shared_proportion")
            for name in evidence.settings(HALF, "sequential")
        ]
    )
    inside = bool(values.between(0, 1).all())
    return Judgement(
        "holds" if inside else "fails",
        float(values.mean()),
        float(values.min()),
        float(values.max()),
        len(values),
        "last-pass",
    )


def _at_least(evidence: Evidence, dataset: str, best: str, others: list[str]) -> Judgement:
    """That a setting of the grid is at least as accurate as others, the spread pooled over those of equal K."""
    top = evidence.accuracy(dataset, "grid", best)
    differences = {name: top - evidence.accuracy(dataset, "grid", name) for name in others}
    found = []
    for k in dict.fromkeys(name.partition("-K")[2] for name in others):
        alike = [name for name in others if name.partition("-K")[2] == k]
        found += [
            Comparison(difference, or_equal=True, what=name)
            for name, difference in zip(alike, pooled([differences[name] for name in alike]), strict=True)
        ]
    return all_of(found)


def _best_setting(dataset: str, best: str) -> Judge:
    """That a setting is at least as accurate as every other one tried."""
    return lambda evidence, claim: _at_least(
        evidence, dataset, best, [name for name in evidence.settings(dataset, "grid") if name != best]
    )


def _similar(evidence: Evidence, claim: Claim) -> Judgement:
    knn = max((KNN[k](evidence) for k in KNN), key=lambda e: e.mean)
    return all_of(
        _equivalent(FASHION(evidence), knn, 1.0, "k-NN"), f"within 1 point of k-NN, {knn.mean:.2f}%"
    )


def _below(evidence: Evidence, claim: Claim) -> Judgement:
    ours = FASHION(evidence)
    rivals = {"50 trees": TREES[50], "100 trees": TREES[100], "linear SVM": LINEAR}
    return all_of(greater(_one_run(other(evidence)), ours, name) for name, other in rivals.items())


def _one_run(estimate: Estimate) -> Estimate:
    """A single fit taken as it is: its spread over seeds is small beside what it is compared with."""
    return estimate if estimate.n > 1 else Estimate(estimate.mean, 0.0, 1, None, estimate.protocol)


def _order(evidence: Evidence, claim: Claim) -> Judgement:
    order = [
        ("100 trees", TREES[100]),
        ("50 trees", TREES[50]),
        ("linear SVM", LINEAR),
        ("k = 5", KNN[5]),
        ("k = 1", KNN[1]),
        ("k = 9", KNN[9]),
        ("LDA", NUMBERS["sec3-2.fashion_mnist.kda_accuracy"]),
    ]
    measured = [(name, _one_run(find(evidence))) for name, find in order]
    told = ", ".join(f"{name} {e.mean:.2f}" for name, e in measured)
    return all_of((greater(a, b, f"{x} over {y}") for (x, a), (y, b) in pairwise(measured)), told)


def _top_three(evidence: Evidence, claim: Claim) -> Judgement:
    names = (
        "sec3-2.ionosphere.svm_rbf_accuracy",
        "sec3-2.ionosphere.bagged_trees_accuracy",
        "sec3-2.ionosphere.svm_quadratic_accuracy",
    )
    measured = [NUMBERS[name](evidence) for name in names]
    return all_of(greater(a, b) for a, b in pairwise(measured))


def _more_blocks(evidence: Evidence, claim: Claim) -> Judgement:
    names = evidence.settings("cifar10", "grid")
    return _at_least(
        evidence, "cifar10", "4x24-K80", [name for name in names if int(name.partition("x")[0]) > 4]
    )


def _moved(evidence: Evidence, method: str) -> Estimate:
    """Points of accuracy that moving the test images costs, after the last pass or with the preset."""
    names = evidence.settings("cifar10_moved", method)
    as_is = evidence.last("cifar10_moved", method, names[0], "validation_accuracy")
    return Estimate.of(
        100 * (as_is - evidence.last("cifar10_moved", method, names[0], "test_accuracy")), "last-pass"
    )


def _falls(evidence: Evidence, claim: Claim) -> Judgement:
    losses = {m: _moved(evidence, m) for m in ("pskem", "svm_rbf", "logistic_regression")}
    told = ", ".join(f"{m} {e.mean:.1f}" for m, e in losses.items())
    return all_of(
        (greater(e, Estimate(0.0), m) for m, e in losses.items()),
        f"points lost when test images are moved: {told}",
    )


def _more_sensitive(evidence: Evidence, claim: Claim) -> Judgement:
    ours, svm = _moved(evidence, "pskem"), _moved(evidence, "svm_rbf")
    return all_of(
        [greater(ours, svm)],
        f"points lost when test images are moved: PSKEM {ours.mean:.1f}, RBF SVM {svm.mean:.1f}",
    )


def _orders(evidence: Evidence, claim: Claim) -> Judgement:
    ratios = {p: operations_ratio(p, 30) for p in BLOCKS}
    verdict = "holds" if all(10 <= ratio <= 100 for ratio in ratios.values()) else "fails"
    told = ", ".join(f"{p} {ratio:.1f}" for p, ratio in ratios.items())
    return Judgement(
        verdict,
        min(ratios.values()),
        min(ratios.values()),
        max(ratios.values()),
        note=f"counted, equal passes: {told}",
    )


def _cheaper(evidence: Evidence, claim: Claim) -> Judgement:
    ratios = [operations_ratio(p, 30) for p in BLOCKS]
    return Judgement(
        "holds" if min(ratios) > 1 else "fails",
        min(ratios),
        min(ratios),
        max(ratios),
        note="counted operations of 1x36 over those of a partition",
    )


def _steady(evidence: Evidence) -> Judgement:
    """Whether the spread over initial means is below a point of accuracy, K from 12, at 95%."""
    spreads = {}
    for k in (k for k in K_VALUES if k >= 12):
        for p in (*BLOCKS, WHOLE):
            runs = evidence.runs(HALF, "sequential", f"{p}-K{k}")
            freedom = len(runs) - 1
            limits = np.sqrt(runs.var(ddof=1) * freedom / stats.chi2.ppf([0.975, 0.025], freedom))
            spreads[f"{p}, K = {k}"] = (runs.std(ddof=1), *limits)
    worst = max(spreads, key=lambda name: spreads[name][0])
    low, high = (bound(limits[side] for limits in spreads.values()) for bound, side in ((max, 1), (max, 2)))
    verdict = "fails" if low > 1 else "holds" if high < 1 else "undecided"
    note = f"largest standard deviation over starts {spreads[worst][0]:.2f} ({worst})"
    return Judgement(verdict, float(spreads[worst][0]), float(low), float(high), note=note)


def _robust(evidence: Evidence, claim: Claim) -> Judgement:
    divergence = _no_divergence(evidence, claim)
    if claim["id"] == "pulford.sec4.robust":
        return divergence
    insensitive, steady = _insensitive(evidence, claim), _steady(evidence)
    verdicts = {divergence.verdict, insensitive.verdict, steady.verdict}
    verdict = "fails" if "fails" in verdicts else "holds" if verdicts == {"holds"} else "undecided"
    note = (
        f"divergence {divergence.verdict}: {divergence.note}; "
        f"arrangement {insensitive.verdict}: {insensitive.note}; start {steady.verdict}: {steady.note}"
    )
    return Judgement(verdict, steady.measured, steady.low, steady.high, steady.n, "best-pass", note)


def _decorrelated(evidence: Evidence, claim: Claim) -> Judgement:
    """Blocks made independent given the class are easier: dependence is there, and costs accuracy."""
    names = evidence.settings(HALF, "independent")
    found = []
    for name in names:
        if not name.startswith(WHOLE):
            mixed = evidence.accuracy(HALF, "independent", name)
            found.append(greater(mixed, evidence.accuracy(HALF, "sequential", name), name))
    return any_of(
        found,
        "accuracy once rows of a class exchange blocks, less that of the blocks as they are: blocks are dependent",
    )


def _large(evidence: Evidence, claim: Claim) -> Judgement:
    found = {}
    for name in evidence.settings("mnist", "unpartitioned"):
        found[name] = evidence.accuracy("mnist", "unpartitioned", name, "last-pass").mean
    told = ", ".join(f"{name} {value:.1f}%" for name, value in found.items())
    # It fails if such a model can be trained on an ordinary machine and is not poor: chance is 10%.
    return Judgement(
        "fails" if max(found.values()) > 50 else "holds",
        max(found.values()),
        note=f"trained here, accuracy after the last pass: {told}",
        protocol="last-pass",
    )


def _larger_data(evidence: Evidence, claim: Claim) -> Judgement:
    n = int(evidence.history("fashion_mnist", "pskem", "10x15-K100")["n_train"].max())
    return Judgement(
        "holds",
        150.0,
        note=f"150 features of {n} rows; earlier supervised EM: at most 36 features (Titsias and Likas 2001)",
    )


def _not_parallel(evidence: Evidence, claim: Claim) -> Judgement:
    return Judgement(
        "fails",
        note="chunks of rows are independent: tests/test_engine.py::test_workers_and_seeds_leave_no_trace fits one block on several threads",
    )


def _memory(evidence: Evidence, claim: Claim) -> Judgement:
    N, M, L, K = 30000, 36, 10, 40
    stated = (2 * N + M + L) * K + (M + 1) * N
    return Judgement(
        "fails",
        stated + K * M * M,
        note=f"{stated} stated; the covariances' K M^2 = {K * M * M} are missing (N = {N}, M = {M}, L = {L}, K = {K})",
    )


def _faster(evidence: Evidence, claim: Claim) -> Judgement:
    found = []
    for k in K_VALUES:
        whole = evidence.seconds_per_pass(HALF, "sequential", f"{WHOLE}-K{k}")
        found += [
            greater(whole, evidence.seconds_per_pass(HALF, "sequential", f"{p}-K{k}"), f"{p}, K = {k}")
            for p in BLOCKS
        ]
    return all_of(found)


def _costly(evidence: Evidence, claim: Claim) -> Judgement:
    ours = evidence.fit_seconds("fashion_mnist", "pskem", "10x15-K100")
    names = ("bagged_trees_100", "bagged_trees_50", "svm_linear", "knn_5", "knn_1", "knn_9", "lda")
    rivals = {name: _one_run(evidence.fit_seconds("fashion_mnist", name, "preset")) for name in names}
    told = ", ".join(f"{name} {e.mean:.0f} s" for name, e in rivals.items())
    return all_of((greater(ours, e, name) for name, e in rivals.items()), f"PSKEM {ours.mean:.0f} s; {told}")


def _typical(evidence: Evidence, claim: Claim) -> Judgement:
    names = evidence.settings("fashion_mnist", "grid")
    values = pd.Series({name: evidence.accuracy("fashion_mnist", "grid", name).mean for name in names})
    low, high = values.quantile([0.025, 0.975])
    value = float(claim["value"])
    verdict = (
        "reproduced" if low - 0.05 <= value <= high + 0.05 else "worse" if values.mean() < value else "better"
    )
    return Judgement(
        verdict,
        float(values.median()),
        float(low),
        float(high),
        len(values),
        "best-pass",
        f"median and 95% range over {len(values)} settings; best {values.idxmax()} {values.max():.2f}",
    )


def _same(note: str) -> str:
    return f"tests/test_theory.py::{note}"


THEORY = {
    "abstract.complexity_r2": "tests/test_metrics.py::test_operation_count",
    "sec4.complexity_r2": "tests/test_metrics.py::test_operation_count",
    "sec1.cubic_complexity": "tests/test_metrics.py::test_operation_count",
    "sec2-2.skem_operations": "tests/test_metrics.py::test_operation_count",
    "sec2-2.skem_order": "tests/test_metrics.py::test_operation_count; with one factorisation per component it is M^2 per row",
    "sec2-3.pskem_order": "tests/test_metrics.py::test_operation_count",
    "abstract.exact_if_independent": "tests/test_engine.py::test_blocks_multiply",
    "sec4.exact_if_independent": "tests/test_engine.py::test_blocks_multiply",
    "sec2-3.factorisation": "tests/test_engine.py::test_blocks_multiply",
    "sec1.underflow_at_high_dim": "tests/test_engine.py::test_rows_far_from_all_training_data; not an issue for logarithms",
    "sec2-2.normalisation": _same("test_weights_and_responsibilities_sum_to_one"),
    "sec2-2.n_terms": _same("test_the_expectation_over_all_assignments"),
    "sec2-2.q_function": _same("test_the_expectation_over_all_assignments"),
    "appendix_a.n_terms_binary": _same("test_the_expectation_over_all_assignments"),
    "appendix_a.categorical_q": _same("test_the_expectation_over_all_assignments"),
    "sec2-2.m_step": _same("test_the_m_step_is_a_stationary_point"),
    "sec2-2.same_as_titsias": "tests/test_engine.py::test_passes_equal_the_reference, whose pass is also eqs. 19-21 of Titsias and Likas (2001)",
    "sec2-2.pnn_special_case": "a remark about another paper's algorithm; the E-step it names is tests/test_engine.py::test_passes_equal_the_reference",
    "sec2-2.mda_covariance": _same("test_the_covariance_of_mda_is_the_weighted_mean"),
    "sec2-3.map_is_ml": "tests/test_estimators.py::test_class_prior_and_what_follows_from_it",
    "sec2-3.n_gaussians": _same("test_a_product_of_mixtures_is_a_mixture"),
    "sec2-3.independent_iteration": "tests/test_engine.py::test_each_block_starts_from_its_own_arrays",
    "appendix_b.direct_sum": _same("test_a_product_of_mixtures_is_a_mixture"),
    "appendix_b.less_general": _same("test_a_product_of_mixtures_is_a_mixture"),
}
"""Claims that algebra decides, and where it is checked."""

JUDGES: dict[str, Judge] = {
    "abstract.better_and_cheaper": lambda e, c: any_of(_against_whole(e, BLOCKS, K_VALUES)),
    "sec1.pskem_generally_better": lambda e, c: _most(_against_whole(e, BLOCKS, K_VALUES)),
    "sec1.pskem_speedup": _faster,
    "sec1.robustness": _robust,
    "sec2-2.skem_memory": _memory,
    "sec2-3.skem_above_100_features": _large,
    "sec2-3.orders_of_magnitude": _orders,
    "sec2-3.outperforms_36d": lambda e, c: all_of(_against_whole(e, BLOCKS, K_VALUES)),
    "sec3-1.mnist.decorrelated": _decorrelated,
    "sec3-1.mnist.best_setting": _best_setting("mnist", "3x13-K60"),
    "sec3-2.ionosphere.best_partition": _best_setting("ionosphere", "2x16-K12"),
    "sec3-2.ionosphere.top_three": _top_three,
    "sec3-2.fashion_mnist.pskem_typical_accuracy": _typical,
    "sec3-2.fashion_mnist.best_setting": _best_setting("fashion_mnist", "10x15-K100"),
    "sec3-2.fashion_mnist.baseline_order": _order,
    "sec3-2.fashion_mnist.similar_to_knn": _similar,
    "sec4.fashion_mnist_similar_to_knn": _similar,
    "sec3-2.fashion_mnist.below_trees_and_svm": _below,
    "sec4.fashion_mnist_below": _below,
    "table1.fashion_mnist.best_method": lambda e, c: all_of([greater(_one_run(TREES[100](e)), FASHION(e))]),
    "sec3-2.fashion_mnist.training_cost": _costly,
    "sec3-2.cifar10.more_blocks": _more_blocks,
    "sec3-2.cifar10.pose_sensitivity": _falls,
    "sec4.cifar10_pose": _more_sensitive,
    "sec3-3.skem_more_passes": _peak_later,
    "sec3-3.skem_not_parallel": _not_parallel,
    "sec3-3.small_k_arrangement": _small_k,
    "sec3-3.arrangement_insensitive": _insensitive,
    "sec3-3.no_divergence": _no_divergence,
    "sec3-3.stability_driver": _stability,
    "sec3-3.monotone_in_k": _increasing,
    "sec3-3.best_partitions": lambda e, c: all_of(
        _best_partitions(e, (36, 40), ("3x12", "2x18"), ("12x3", "6x6", WHOLE)), "K from 36"
    ),
    "sec3-3.skem_below_12x3": lambda e, c: all_of(
        _against_whole(e, ("12x3",), tuple(k for k in K_VALUES if k < 28))
    ),
    "sec3-3.skem_above_12x3": lambda e, c: all_of(
        greater(_half(e, m, WHOLE, k), _half(e, m, "12x3", k), f"{m}, K = {k}", or_equal=True)
        for m in ARRANGEMENTS
        for k in K_VALUES
        if k >= 28
    ),
    "sec3-3.superiority": lambda e, c: all_of(_against_whole(e, BLOCKS, K_VALUES)),
    "sec3-3.sharing.range": _within_unit,
    "sec3-3.sharing.decreasing_in_k": _sharing_falls,
    "sec3-3.sharing.best_share_least": _share_least,
    "sec3-3.sharing.best_accuracy_above_12": lambda e, c: all_of(
        greater(
            _half(e, "sequential", p, k), _half(e, "sequential", other, k), f"{p} against {other}, K = {k}"
        )
        for k in K_VALUES
        if k > 12
        for p in ("3x12", "2x18")
        for other in ("12x3", "6x6", WHOLE)
    ),
    "sec4.larger_data": _larger_data,
    "sec4.robust": _robust,
    "sec4.lower_cost": _cheaper,
    "sec4.consistently_better": lambda e, c: all_of(_against_whole(e, BLOCKS, K_VALUES)),
}
"""Orderings and statements that are not formal expressions."""
