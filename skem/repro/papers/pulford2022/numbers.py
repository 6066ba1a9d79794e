"""What each number that Pulford (2022) states is held against: functions of the evidence, by claim.

Which settings a claim is about is looked up in the paper's settings.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skem.metrics import operation_count
from skem.repro.ledger.estimates import Estimate, NotRun, maximum, reduction
from skem.repro.names import NAMES
from skem.repro.papers.pulford2022.evidence import Evidence
from skem.repro.papers.pulford2022.settings import Settings
from skem.repro.training.settings import blocks_of, setting_name

Measure = Callable[[Evidence], Estimate]


def _noted(estimate: Estimate, note: str) -> Estimate:
    return replace(estimate, note=note)


IN_ORDER, STRATIFIED, EACH_ITS_OWN = "file-order", "stratified", "each-its-own"
MAXIMUM, SETTING = "maximum", "setting"
BEST, LAST = "best", "last"
SMALLEST, TWO_SMALLEST = "4", "4-and-8"
TESTED, A_POINT = "test", "point"
JUDGED: dict[str, tuple[str, ...]] = {
    "rice_folds": (IN_ORDER, STRATIFIED, EACH_ITS_OWN),
    "headline": (MAXIMUM, SETTING),
    "ionosphere_pass": (BEST, LAST),
    "small_k": (SMALLEST, TWO_SMALLEST),
    "significant": (TESTED, A_POINT),
    "images": ("redrawn",),  # what is trained everywhere else
}
"""Options of open questions that are answered here, by question."""


def RICE(evidence: Evidence) -> Estimate:
    """On folds in the order of the file, "without randomisation", or on stratified ones."""
    if evidence.reading.option("rice_folds", IN_ORDER) == STRATIFIED:
        return evidence.headline("rice")
    return evidence.headline("rice", "in_order")


def rice_rival(method: str) -> Measure:
    """A conventional method on the folds of the model, or on stratified ones."""

    def measure(evidence: Evidence) -> Estimate:
        if evidence.reading.option("rice_folds", IN_ORDER) != IN_ORDER:
            return preset("rice", method)(evidence)
        own = f"in_order-{method}"
        return evidence.fixed("rice", own, str(evidence.settings("rice", own).index[0]))

    return measure


RICE_RIVALS = {m: rice_rival(m) for m in ("logistic_regression", "lda", "svm_linear", "svm_rbf")}


def IONOSPHERE(evidence: Evidence) -> Estimate:
    """The mean at the paper's setting; how the pass was chosen is not said of this data set."""
    return evidence.headline("ionosphere", protocol=protocol_of(evidence, "ionosphere"))


def protocol_of(evidence: Evidence, dataset: str) -> str:
    """How the pass is chosen."""
    last = dataset == "ionosphere" and evidence.reading.option("ionosphere_pass", BEST) == LAST
    return "last-pass" if last else "best-pass"


def _claimed_maximum(dataset: str) -> Measure:
    """The maximum over all settings tried, which the paper's is of its own, or its setting alone."""

    def measure(evidence: Evidence) -> Estimate:
        if evidence.reading.option("headline", MAXIMUM) == SETTING:
            return evidence.headline(dataset)
        settings, model = evidence.settings(dataset, "grid"), evidence.model(dataset)
        tried = {name: evidence.accuracy(dataset, "grid", name) for name in settings.index}
        # Spreads depend on K above all.
        alike = list(settings.index[settings["n_components"] == model.n_components])
        best = max(tried, key=lambda name: tried[name].mean)
        note = f"the best of {len(tried)} settings in each run, on average {best}"
        return _noted(maximum(tried, alike), note)

    return measure


MNIST = _claimed_maximum("mnist")
FASHION = _claimed_maximum("fashion_mnist")


def CIFAR(evidence: Evidence) -> Estimate:
    """At the paper's setting."""
    return evidence.headline("cifar10")


def preset(dataset: str, method: str, *, fixed: bool = False) -> Measure:
    """A conventional method as the paper had it: with what it says, else as its toolbox has it, on all training rows."""

    def measure(evidence: Evidence) -> Estimate:
        if fixed:
            return evidence.fixed(dataset, method, "preset")
        return Estimate.of(evidence.runs(dataset, method, "preset", "last-pass"), "preset")

    return measure


