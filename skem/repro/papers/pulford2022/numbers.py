"""Measures of the numbers in Pulford (2022). The paper's settings say which models a claim is about."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd

from skem.metrics import operation_count
from skem.repro.ledger import stated_claims
from skem.repro.ledger.estimates import Claim, Estimate, NotRun, maximum, reduction, setting_of
from skem.repro.ledger.verdicts import listed
from skem.repro.names import NAMES
from skem.repro.papers.measured import data_set_property, exactly
from skem.repro.papers.pulford2022.evaluators import EVALUATORS
from skem.repro.papers.pulford2022.evidence import Evidence
from skem.repro.papers.pulford2022.settings import Settings
from skem.repro.training.settings import blocks_of, setting_name

measures = EVALUATORS.measures

RICE_BASELINES = {
    "logistic": "logistic_regression",
    "lda": "lda",
    "svm_linear": "svm_linear",
    "svm_rbf": "svm_rbf",
}
IONOSPHERE_BASELINES = {
    "svm_rbf": "svm_rbf",
    "bagged_trees": "bagged_trees_100",
    "svm_quadratic": "svm_quadratic",
}
"""Baselines by the claims' names of methods."""

TREES = ("bagged_trees_50", "bagged_trees_100")
NEIGHBOURS = ("knn_1", "knn_5", "knn_9")


def best(estimates: Iterable[Estimate]) -> Estimate:
    """Return the estimate with the largest mean."""
    return max(estimates, key=lambda e: e.mean)


@measures("*.n_classes", "*.n_samples", "*.n_features", "*.image_side", "*.n_train", "*.n_test")
def _property(evidence: Evidence, claim: Claim) -> Estimate:
    return data_set_property(claim["dataset"], claim["quantity"])


@measures("sec3-3.mnist-half.image_side")
def _half_the_side(evidence: Evidence) -> Estimate:
    return exactly(data_set_property("mnist", "image_side").mean / 2)


# Table 1 and section 3.1


@measures("*.mnist.pskem_accuracy", "*.fashion_mnist.pskem_accuracy")
def claimed_maximum(evidence: Evidence, claim: Claim) -> Estimate:
    """The maximum over all configurations, or the accuracy of the paper's."""
    return image_accuracy(evidence, claim["dataset"])


@EVALUATORS.remarks("*.mnist.pskem_accuracy")
def by_regularisation(evidence: Evidence) -> str:
    """Name the accuracy of the paper's configuration for each covariance regularisation that was trained."""
    model = evidence.model("mnist")
    tried = evidence.settings("mnist", model.method)
    own = tried[(tried["partition"] == model.partition) & (tried["n_components"] == model.n_components)]
    found = {
        f"{value:g}": evidence.accuracy("mnist", model.method, str(name))
        for name, value in own["reg_covar"].dropna().sort_values().items()
    }
    return f"{model.setting} by reg_covar: {listed(found)}" if len(found) > 1 else ""


def image_accuracy(evidence: Evidence, dataset: str) -> Estimate:
    """Estimate the accuracy that Table 1 reports of MNIST or Fashion-MNIST."""
    if evidence.interpretation.choice("headline") == "setting":
        return evidence.headline(dataset)
    settings, model = evidence.settings(dataset, "grid"), evidence.model(dataset)
    tried = {name: evidence.accuracy(dataset, "grid", name) for name in settings.index}
    # Spreads depend on K above all.
    same_size = list(settings.index[settings["n_components"] == model.n_components])
    name = max(tried, key=lambda name: tried[name].mean)
    note = f"the best of {len(tried)} configurations in each run, on average {name}"
    return replace(maximum(tried, same_size), note=note)


@measures("*.cifar10.pskem_accuracy")
def cifar_accuracy(evidence: Evidence) -> Estimate:
    return evidence.headline("cifar10")


@measures("sec4.cifar10_deficit")
def cifar_deficit(evidence: Evidence) -> Estimate:
    return Estimate(
        stated_claims.claim(evidence.stated, "pulford.table1.cifar10.best_accuracy")
    ) - cifar_accuracy(evidence)


@measures("sec3-1.mnist.pskem_peak_pass")
def mnist_peak(evidence: Evidence) -> Estimate:
    model = evidence.model("mnist")
    return Estimate.of(
        evidence.column("mnist", model.method, model.setting, "peak"), "test_selected_iteration"
    )


def _quantile_over_settings(values: pd.Series, share: float, note: str) -> Estimate:
    """A quantile over configurations. The paper does not say which it means, so its spread is by bootstrap."""
    drawn = np.random.default_rng(0).choice(values.to_numpy(), (2000, len(values)))
    sd = float(np.quantile(drawn, share, axis=1).std(ddof=1))
    return Estimate(
        float(values.quantile(share)), sd, 1, None, "test_selected_iteration", note, dof=len(values) - 1
    )


