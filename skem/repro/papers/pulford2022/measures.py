"""Measures of Pulford (2022) that no row of ``config/claims/pulford2022.yaml`` can say."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from skem.repro.ledger.cells import FINAL, Evidence
from skem.repro.ledger.decisions import Comparison, Evaluation, decide, departure, related
from skem.repro.ledger.estimates import LEVEL, Claim, Estimate, NotRun, below_best, maximum, pooled, ratio
from skem.repro.ledger.evaluator import Listed
from skem.repro.ledger.stated_claims import claim as stated_claim
from skem.repro.papers.pulford2022.settings import Headline, Settings

BEST, VALIDATED = "test_selected_iteration", "validation_selected_iteration"

CHANCE = 10.0
"""Accuracy of guessing among ten classes, in percent."""

SINGULAR = 1e12
"""Condition number from which a covariance counts as singular in float64."""

PAPER_RUNS = 20
"""Runs of each configuration in the paper's Figures 2 to 4 (section 3.3)."""


def names(paper: Settings) -> dict[str, Any]:
    """Return the names that rows use."""
    smallest, *larger = paper.blocks
    sequential, *others = paper.arrangements
    return {
        "method_of": {dataset: model.method for dataset, model in paper.headlines.items()},
        "model": {dataset: model.method for dataset, model in paper.headlines.items()} | {"rice": "in_order"},
        "setting_of": {dataset: model.setting for dataset, model in paper.headlines.items()},
        "features_of": {dataset: model.n_features for dataset, model in paper.headlines.items()},
        "arrangements": paper.arrangements,
        "sequential": sequential,
        "others": others,
        "partitions": paper.partitions,
        "partitions_of": {
            m: paper.partitions if m == sequential else paper.blocks for m in paper.arrangements
        },
        "blocks": paper.blocks,
        "smallest": smallest,
        "larger": larger,
        "whole": paper.whole,
        "best": paper.best,
        "not_best": [p for p in paper.partitions if p not in paper.best],
        "other_blocks": [p for p in paper.blocks if p not in paper.best],
        "best_and_whole": [*paper.best, paper.whole],
        "peaks": [paper.whole, *paper.blocks],
        "ks": paper.n_components,
        "most": paper.n_components[-1],
        "few": [k for k in paper.n_components if k < paper.crossing],
        "many": paper.many,
        "above_12": [k for k in paper.n_components if k > 12],
        "crossing": paper.crossing,
    }


# Accuracies


def _model(evidence: Evidence, dataset: str) -> Headline:
    return evidence.paper.headlines[dataset]


def _tried(evidence: Evidence, dataset: str, method: str, metric: str = BEST) -> dict[str, Estimate]:
    configurations = _configurations(evidence, dataset, method)
    return {
        name: evidence.estimate(metric, dataset=dataset, method=method, setting=name)
        for name in configurations.index
    }


def _configurations(evidence: Evidence, dataset: str, method: str) -> pd.DataFrame:
    rows = evidence.rows(BEST, dataset=dataset, method=method)
    return rows[rows["setting"] != "nested"].drop_duplicates("setting").set_index("setting")


def table1(evidence: Evidence, dataset: str) -> Estimate:
    """Estimate the accuracy that Table 1 reports of MNIST or Fashion-MNIST: the maximum over all configurations, or that of the paper's."""
    model = _model(evidence, dataset)
    if evidence.interpretation.choices.get("headline") == "setting":
        return evidence.estimate(BEST, dataset=dataset, method=model.method, setting=model.setting)
    settings, tried = _configurations(evidence, dataset, "grid"), _tried(evidence, dataset, "grid")
    # Spreads depend on K above all.
    same_size = list(settings.index[settings["n_components"] == model.n_components])
    name = max(tried, key=lambda name: tried[name].mean)
    note = f"the best of {len(tried)} configurations in each run, on average {name}"
    return replace(maximum(tried, same_size), note=note)