def _fact(source: str, find: Callable[[dict[str, Any]], float]) -> Measure:
    def measure(evidence: Evidence) -> Estimate:
        record = evidence.records.get(source)
        if not record or not record["available"]:
            raise NotRun(f"{source} is not available")
        return Estimate(float(find(record)), protocol="data")

    return measure


def _table_facts(source: str) -> dict[str, Measure]:
    at = f"sec3-2.{source}."
    return {
        f"{at}n_classes": _fact(source, lambda r: r["n_classes"]),
        f"{at}n_samples": _fact(source, lambda r: r["shape"][0]),
        f"{at}n_features": _fact(source, lambda r: r["shape"][1]),
    }


def _image_facts(source: str) -> dict[str, Measure]:
    at = f"sec3-{1 if source == 'mnist' else 2}.{source}."

    def n_test(evidence: Evidence) -> Estimate:
        model = evidence.model(source)
        tested = evidence.column(source, model.method, model.setting, "n_test")
        return Estimate(float(tested.max()), protocol="data")

    return {
        f"{at}n_classes": _fact(source, lambda r: r["n_classes"]),
        f"{at}n_test": n_test,
        f"{at}n_train": lambda e: _fact(source, lambda r: r["shape"][0])(e) - n_test(e),
        f"{at}image_side": _fact(source, lambda r: r["shape"][1]),
    }


def _difference(a: Measure, *others: Measure) -> Measure:
    """By how much a is above the best of others."""
    return lambda e: a(e) - max((other(e) for other in others), key=lambda estimate: estimate.mean)


def _generally(evidence: Evidence, share: float) -> Estimate:
    """A quantile, over the MNIST settings of section 3.1, of the mean peak pass."""
    names = evidence.settings("mnist", "grid").index
    peaks = pd.Series({name: evidence.peak("mnist", "grid", name).mean() for name in names})
    # The paper says neither which settings it means nor how many: as many others like them, drawn by bootstrap.
    drawn = np.random.default_rng(0).choice(peaks.to_numpy(), (2000, len(peaks)))
    sd = float(np.quantile(drawn, share, axis=1).std(ddof=1))
    told = f"{share:.0%} quantile over {len(peaks)} settings; from {peaks.min():.0f} ({peaks.idxmin()}) to {peaks.max():.0f} ({peaks.idxmax()})"
    return Estimate(float(peaks.quantile(share)), sd, 1, None, "best-pass", told, dof=len(peaks) - 1)


def _typical(evidence: Evidence) -> Estimate:
    """The median over the settings of section 3.2; the paper says neither which nor how many it means."""
    names = evidence.settings("fashion_mnist", "grid").index
    values = pd.Series({name: evidence.accuracy("fashion_mnist", "grid", name).mean for name in names})
    drawn = np.random.default_rng(0).choice(values.to_numpy(), (2000, len(values)))
    sd = float(np.median(drawn, axis=1).std(ddof=1))
    told = f"median over {len(values)} settings; from {values.min():.2f} to {values.max():.2f} ({values.idxmax()})"
    return Estimate(float(values.median()), sd, 1, None, "best-pass", told, dof=len(values) - 1)


def _spread(partition: str, k: int) -> Measure:
    """Standard deviation of accuracy over runs, of all arrangements together."""

    def measure(evidence: Evidence) -> Estimate:
        paper, name = evidence.paper, setting_name(partition=partition, n_components=k)
        trained = {}
        for method in paper.arrangements[: 1 if partition == paper.whole else None]:
            # Where all runs have the same images, one arrangement is trained.
            with suppress(NotRun):
                trained[method] = evidence.runs(paper.data_set, method, name)
        if not trained:
            raise NotRun(f"{name} on {paper.data_set} was not part of this run")
        methods, runs = list(trained), list(trained.values())
        freedom = sum(len(r) - 1 for r in runs)
        variance = float(sum(r.var(ddof=1) * (len(r) - 1) for r in runs)) / freedom
        told = ", ".join(f"{method} {r.std(ddof=1):.2f}" for method, r in zip(methods, runs, strict=True))
        n = sum(map(len, runs))
        return Estimate(variance**0.5, float("nan"), n, None, "best-pass", told, dof=freedom)

    return measure