@measures("sec3-1.mnist.peak_pass_min", "sec3-1.mnist.peak_pass_max")
def typical_peak(evidence: Evidence, claim: Claim) -> Estimate:
    """The range in which most configurations of section 3.1 peak."""
    share = 0.1 if claim["quantity"] == "peak_pass_min" else 0.9
    names = evidence.settings("mnist", "grid").index
    peaks = pd.Series({name: evidence.column("mnist", "grid", name, "peak").mean() for name in names})
    note = f"{share:.0%} quantile over {len(peaks)} configurations; from {peaks.min():.0f} ({peaks.idxmin()})"
    note += f" to {peaks.max():.0f} ({peaks.idxmax()})"
    return _quantile_over_settings(peaks, share, note)


@measures("table1.*.seconds_per_pass")
def seconds_per_iteration(evidence: Evidence, claim: Claim) -> Estimate:
    model = evidence.model(claim["dataset"])
    return evidence.seconds_per_iteration(claim["dataset"], model.method, model.setting)


@measures("sec1.max_features")
def largest_model(evidence: Evidence) -> Estimate:
    dataset, model = max(evidence.paper.headlines.items(), key=lambda item: item[1].n_features)
    accuracy = evidence.headline(dataset).mean
    return Estimate(
        model.n_features, note=f"{model.partition} on {NAMES[dataset]}, trained by us: {accuracy:.2f}%"
    )


# Section 3.2


def preset(evidence: Evidence, dataset: str, method: str) -> Estimate:
    """Estimate the accuracy of a baseline with the paper's settings, or those of its toolbox, on all training samples."""
    if dataset == "fashion_mnist" and method not in TREES:
        return evidence.fixed(dataset, method)
    return Estimate.of(evidence.runs(dataset, method, "preset", "final_iteration"), "preset")


@measures("*.rice.skem_accuracy", "table1.rice.best_accuracy")
def rice(evidence: Evidence) -> Estimate:
    """On folds in the order of the file ("without randomisation"), or stratified ones."""
    return evidence.headline(
        "rice", "" if evidence.interpretation.choice("rice_folds") == "stratified" else "in_order"
    )


def rice_baseline(evidence: Evidence, method: str) -> Estimate:
    """A baseline on stratified folds, or in the order of the file."""
    if evidence.interpretation.choice("rice_folds") != "file-order":
        return preset(evidence, "rice", method)
    own = f"in_order-{method}"
    return evidence.fixed("rice", own, str(evidence.settings("rice", own).index[0]))


@measures("*.ionosphere.pskem_accuracy", "table1.ionosphere.best_accuracy")
def ionosphere(evidence: Evidence) -> Estimate:
    return evidence.headline("ionosphere", protocol=protocol_of(evidence, "ionosphere"))


def protocol_of(evidence: Evidence, dataset: str) -> str:
    """Return how the paper selects the iteration; it does not say so of ionosphere."""
    last = dataset == "ionosphere" and evidence.interpretation.choice("ionosphere_iteration") == "last"
    return "final_iteration" if last else "test_selected_iteration"


@measures("sec3-2.rice.margin", "sec3-2.ionosphere.margin")
def margin(evidence: Evidence, claim: Claim) -> Estimate:
    """The accuracy less that of the best baseline."""
    ours, baselines = against_baselines(evidence, claim["dataset"])
    return ours - best(baselines.values())


def against_baselines(evidence: Evidence, dataset: str) -> tuple[Estimate, dict[str, Estimate]]:
    """Return the accuracy on rice or ionosphere, and those of the baselines by name."""
    if dataset == "rice":
        return rice(evidence), {NAMES[m]: rice_baseline(evidence, m) for m in RICE_BASELINES.values()}
    return ionosphere(evidence), {
        NAMES[m]: preset(evidence, dataset, m) for m in IONOSPHERE_BASELINES.values()
    }


@measures("sec3-2.rice.*_accuracy", "sec3-2.ionosphere.*_accuracy")
def baseline(evidence: Evidence, claim: Claim) -> Estimate:
    if claim["dataset"] == "rice":
        return rice_baseline(evidence, RICE_BASELINES[claim["method"]])
    return preset(evidence, "ionosphere", IONOSPHERE_BASELINES[claim["method"]])


for _method in (*TREES, *NEIGHBOURS, "svm_linear"):
    measures(f"sec3-2.fashion_mnist.{_method}_accuracy")(
        lambda evidence, method=_method: preset(evidence, "fashion_mnist", method)
    )


@measures("table1.fashion_mnist.best_accuracy")
def fashion_trees(evidence: Evidence) -> Estimate:
    return preset(evidence, "fashion_mnist", "bagged_trees_100")


@measures("sec3-2.fashion_mnist.kda_accuracy")
def discriminant_analysis(evidence: Evidence) -> Estimate:
    return replace(preset(evidence, "fashion_mnist", "lda"), note="linear discriminant analysis")


@measures("sec3-2.fashion_mnist.pskem_typical_accuracy")
def typical_accuracy(evidence: Evidence) -> Estimate:
    names = evidence.settings("fashion_mnist", "grid").index
    values = pd.Series({name: evidence.accuracy("fashion_mnist", "grid", name).mean for name in names})
    note = f"median over {len(values)} configurations; from {values.min():.2f} to {values.max():.2f} ({values.idxmax()})"
    return _quantile_over_settings(values, 0.5, note)


