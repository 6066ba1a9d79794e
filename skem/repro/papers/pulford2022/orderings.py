"""Orderings and statements of Pulford (2022) about settings, rivals and resources: sections 2, 3.1, 3.2 and 4."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

import pandas as pd

from skem.repro.ledger.estimates import Claim, Estimate, NotRun, pooled
from skem.repro.ledger.verdicts import (
    Comparison,
    Judgement,
    all_of,
    departure,
    equivalent,
    greater,
)
from skem.repro.names import NAMES
from skem.repro.papers.pulford2022.evidence import Evidence, Judge
from skem.repro.papers.pulford2022.numbers import (
    FASHION,
    IN_ORDER,
    KNN,
    LINEAR,
    NUMBERS,
    STRATIFIED,
    TREES,
    preset,
    protocol_of,
)
from skem.repro.training.settings import blocks_of


def _at_least(evidence: Evidence, dataset: str, others: pd.DataFrame) -> Judgement:
    """That the paper's setting is at least as accurate as others of the grid, the spread pooled over those of equal K."""
    model, tried = evidence.model(dataset), evidence.settings(dataset, "grid")
    protocol = protocol_of(evidence, dataset)

    def known(name: str) -> Estimate:
        """From the grid, or from Table 1, which has more runs of some settings."""
        measured = [evidence.accuracy(dataset, "grid", name, protocol)]
        with suppress(NotRun):
            measured.append(evidence.accuracy(dataset, model.method, name, protocol))
        return max(measured, key=lambda e: e.n)

    known_settings: dict[str, Estimate] = {}
    for _, alike in tried.groupby("n_components", sort=False):
        known_settings |= zip(alike.index, pooled([known(name) for name in alike.index]), strict=True)
    top = known_settings[model.setting]
    return all_of(
        Comparison(top - known_settings[name], or_equal=True, what=str(name)) for name in others.index
    )


def _best_setting(dataset: str) -> Judge:
    """That the paper's setting is at least as accurate as every other one tried."""

    def judge(evidence: Evidence, claim: Claim) -> Judgement:
        best = evidence.model(dataset).setting
        return _at_least(
            evidence, dataset, evidence.settings(dataset, "grid").drop(index=best, errors="ignore")
        )

    return judge


def _best_components(evidence: Evidence, claim: Claim) -> Judgement:
    """Whether a K is among those whose accuracy on rice is not below the best one's at 95%.

    Where these are far more than the paper names, with a step on either side for "around", it is not known which are best.
    """
    method = "grid" if evidence.reading.option("rice_folds", IN_ORDER) == STRATIFIED else "in_order"
    tried = evidence.settings("rice", method)["n_components"]
    by_k = {int(k): evidence.accuracy("rice", method, str(name)) for name, k in tried.items()}
    if len(by_k) < 2:
        raise NotRun(f"{method} with several K on rice was not part of this run")
    best = max(by_k, key=lambda k: by_k[k].mean)
    among = [k for k, e in by_k.items() if not (by_k[best] - e).interval()[0] > 0]
    told = ", ".join(f"{k}: {e.mean:.2f}" for k, e in sorted(by_k.items()))
    value = float(claim["value"])
    inside = min(among) <= value <= max(among)
    named = [evidence.printed[f"pulford.sec3-2.rice.best_n_components_{end}"] for end in ("min", "max")]
    around = 2 * min(b - a for a, b in pairwise(sorted(by_k)))
    told_apart = max(among) - min(among) <= named[1] - named[0] + around
    verdict = "reproduced" if told_apart else "too few runs"
    if not inside:
        verdict = departure(claim["quantity"], value < min(among))
    note = f"the best K and the range of those not below it at 95%; accuracies {told}"
    return Judgement(verdict, best, min(among), max(among), by_k[best].n, "best-pass", note)


def _top_three(evidence: Evidence, claim: Claim) -> Judgement:
    """The order of the three, and that every other method of the toolbox is below each of them."""
    top = {
        name: preset("ionosphere", method)(evidence)
        for name, method in (
            ("RBF SVM", "svm_rbf"),
            ("bagged trees", "bagged_trees_100"),
            ("quadratic SVM", "svm_quadratic"),
        )
    }
    others = {
        NAMES[method]: preset("ionosphere", method)(evidence)
        for method in ("logistic_regression", "lda", "qda", "svm_linear", "knn_1", "knn_5", "knn_9")
    }
    told = ", ".join(f"{name} {e.mean:.2f}" for name, e in (top | others).items())
    return all_of(
        [greater(a, b, f"{x} over {y}") for (x, a), (y, b) in pairwise(top.items())]
        + [greater(a, b, f"{x} over {y}") for x, a in top.items() for y, b in others.items()],
        told,
    )


def otherwise(dataset: str) -> Callable[[Evidence], str]:
    """What is left where nothing is chosen on test rows."""

    def remark(evidence: Evidence) -> str:
        chosen = {"the model": "audit"} | {NAMES[name]: f"audit-{name}" for name in evidence.paper.audited}
        in_order = dataset == "rice" and evidence.reading.option("rice_folds", IN_ORDER) == IN_ORDER
        folds = "contiguous" if in_order else "stratified"
        told = [f"{name} {evidence.nested(dataset, found, folds).mean:.1f}" for name, found in chosen.items()]
        return (
            "the model's best pass on each test fold; "
            f"all chosen on training rows ({dataset}, nested): {', '.join(told)}"
        )

    return remark