def _plateau(evidence: Evidence) -> Estimate:
    paper, k = evidence.paper, max(evidence.paper.n_components)
    runs = [
        evidence.runs(paper.data_set, method, setting_name(partition=partition, n_components=k))
        for method in paper.arrangements
        for partition in paper.best
    ]
    told = f"{' and '.join(paper.best)} at K = {k}, all arrangements"
    # Of the runs that all arrangements have.
    return Estimate.of(pd.concat(runs, axis=1).dropna().mean(axis=1), "best-pass", told)


def _reduction(evidence: Evidence) -> Estimate:
    """100 (1 - mean shared proportion of the best partitions over that of one block), at the largest K; means over runs."""
    paper, k = evidence.paper, max(evidence.paper.n_components)
    whole, *parts = (
        evidence.column(
            paper.data_set,
            paper.arrangements[0],
            setting_name(partition=partition, n_components=k),
            "shared_proportion",
        )
        for partition in (paper.whole, *paper.best)
    )
    told = f"K = {k}, mean of {' and '.join(paper.best)}"
    return reduction(sum(parts) / len(parts), whole, "last-pass", told)


def operations_ratio(paper: Settings, partition: str, passes: int | None = None) -> float:
    """Counted operations of the unpartitioned model over those of a partition, for its own or as many passes."""

    def operations(of: str, n_passes: int) -> float:
        n_blocks, size = blocks_of(of)
        return operation_count(n_passes, max(paper.n_components), paper.n_train, [size] * n_blocks)

    own = paper.passes[partition]
    return operations(paper.whole, passes or paper.passes[paper.whole]) / operations(partition, own)


def ratios_for_equal_passes(paper: Settings) -> dict[str, float]:
    """`operations_ratio` of each partition, where one block has no more passes than it."""
    return {p: operations_ratio(paper, p, paper.passes[p]) for p in paper.blocks}


def _cost(evidence: Evidence) -> Estimate:
    paper = evidence.paper
    equal = min(ratios_for_equal_passes(paper).values())
    passes = f"{paper.passes[paper.whole]} passes against {paper.passes[paper.blocks[0]]}"
    return Estimate(
        min(operations_ratio(paper, p) for p in paper.blocks),
        note=f"{passes}; for equal passes {equal:.1f}",
    )


def _largest(evidence: Evidence) -> Estimate:
    dataset, model = max(evidence.paper.headlines.items(), key=lambda item: item[1].n_features)
    partition = f"{model.n_blocks}x{model.n_features // model.n_blocks}"
    told = f"{partition} on {NAMES[dataset]}, trained here: {evidence.headline(dataset).mean:.2f}%"
    return Estimate(model.n_features, note=told)


def _seconds_per_pass(dataset: str) -> Measure:
    def measure(evidence: Evidence) -> Estimate:
        model = evidence.model(dataset)
        return evidence.seconds_per_pass(dataset, model.method, model.setting)

    return measure


def _fraction(method: str, k: int) -> Measure:
    def measure(evidence: Evidence) -> Estimate:
        paper = evidence.paper
        runs = evidence.runs(paper.data_set, method, setting_name(partition=paper.mda, n_components=k)) / 100
        return Estimate.of(runs, "best-pass")

    return measure


KNN = {k: preset("fashion_mnist", f"knn_{k}", fixed=True) for k in (1, 5, 9)}
LINEAR = preset("fashion_mnist", "svm_linear", fixed=True)
TREES = {n: preset("fashion_mnist", f"bagged_trees_{n}") for n in (50, 100)}