def margin(evidence: Evidence, dataset: str, method: str, setting: str, among: Sequence[str]) -> Estimate:
    """Estimate the gain over the best of some baselines, with the standard deviation of one result of the paper's.

    The paper has a mean over its trials, and one cross-validation of each baseline.
    """
    ours = evidence.estimate(BEST, dataset=dataset, method=method, setting=setting)
    best = max((evidence.estimate("preset", dataset=dataset, method=m) for m in among), key=lambda e: e.mean)
    printed = evidence.stated.set_index("id").loc[f"pulford.table1.{dataset}.best_accuracy"]
    gain, sd = ours - best, float(np.hypot(ours.sd / np.sqrt(int(printed["trials"])), best.sd))
    return (
        replace(gain, sd=sd, n=(sd / gain.error) ** 2, dof=gain.freedom, overlap=0.0) if gain.error else gain
    )


def _quantile(values: pd.Series, share: float, note: str) -> Estimate:
    """A quantile over configurations. The paper does not say which it means, so its spread is by bootstrap."""
    drawn = np.random.default_rng(0).choice(values.to_numpy(), (2000, len(values)))
    sd = float(np.quantile(drawn, share, axis=1).std(ddof=1))
    return Estimate(float(values.quantile(share)), sd, 1, None, BEST, note, dof=len(values) - 1)


def typical_peak(evidence: Evidence, share: float) -> Estimate:
    """Estimate an end of the range in which most configurations of section 3.1 peak."""
    peaks = pd.Series({name: e.mean for name, e in _tried(evidence, "mnist", "grid", "peak").items()})
    note = f"{share:.0%} quantile over {len(peaks)} configurations; from {peaks.min():.0f} ({peaks.idxmin()})"
    note += f" to {peaks.max():.0f} ({peaks.idxmax()})"
    return _quantile(peaks, share, note)


def typical_accuracy(evidence: Evidence) -> Estimate:
    """Estimate the median accuracy over configurations on Fashion-MNIST."""
    values = pd.Series({name: e.mean for name, e in _tried(evidence, "fashion_mnist", "grid").items()})
    note = f"median over {len(values)} configurations; from {values.min():.2f} to {values.max():.2f} ({values.idxmax()})"
    return _quantile(values, 0.5, note)


def standard_deviation(evidence: Evidence, partition: str, n_components: str) -> Estimate:
    """Estimate the standard deviation of the accuracy over runs, of all arrangements together."""
    paper, runs = evidence.paper, {}
    for method in paper.arrangements[: 1 if partition == paper.whole else None]:
        # One arrangement is trained if all runs have the same images.
        with suppress(NotRun):
            runs[method] = evidence.estimate(
                "half", method=method, partition=partition, n_components=n_components
            )
    if not runs:
        raise NotRun(f"{partition}-K{n_components} on half-size MNIST was not part of this run")
    freedom = sum(e.freedom for e in runs.values())
    variance = float(sum(e.sd**2 * e.freedom for e in runs.values())) / freedom
    note = ", ".join(f"{method} {e.sd:.2f}" for method, e in runs.items())
    n = sum(e.n for e in runs.values())
    return Estimate(variance**0.5, float("nan"), n, None, BEST, note, dof=freedom)


def best_setting(evidence: Evidence, claim: Claim, dataset: str, more_blocks: bool = False) -> Evaluation:
    """Compare the paper's configuration with others of the grid, or those of more blocks, with a spread pooled over those of equal K."""
    model, tried = _model(evidence, dataset), _configurations(evidence, dataset, "grid")

    def estimate(name: str) -> Estimate:
        """From the grid, or from Table 1, which has more runs of some configurations."""
        found = [evidence.estimate(BEST, dataset=dataset, method="grid", setting=name)]
        with suppress(NotRun):
            found.append(evidence.estimate(BEST, dataset=dataset, method=model.method, setting=name))
        return max(found, key=lambda e: e.n)

    known: dict[str, Estimate] = {}
    for _, group in tried.groupby("n_components", sort=False):
        known |= zip(group.index, pooled([estimate(name) for name in group.index]), strict=True)
    others = (
        tried[tried["n_blocks"] > model.n_blocks]
        if more_blocks
        else tried.drop(index=model.setting, errors="ignore")
    )
    top = known[model.setting]
    return decide(Comparison(top - known[name], or_equal=True, what=str(name)) for name in others.index)