@measures("sec3-2.ionosphere.n_features_used")
def features_used(evidence: Evidence) -> Estimate:
    tried = evidence.settings("ionosphere", evidence.model("ionosphere").method)
    return Estimate(int(tried["n_features"].max()), note="features 3 to 34")


# Section 3.3 and appendix B


@measures("sec3-3.std.*")
def standard_deviation(evidence: Evidence, claim: Claim) -> Estimate:
    """The standard deviation of the accuracy over runs, of all arrangements together."""
    paper, stated = evidence.paper, setting_of(claim)
    partition = f"{stated['n_blocks']}x{stated['block_size']}"
    name = setting_name(partition=partition, n_components=stated["n_components"])
    runs = {}
    for method in paper.arrangements[: 1 if partition == paper.whole else None]:
        # One arrangement is trained if all runs have the same images.
        with suppress(NotRun):
            runs[method] = evidence.runs(paper.data_set, method, name)
    if not runs:
        raise NotRun(f"{name} on {paper.data_set} was not part of this run")
    freedom = sum(len(r) - 1 for r in runs.values())
    variance = float(sum(r.var(ddof=1) * (len(r) - 1) for r in runs.values())) / freedom
    note = ", ".join(f"{method} {r.std(ddof=1):.2f}" for method, r in runs.items())
    n = sum(map(len, runs.values()))
    return Estimate(variance**0.5, float("nan"), n, None, "test_selected_iteration", note, dof=freedom)


@measures("sec3-3.plateau")
def plateau(evidence: Evidence) -> Estimate:
    """The mean over arrangements and the best partitions, of the runs that all have."""
    paper, k = evidence.paper, max(evidence.paper.n_components)
    runs = [evidence.half(method, p, k).runs for method in paper.arrangements for p in paper.best]
    note = f"{' and '.join(paper.best)} at K = {k}, all arrangements"
    return Estimate.of(pd.concat(runs, axis=1).dropna().mean(axis=1), "test_selected_iteration", note)  # type: ignore[arg-type]


def shared_proportion(evidence: Evidence, partition: str, k: int) -> pd.Series:
    """Return the proportion of shared components after the final iteration, by run."""
    paper, name = evidence.paper, setting_name(partition=partition, n_components=k)
    return evidence.column(paper.data_set, paper.arrangements[0], name, "shared_proportion")


@measures("sec3-3.sharing.half_of_skem")
def sharing_reduction(evidence: Evidence) -> Estimate:
    """The reduction from one block to the best partitions, mean over large K."""
    paper = evidence.paper

    def shared(partitions: Iterable[str]) -> pd.Series:
        columns = [shared_proportion(evidence, p, k) for p in partitions for k in paper.many]
        return pd.concat(columns, axis=1).dropna().mean(axis=1)

    note = f"mean of {' and '.join(paper.best)}, and over K from {paper.crossing}"
    return reduction(shared(paper.best), shared([paper.whole]), "final_iteration", note)


def operations_ratio(paper: Settings, partition: str, iterations: int | None = None) -> float:
    """Return counted operations of the unpartitioned model over those of a partition; ``iterations`` of the former."""

    def operations(of: str, n_iter: int) -> float:
        n_blocks, size = blocks_of(of)
        return operation_count(n_iter, max(paper.n_components), paper.n_train, [size] * n_blocks)

    whole = operations(paper.whole, iterations or paper.iterations[paper.whole])
    return whole / operations(partition, paper.iterations[partition])


def ratios_for_equal_iterations(paper: Settings) -> dict[str, float]:
    """Return `operations_ratio` of each partition for as many iterations of both."""
    return {p: operations_ratio(paper, p, paper.iterations[p]) for p in paper.blocks}


@measures("sec3-3.skem_cost")
def cost(evidence: Evidence) -> Estimate:
    paper = evidence.paper
    equal = min(ratios_for_equal_iterations(paper).values())
    numbers = f"{paper.iterations[paper.whole]} iterations against {paper.iterations[paper.blocks[0]]}"
    ratio = min(operations_ratio(paper, p) for p in paper.blocks)
    return Estimate(ratio, note=f"{numbers}; for equal numbers {equal:.1f}")


@measures("sec3-3.mda.*_accuracy")
def accuracy_beside_mda(evidence: Evidence, claim: Claim) -> Estimate:
    """Both as fractions."""
    paper, k = evidence.paper, setting_of(claim)["n_components"]
    name = setting_name(partition=paper.mda, n_components=k)
    return Estimate.of(evidence.runs(paper.data_set, claim["method"], name) / 100, "test_selected_iteration")


@measures("appendix_b.n_gaussians")
def n_gaussians(evidence: Evidence) -> Estimate:
    return Estimate(4.0, note="2^2; tests/estimators/test_theory.py::test_a_product_of_mixtures_is_a_mixture")