NUMBERS: dict[str, Measure] = {
    **_image_facts("mnist"),
    **_image_facts("fashion_mnist"),
    **_image_facts("cifar10"),
    **_table_facts("rice"),
    **_table_facts("ionosphere"),
    "sec1.max_features": _largest,
    "sec3-1.mnist.pskem_accuracy": MNIST,
    "table1.mnist.pskem_accuracy": MNIST,
    "sec3-1.mnist.pskem_peak_pass": lambda e: Estimate.of(
        e.peak("mnist", e.model("mnist").method, e.model("mnist").setting), "best-pass"
    ),
    "sec3-1.mnist.peak_pass_min": lambda e: _generally(e, 0.1),
    "sec3-1.mnist.peak_pass_max": lambda e: _generally(e, 0.9),
    "sec3-2.rice.skem_accuracy": RICE,
    "table1.rice.skem_accuracy": RICE,
    "table1.rice.best_accuracy": RICE,
    "sec3-2.rice.logistic_accuracy": RICE_RIVALS["logistic_regression"],
    "sec3-2.rice.lda_accuracy": RICE_RIVALS["lda"],
    "sec3-2.rice.svm_linear_accuracy": RICE_RIVALS["svm_linear"],
    "sec3-2.rice.svm_rbf_accuracy": RICE_RIVALS["svm_rbf"],
    "sec3-2.rice.margin": _difference(RICE, *RICE_RIVALS.values()),
    "sec3-2.ionosphere.n_features_used": lambda e: Estimate(
        int(e.settings("ionosphere", e.model("ionosphere").method)["n_features"].max()),
        note="features 3 to 34",
    ),
    "sec3-2.ionosphere.pskem_accuracy": IONOSPHERE,
    "table1.ionosphere.pskem_accuracy": IONOSPHERE,
    "table1.ionosphere.best_accuracy": IONOSPHERE,
    "sec3-2.ionosphere.svm_rbf_accuracy": preset("ionosphere", "svm_rbf"),
    "sec3-2.ionosphere.bagged_trees_accuracy": preset("ionosphere", "bagged_trees_100"),
    "sec3-2.ionosphere.svm_quadratic_accuracy": preset("ionosphere", "svm_quadratic"),
    "sec3-2.ionosphere.margin": _difference(
        IONOSPHERE, *(preset("ionosphere", m) for m in ("svm_rbf", "bagged_trees_100", "svm_quadratic"))
    ),
    "sec3-2.fashion_mnist.pskem_accuracy": FASHION,
    "table1.fashion_mnist.pskem_accuracy": FASHION,
    "sec3-2.fashion_mnist.pskem_typical_accuracy": _typical,
    "sec3-2.fashion_mnist.bagged_trees_100_accuracy": TREES[100],
    "table1.fashion_mnist.best_accuracy": TREES[100],
    "sec3-2.fashion_mnist.bagged_trees_50_accuracy": TREES[50],
    "sec3-2.fashion_mnist.svm_linear_accuracy": LINEAR,
    "sec3-2.fashion_mnist.knn_5_accuracy": KNN[5],
    "sec3-2.fashion_mnist.knn_1_accuracy": KNN[1],
    "sec3-2.fashion_mnist.knn_9_accuracy": KNN[9],
    "sec3-2.fashion_mnist.kda_accuracy": lambda e: _noted(
        preset("fashion_mnist", "lda", fixed=True)(e), "linear discriminant analysis"
    ),
    "sec3-2.cifar10.pskem_accuracy": CIFAR,
    "table1.cifar10.pskem_accuracy": CIFAR,
    "sec4.cifar10_deficit": lambda e: Estimate(e.printed["pulford.table1.cifar10.best_accuracy"]) - CIFAR(e),
    "sec3-3.mnist-half.image_side": _fact("mnist", lambda r: r["shape"][1] // 2),
    **{
        f"sec3-3.std.k{k}.{p}": _spread(p, k)
        for k in (4, 40)
        for p in ("12x3", "6x6", "3x12", "2x18", "1x36")
    },
    "sec3-3.plateau": _plateau,
    "sec3-3.skem_cost": _cost,
    **{f"sec3-3.mda.k{k}.{m}_accuracy": _fraction(m, k) for k in (20, 40) for m in ("pskem", "mda")},
    "sec3-3.sharing.half_of_skem": _reduction,
    "appendix_b.n_gaussians": lambda e: Estimate(
        4.0, note="2^2; tests/estimators/test_theory.py::test_a_product_of_mixtures_is_a_mixture"
    ),
    **{
        f"table1.{dataset}.seconds_per_pass": _seconds_per_pass(dataset)
        for dataset in ("rice", "ionosphere", "mnist", "fashion_mnist", "cifar10")
    },
}
"""From a claim about a number, or an id in an expression, to what was measured."""