def best_components(evidence: Evidence, claim: Claim) -> Evaluation:
    """Test if a K is among those that are not certainly below the best on rice, with a step on either side for "around".

    If their range is wider than the paper's and these steps, the runs do not decide.
    """
    method = "grid" if evidence.interpretation.choices.get("rice_folds") == "stratified" else "in_order"
    sizes = _configurations(evidence, "rice", method)["n_components"]
    by_k = {int(sizes[name]): estimate for name, estimate in _tried(evidence, "rice", method).items()}
    if len(by_k) < 2:
        raise NotRun(f"{method} with several K on rice was not part of this run")
    top, below = max(by_k, key=lambda k: by_k[k].mean), below_best(by_k)
    among = [k for k in by_k if k not in below]
    value, (low, high) = float(claim["value"]), (min(among), max(among))
    ends = [
        stated_claim(evidence.stated, f"pulford.sec3-2.rice.best_n_components_{end}")
        for end in ("min", "max")
    ]
    step = min(b - a for a, b in pairwise(sorted(by_k)))
    detail = "reproduced" if high - low <= ends[1] - ends[0] + 2 * step else "too few runs"
    if not low - step <= value <= high + step:
        detail = departure(claim["quantity"], value < low)
    accuracies = ", ".join(f"{k}: {e.mean:.2f}" for k, e in sorted(by_k.items()))
    note = f"the best K, and the range of those not below the best at 95% in all comparisons; accuracies {accuracies}"
    return Evaluation(detail, top, low, high, by_k[top].n, BEST, note)


# Other data and resources


def share_lost(evidence: Evidence, method: str, setting: str) -> Estimate:
    """Estimate the share of the accuracy above chance that moving the test images costs: a less accurate model has fewer points to lose."""
    cell = {"dataset": "cifar10_moved", "method": method, "setting": setting}
    unmoved, moved = (evidence.estimate(metric, **cell).runs for metric in ("unmoved", "final"))
    return Estimate.of(100 * (unmoved - moved) / (unmoved - CHANCE), FINAL)  # type: ignore[operator]


def many_features(evidence: Evidence, claim: Claim) -> Evaluation:
    """The claim fails if such a model can be trained and is accurate; chance is 10%."""
    tried, found = (
        _configurations(evidence, "mnist", "unpartitioned"),
        _tried(evidence, "mnist", "unpartitioned", "final"),
    )
    note = (
        f"trained by us on an ordinary machine with reg_covar = {tried['reg_covar'].min():g}, so that stability without regularisation "
        f"was not tested, accuracy after the final iteration: {Listed(found):.1f%}"
    )
    top = max(e.mean for e in found.values())
    return Evaluation("fails" if top > 50 else "holds", top, note=note, protocol=FINAL)


def fit_seconds(evidence: Evidence, method: str, setting: str) -> Estimate:
    """Estimate the seconds of a fit to Fashion-MNIST; seconds against minutes need no spread."""
    found = evidence.estimate("seconds_of_fits", method=method, setting=setting)
    return found if found.n > 1 else Estimate(found.mean, protocol=found.protocol)


# Partitions


def peak_within_40(evidence: Evidence, partition: str, n_components: list[int]) -> Estimate:
    """Estimate the best iteration of as many for all partitions, in the runs that all have."""
    paper = evidence.paper

    def runs(method: str, p: str) -> pd.Series:
        found = evidence.estimate("half_peak", method=method, partition=p, n_components=n_components).runs
        assert found is not None
        return found

    found = {paper.whole: runs(paper.arrangements[0], paper.whole)} | {
        p: runs("longer", p) for p in paper.blocks
    }
    return Estimate.of(pd.DataFrame(found).dropna()[partition], BEST)