def _similar(evidence: Evidence, claim: Claim) -> Judgement:
    knn = max((KNN[k](evidence) for k in KNN), key=lambda e: e.mean)
    return all_of(equivalent(FASHION(evidence), knn, 1.0, "k-NN"), f"within 1 point of k-NN, {knn.mean:.2f}%")


def _below(evidence: Evidence, claim: Claim) -> Judgement:
    ours = FASHION(evidence)
    rivals = {"50 trees": TREES[50], "100 trees": TREES[100], "linear SVM": LINEAR}
    return all_of(greater(other(evidence), ours, name) for name, other in rivals.items())


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
    measured = [(name, find(evidence)) for name, find in order]
    told = ", ".join(f"{name} {e.mean:.2f}" for name, e in measured)
    return all_of((greater(a, b, f"{x} over {y}") for (x, a), (y, b) in pairwise(measured)), told)


def _more_blocks(evidence: Evidence, claim: Claim) -> Judgement:
    tried, model = evidence.settings("cifar10", "grid"), evidence.model("cifar10")
    return _at_least(evidence, "cifar10", tried[tried["n_blocks"] > model.n_blocks])


def _moved(evidence: Evidence, method: str) -> Estimate:
    """Points of accuracy that moving the test images costs, after the last pass or with the preset."""
    name = evidence.settings("cifar10_moved", method).index[0]
    as_is = evidence.column("cifar10_moved", method, name, "validation_accuracy")
    return Estimate.of(
        100 * (as_is - evidence.column("cifar10_moved", method, name, "last-pass")), "last-pass"
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


def _large(evidence: Evidence, claim: Claim) -> Judgement:
    found = {}
    for name in evidence.settings("mnist", "unpartitioned").index:
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
    """Against the 36 features and 6435 rows of Satimage, the largest of Titsias and Likas (2001)."""
    method = evidence.model("fashion_mnist").method
    trained = {}
    for name, n_features in evidence.settings("fashion_mnist", method)["n_features"].items():
        with suppress(NotRun):
            evidence.column("fashion_mnist", method, str(name), "n_train")
            trained[str(name)] = int(n_features)
    if not trained:
        raise NotRun(f"{method} on fashion_mnist was not part of this run")
    name = max(trained, key=lambda one: trained[one])
    n = int(evidence.column("fashion_mnist", method, name, "n_train").max())
    return Judgement(
        "holds" if trained[name] > 36 and n > 6435 else "fails",
        trained[name],
        note=f"{trained[name]} features of {n} rows ({name}); in Titsias and Likas (2001) at most 36 of 6435",
    )


def _not_parallel(evidence: Evidence, claim: Claim) -> Judgement:
    return Judgement(
        "fails",
        note="chunks of rows are independent: tests/engine/test_engine.py::test_workers_and_seeds_leave_no_trace has the same result from two threads",
    )


def _memory(evidence: Evidence, claim: Claim) -> Judgement:
    paper, L = evidence.paper, 10
    N, M, K = paper.n_train, blocks_of(paper.whole)[1], max(paper.n_components)
    stated = (2 * N + M + L) * K + (M + 1) * N
    return Judgement(
        "fails",
        stated + K * M * M,
        note=f"{stated} stated; the covariances' K M^2 = {K * M * M} are missing (N = {N}, M = {M}, L = {L}, K = {K})",
    )


def _costly(evidence: Evidence, claim: Claim) -> Judgement:
    model = evidence.model("fashion_mnist")
    ours = evidence.fit_seconds("fashion_mnist", model.method, model.setting)
    # 50 trees are the first half of the 100 and have no time of their own.
    names = ("bagged_trees_100", "svm_linear", "knn_5", "knn_1", "knn_9", "lda")
    rivals = {name: _as_it_is(evidence.fit_seconds("fashion_mnist", name, "preset")) for name in names}
    told = ", ".join(f"{name} {e.mean:.0f} s" for name, e in rivals.items())
    return all_of((greater(ours, e, name) for name, e in rivals.items()), f"PSKEM {ours.mean:.0f} s; {told}")


def _as_it_is(estimate: Estimate) -> Estimate:
    """The time of a single fit: seconds against minutes need no spread."""
    return estimate if estimate.n > 1 else Estimate(estimate.mean, 0.0, 1, None, estimate.protocol)


ORDERINGS: dict[str, Judge] = {
    "sec2-2.skem_memory": _memory,
    "sec2-3.skem_above_100_features": _large,
    "sec3-1.mnist.best_setting": _best_setting("mnist"),
    "sec3-2.rice.best_n_components_min": _best_components,
    "sec3-2.rice.best_n_components_max": _best_components,
    "sec3-2.ionosphere.top_three": _top_three,
    "sec3-2.ionosphere.best_partition": _best_setting("ionosphere"),
    "sec3-2.fashion_mnist.best_setting": _best_setting("fashion_mnist"),
    "sec3-2.fashion_mnist.baseline_order": _order,
    "sec3-2.fashion_mnist.similar_to_knn": _similar,
    "sec4.fashion_mnist_similar_to_knn": _similar,
    "sec3-2.fashion_mnist.below_trees_and_svm": _below,
    "sec4.fashion_mnist_below": _below,
    "table1.fashion_mnist.best_method": lambda e, c: all_of([greater(TREES[100](e), FASHION(e))]),
    "sec3-2.fashion_mnist.training_cost": _costly,
    "sec3-2.cifar10.more_blocks": _more_blocks,
    "sec3-2.cifar10.pose_sensitivity": _falls,
    "sec4.cifar10_pose": _more_sensitive,
    "sec3-3.skem_not_parallel": _not_parallel,
    "sec4.larger_data": _larger_data,
}
"""From a claim to its judge."""