def _arranged(evidence: Evidence) -> dict[str, tuple[Estimate, Estimate]]:
    sequential, *others = evidence.paper.arrangements

    def half(method: str, p: str, k: int) -> Estimate:
        return evidence.estimate("half", method=method, partition=p, n_components=k)

    return {
        f"{p} {other}, K = {k}": (half(other, p, k), half(sequential, p, k))
        for k in evidence.paper.n_components
        if k >= 12
        for p in evidence.paper.blocks
        for other in others
    }


def little_arrangement(evidence: Evidence, claim: Claim) -> Evaluation:
    """The arrangement moves the accuracy by less than a point."""
    pairs = _arranged(evidence).items()
    compared = [comparison for name, (a, b) in pairs for comparison in related(a, "within", b, 1.0, name)]
    return decide(compared, note="within 1 point of sequential, K from 12")


def insensitive(evidence: Evidence, claim: Claim) -> Evaluation:
    """No difference is significant, and all are known to be small."""
    differences = {name: a - b for name, (a, b) in _arranged(evidence).items()}
    level = 1 - (1 - LEVEL) / len(differences)
    intervals = {name: d.interval(level) for name, d in differences.items()}
    significant = [name for name, (low, high) in intervals.items() if low > 0 or high < 0]
    worst = max(significant or differences, key=lambda name: abs(differences[name].mean))
    small = not significant and little_arrangement(evidence, claim).detail == "holds"
    detail = "fails" if significant else "holds" if small else "undecided"
    note = (
        f"points over sequential, K from 12: {len(significant)} of {len(differences)} are significant at a shared "
        f"95%; largest: {worst}"
    )
    largest = differences[worst]
    return Evaluation(detail, largest.mean, *intervals[worst], largest.n_runs, BEST, note)


def no_divergence(evidence: Evidence, claim: Claim, partitioned: bool = False) -> Evaluation:
    """From runs without covariance regularisation: no covariance is singular, or so few that the paper need not have seen one.

    It fails if the paper should have seen one even with the least shares of singular runs that ours allow (Clopper and Pearson).
    ``partitioned`` leaves out the unpartitioned model.
    """
    rows = evidence.rows("condition", method="unregularised")
    rows = rows[(rows["setting"] != "nested") & ~(partitioned & (rows["partition"] == evidence.paper.whole))]
    if not len(rows):
        raise NotRun("no partitioned model without covariance regularisation was part of this run")
    worst = rows["condition"].fillna(np.inf).idxmax()
    largest, n, singular = float(rows["condition"][worst]), len(rows), rows["kept"].gt(0)
    note = (
        f"largest condition number of a covariance in {n} runs without covariance regularisation: {rows['setting'][worst]}; "
        f"in {singular.sum()} of them a covariance turned singular"
    )
    counts = singular.groupby(rows["setting"]).agg(["sum", "size"])
    unseen = float(np.prod((1 - counts["sum"] / counts["size"]) ** PAPER_RUNS))
    least = scipy.special.betaincinv(counts["sum"], counts["size"] - counts["sum"] + 1, (1 - LEVEL) / 2)
    if singular.any():
        note += f"; {PAPER_RUNS} runs of each configuration, as in the paper, see none with a probability of {unseen:.2f}"
    else:
        note += f", so at 95% in at most {100 * (1 - (1 - LEVEL) ** (1 / n)):.1f}% of such runs"
    if np.prod((1 - least[counts["sum"] > 0]) ** PAPER_RUNS) < 1 - LEVEL or largest >= SINGULAR:
        return Evaluation("fails", largest, n=n, protocol=FINAL, note=note)
    return Evaluation("undecided" if singular.any() else "holds", largest, n=n, protocol=FINAL, note=note)


def stability(evidence: Evidence, claim: Claim) -> Evaluation:
    """K explains most of the variance of log10 condition of the unpartitioned model without covariance regularisation."""
    rows = evidence.rows("condition", method="unregularised")
    rows = rows[rows["setting"] != "nested"]
    tables = {
        p: np.log10(
            own.pivot_table(index="run", columns="n_components", values="condition", sort=False)
        ).to_numpy()
        for p, own in rows.groupby("partition", sort=False)
    }
    table = tables.pop(evidence.paper.whole)
    drawn = np.random.default_rng(0).integers(len(table), size=(2000, len(table)))
    low, high = np.quantile([_explained(table[row]) for row in drawn], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    detail = "holds" if low > 0.5 else "fails" if high < 0.5 else "undecided"
    others = ", ".join(f"{p} {_explained(other):.2f}" for p, other in tables.items())
    note = (
        "share of the variance of log condition number that K explains and a run (initialisation and training images) "
        f"does not, {evidence.paper.whole}, interval by bootstrap over runs; {others}"
    )
    return Evaluation(detail, _explained(table), float(low), float(high), len(table), FINAL, note)


def _explained(table: NDArray[np.float64]) -> float:
    between, within = float(table.mean(axis=0).var()), float(table.var(axis=0).mean())
    return between / (between + within)


def shared_reduction(evidence: Evidence, less: Sequence[str], more: str, n_components: list[int]) -> Estimate:
    """Estimate the reduction of the shared proportion from one partition to others, in percent."""
    cell = {"method": evidence.paper.arrangements[0], "n_components": n_components}
    a, b = (evidence.estimate("shared", partition=p, **cell).runs for p in (list(less), more))
    note = f"mean of {' and '.join(less)}, and over K from {evidence.paper.crossing}"
    return Estimate.of(100 * (1 - ratio(a, b)), FINAL, note)  # type: ignore[arg-type]


def fall_of_sharing(evidence: Evidence, partition: str) -> Estimate:
    """Estimate by how much the shared proportion falls with ten more components, by least squares in every run."""
    paper = evidence.paper
    ks = np.array(paper.n_components, dtype=float)
    weights = -10 * (ks - ks.mean()) / np.sum((ks - ks.mean()) ** 2)
    method = paper.arrangements[0]
    columns = [
        evidence.estimate("shared", method=method, partition=partition, n_components=k).runs
        for k in paper.n_components
    ]
    by_k = pd.concat(columns, axis=1).dropna()  # type: ignore[arg-type]
    return Estimate.of((by_k * weights).sum(axis=1), FINAL)


def _steady(evidence: Evidence) -> Evaluation:
    """The standard deviation of PSKEM over runs is below a point of accuracy, K from 12.

    The largest of all is known only after the runs, so their intervals share the level.
    """
    paper, spreads = evidence.paper, {}
    configurations = [(p, k) for k in paper.n_components if k >= 12 for p in paper.blocks]
    tail = (1 - LEVEL) / 2 / len(configurations)
    for p, k in configurations:
        e = evidence.estimate("half", method=paper.arrangements[0], partition=p, n_components=k)
        limits = e.sd * np.sqrt(e.freedom / scipy.stats.chi2.ppf([1 - tail, tail], e.freedom))
        spreads[f"{p}, K = {k}"] = (e.sd, *limits)
    worst = max(spreads, key=lambda name: spreads[name][0])
    largest, low, high = (float(max(limits)) for limits in zip(*spreads.values(), strict=True))
    detail = "fails" if low > 1 else "holds" if high < 1 else "undecided"
    note = f"largest standard deviation over runs, each with its own initialisation and training images, {largest:.2f} ({worst})"
    return Evaluation(detail, largest, low, high, note=note)


def robust(evidence: Evidence, claim: Claim) -> Evaluation:
    """Divergence, arrangement and initialisation."""
    found = {
        "divergence": no_divergence(evidence, claim, partitioned=True),
        "arrangement": little_arrangement(evidence, claim),
        "initialisation": _steady(evidence),
    }
    details, steady = {one.detail for one in found.values()}, found["initialisation"]
    detail = "fails" if "fails" in details else "holds" if details == {"holds"} else "undecided"
    note = "; ".join(f"{name} {one.detail}: {one.note}" for name, one in found.items())
    return Evaluation(detail, steady.measured, steady.low, steady.high, steady.n, BEST, note)
