"""Measures of Sanderson and Curtin (2017) that no row of ``config/claims/sanderson2017.yaml`` can say.

Its "gmm_diag" is Armadillo's class of today, "mlpack" the model of its Python package. A best of ten fits is compared through
the spread of the best of ten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from skem import datasets
from skem.repro.ledger.cells import FINAL, Evidence
from skem.repro.ledger.decisions import Comparison, Evaluation, evaluate_number, joined
from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.papers.sanderson2017.settings import METHODS, SYNTHETIC, Settings
from skem.repro.papers.sanderson2017.tables import METHOD_OF_PAPER

FEW = 10
"""Samples per Gaussian that the paper recommends."""

STABLE = 1.0
"""Nats per sample and feature by which the log-likelihoods of training and test samples may differ in a numerically stable fit."""

STOPS_EARLY = ("ozone",)
"""Data sets on which Armadillo ends EM after a few iterations, so that the seconds of one iteration are unknown."""


def names(paper: Settings) -> dict[str, Any]:
    """Return the names that rows use."""
    n, m = paper.figure2["n_rows"], paper.figure2["n_features"]
    of_table1 = {name: paper.name(name) for name in paper.of_table1}
    ours = {name: title for name, title in of_table1.items() if "drawn" not in paper.data_sets[name]}
    timed = {name: title for name, title in ours.items() if name not in STOPS_EARLY}
    return {
        "ours": METHOD_OF_PAPER,
        "data_sets": ours,
        "with_figure2": {**ours, SYNTHETIC: "Figure 2"},
        "timed": {**timed, SYNTHETIC: "the samples of Figure 2"},
        "diag_ahead": {name: ours[name] for name in ("winequality", "phy", "covertype")},
        "floors": {name: of_table1[name] for name in paper.floors["data_sets"]},
        "floor": sorted(paper.floors["floors"])[1],
        "seeded": {name: of_table1[name] for name in paper.seeds["data_sets"]},
        "advised": {name: of_table1[name] for name in paper.advice["data_sets"]},
        "advice_reg_covar": f"{paper.advice['reg_covar']:g}",
        "not_available": {name: entry.get("not_available", "") for name, entry in paper.data_sets.items()},
        "hands": {"n_samples": paper.data_sets["pokerhand"].get("drawn"), "n_features": 10},
        "components": {name: entry["n_components"] for name, entry in paper.data_sets.items()},
        "figure2": {"n_samples": n, "n_features": m, "megabytes": n * m * 8 / 2**20},
    }


# Table 1.


@cache
def spread_of_the_best(n: int) -> float:
    """Compute the standard deviation of the largest of n draws from a standard normal distribution."""

    def moment(k: int) -> float:
        def density(x: float) -> float:
            return x**k * n * scipy.stats.norm.pdf(x) * scipy.stats.norm.cdf(x) ** (n - 1)

        return float(scipy.integrate.quad(density, -10, 10)[0])

    return float(np.sqrt(moment(2) - moment(1) ** 2))


def _scaled(evidence: Evidence, dataset: str, rows: pd.DataFrame) -> tuple[float, str]:
    """Return the number of samples in the paper per sample of ours, and a remark; 1 unless they are drawn."""
    n, drawn = int(rows["n_rows"].iloc[0]), evidence.paper.data_sets.get(dataset, {}).get("drawn")
    in_paper = evidence.paper.figure2["n_rows"] if dataset == SYNTHETIC else drawn
    if in_paper is None:
        return 1.0, ""
    extrapolated = f"{n} of {in_paper} samples, times {in_paper / n:g}" if in_paper != n else ""
    return in_paper / n, joined("samples drawn by us", extrapolated)


def _rows(evidence: Evidence, metric: str, dataset: str, method: str, **cell: Any) -> pd.DataFrame:
    """Select the rows of a method that have a number; otherwise the reason is raised as `NotRun`."""
    entry = evidence.paper.data_sets.get(dataset, {})
    try:
        rows = evidence.rows(metric, dataset=dataset, method=method, **cell)
    except NotRun:
        if metric == "log_likelihood" and "only_timed" in entry:
            raise NotRun(f"{dataset} is only timed: {entry['only_timed']}") from None
        raise
    column = evidence.metrics[metric].column or metric
    with_number = rows[rows[column].notna()]
    if not len(with_number):
        raise NotRun(f"{METHODS[method].title} on {dataset}: {rows['note'].iloc[0]}")
    return with_number


def best(evidence: Evidence, dataset: str, method: str) -> Estimate:
    """Estimate the best total log-likelihood of several runs; its spread is that of the best of normal draws."""
    rows = _rows(evidence, "log_likelihood", dataset, method)
    scale, remark = _scaled(evidence, rows["dataset"].iloc[0], rows)
    values, n = scale * rows["log_likelihood"], len(rows)
    sd = float(values.std(ddof=1)) * spread_of_the_best(n) if n > 1 else float("nan")
    note = ", ".join(filter(None, [f"best of {n}", rows["guard"].iloc[0], remark]))
    return Estimate(float(values.max()), sd, 1, None, FINAL, note, dof=n - 1)


def best_likelihood(evidence: Evidence, claim: Claim) -> Evaluation:
    """The best of ten runs is one result."""
    found = best(evidence, claim["dataset"], METHOD_OF_PAPER[claim["method"]])
    evaluation = evaluate_number({**claim, "trials": "1"}, found)
    if found.freedom + 1 < int(claim["trials"]):  # the interval after as many runs as the paper's is unknown
        evaluation = replace(evaluation, narrowest=float("nan"))
    return evaluation


def of_folds(evidence: Evidence, samples: str, dataset: str, method: str) -> Estimate:
    """Estimate mean log p per sample over folds, of "train" or "test" samples."""
    rows = _rows(evidence, samples, dataset, method)
    return Estimate.of_folds(rows.set_index("fold")[samples], FINAL)


# Advice.


def _floored(evidence: Evidence, dataset: str, column: str) -> pd.DataFrame:
    """Return mean log p per sample by run (rows) and variance floor (columns), of "train" or "test" samples."""
    rows = evidence.rows("floors", dataset=dataset)
    if rows["train"].isna().all():
        raise NotRun(f"variance floors on {dataset}: {rows['note'].iloc[0]}")
    table = rows.pivot_table(index="run", columns="floor", values=column, dropna=False)
    if table.shape[1] < 2:
        raise NotRun(f"fits to {dataset} with and without a variance floor were not part of this run")
    return table


def _n_features(evidence: Evidence, dataset: str) -> int:
    entry = evidence.paper.data_sets[dataset]
    return int(datasets.describe(entry["source"])["shape"][1]) + entry.get("with_class", False)


def saved_by_floor(evidence: Evidence, dataset: str) -> Estimate:
    """Estimate the percentage of fits of which a variance collapses without a floor and not with it.

    No density of m features whose variances reach the floor exceeds -m/2 log(2 pi floor), so a larger mean log p of the training
    samples, or none, is of a fit that collapsed. With the floor only a failed fit counts, so this measures fits without one.
    """
    table = _floored(evidence, dataset, "train")
    none, floor, *_ = sorted(table)
    most = -_n_features(evidence, dataset) / 2 * np.log(2 * np.pi * floor)
    collapsed = 100.0 * ((table > most) | table.isna())
    return Estimate.of(collapsed[none] - collapsed[floor], FINAL)


def stable_fits(evidence: Evidence, dataset: str, floor: float) -> Estimate:
    """Estimate the percentage of fits whose log p is finite, and per sample and feature as large on test as on training samples, within `STABLE`."""
    train, test = (_floored(evidence, dataset, column)[float(floor)] for column in ("train", "test"))
    stable = (test - train).abs() / _n_features(evidence, dataset) <= STABLE
    return Estimate.of(100.0 * stable, FINAL)


class Enough(NamedTuple):
    """The smallest number that is enough, and its 95% interval, among the numbers tried."""

    number: float
    low: float
    high: float

    def __str__(self) -> str:
        interval = f" ({self.low:g} to {self.high:g})" if self.low < self.high else ""
        return f"{self.number:g}{interval}"


def enough(curve: Mapping[int, Estimate]) -> Enough:
    """Return the smallest number from which no larger one gains as much as another initialisation does.

    The margin is one standard deviation over initialisations, pooled over the curve. A number is shown to be enough if the gain
    of each larger one is below the margin at 95%, and shown to fall short if one of them is above it (Bonferroni). The
    interval runs from the smallest number that is not shown to fall short to the smallest that is shown to be enough.
    ``curve`` has results by number, over the same initialisations.
    """
    margin = Estimate(float(np.sqrt(np.mean([e.sd**2 for e in curve.values()]))))
    numbers = sorted(curve)

    def short_of(n: int) -> list[Comparison]:
        return [Comparison(margin - (curve[m] - curve[n])) for m in numbers if m > n]

    def first(holds: Sequence[bool]) -> int:
        return numbers[holds.index(True)]

    others = [short_of(n) for n in numbers]
    return Enough(
        first([all(c.difference.mean > 0 for c in larger) for larger in others]),
        first([not any(c.fails(len(larger)) for c in larger) for larger in others]),
        first([all(c.holds() for c in larger) for larger in others]),
    )


def typical(found: Sequence[Enough]) -> Enough:
    """Return the number that is enough on more than half of the data sets."""
    numbers, lows, highs = (sorted(values) for values in zip(*found, strict=True))
    return Enough(float(np.median(numbers)), lows[(len(found) - 1) // 2], highs[len(found) // 2])


def _advised(
    evidence: Evidence, about: str, dataset: str, covariance: str = "diag", column: str = "test"
) -> dict[int, pd.Series]:
    """Return held-out log p per sample, or another column, by run, for each number that the paper advises."""
    rows = evidence.rows("advice", about=about, dataset=dataset, covariance=covariance)
    return {int(n): part.set_index("run")[column] for n, part in rows.groupby("value")}


def _advised_on(evidence: Evidence, about: str) -> list[str]:
    return list(dict.fromkeys(evidence.rows("advice", about=about)["dataset"]))


def advised(evidence: Evidence, claim: Claim, about: str) -> Evaluation:
    """Compare a number that the paper calls typically sufficient with the number that is enough on most data sets; fewer are no contradiction."""
    curves = {name: _advised(evidence, about, name) for name in _advised_on(evidence, about)}
    found = {
        name: enough({n: Estimate.of(runs) for n, runs in curve.items()}) for name, curve in curves.items()
    }
    number, low, high = typical(list(found.values()))
    value = float(claim["value"])
    detail = "reproduced" if high <= value else "higher" if low > value else "undecided"
    each = ", ".join(f"{evidence.paper.name(name)} {one}" for name, one in found.items())
    sufficient = sum(one.high <= value for one in found.values())
    note = f"{value:g} are enough on {sufficient} of {len(found)} data sets; "
    note += f"more iterations gain less than another initialisation from: {each}"
    runs = len(next(iter(next(iter(curves.values())).values())))
    return Evaluation(detail, number, low, high, runs, FINAL, note)


def samples_per_gaussian(evidence: Evidence, claim: Claim) -> Evaluation:
    """The smallest number with which, and with all larger ones, every fit converges.

    Fewer than the paper's are no contradiction. If the fewest tried are enough, nothing shows that more help convergence.
    """
    needed, iterations, few = [], [], min(evidence.paper.advice["rows_per_component"])
    for dataset in _advised_on(evidence, "rows_per_component"):
        converged = _advised(evidence, "rows_per_component", dataset, column="converged")
        failing = max((n for n, runs in converged.items() if not runs.all()), default=0)
        needed.append(min((n for n in converged if n > failing), default=max(converged)))
        n_iter = _advised(evidence, "rows_per_component", dataset, column="n_iter")
        name = evidence.paper.name(dataset)
        iterations.append(f"{name} {n_iter[few].median():.0f} and {n_iter[FEW].median():.0f}")
    number = float(max(needed))
    detail = "higher" if number > float(claim["value"]) else "reproduced" if number > few else "undecided"
    note = f"every fit to {number:g} or more samples per Gaussian converges"
    note += f"; median iterations with {few} and with {FEW}: "
    return Evaluation(
        detail, number, number, number, evidence.paper.advice["runs"], FINAL, note + ", ".join(iterations)
    )


def cost_of_few(evidence: Evidence, dataset: str, covariance: str, log: bool = False) -> Estimate:
    """Estimate the loss by few samples against the most, in nats per held-out sample; its logarithm, since it has long tails."""
    curve = _advised(evidence, "rows_per_component", dataset, covariance)
    cost = curve[max(curve)] - curve[FEW]
    return Estimate.of(np.log(cost.clip(lower=1e-6)) if log else cost)


# Times.


def fit_seconds(
    evidence: Evidence, dataset: str, method: str, of: str = "seconds", n_threads: int | str = 1
) -> Estimate:
    """Estimate "seconds" of a whole fit, "kmeans_seconds" or "seconds_per_iteration" over rounds."""
    rows = _rows(evidence, of, dataset, method, n_threads=n_threads)
    scale, remark = _scaled(evidence, dataset, rows)
    timed, whole = rows["iterations_timed"].iloc[0], evidence.paper.em_iter
    if dataset == SYNTHETIC:
        whole = evidence.paper.figure2["em_iter"]
    extrapolated = f"{timed} iterations timed, for {whole}" if timed != whole else ""
    threads = "one thread" if int(n_threads) == 1 else f"{n_threads} threads"
    runs = scale * rows.set_index("round")[of]
    return Estimate.of(runs, FINAL, joined(remark, extrapolated, threads))


def _ratio(a: Estimate, b: Estimate, log: bool = False, factor: float = 1.0) -> Estimate:
    """Estimate the ratio of two times, round by round; or its logarithm, since times vary by factors."""
    runs = factor * a.runs / b.runs  # type: ignore[operator]
    return Estimate.of(np.log(runs) if log else runs, FINAL, a.note)


def ratio(evidence: Evidence, dataset: str, log: bool = False) -> Estimate:
    """Estimate seconds of mlpack over those of Armadillo."""
    mlpack, armadillo = (fit_seconds(evidence, dataset, m) for m in ("mlpack_full", "armadillo_diag"))
    return _ratio(mlpack, armadillo, log)


def iteration_ratio(evidence: Evidence, dataset: str, log: bool = False) -> Estimate:
    """Estimate seconds of an iteration of EM over those of one of k-means."""
    em, kmeans = (
        fit_seconds(evidence, dataset, "armadillo_diag", metric)
        for metric in ("seconds_per_iteration", "kmeans_seconds")
    )
    return _ratio(em, kmeans, log, evidence.paper.kmeans_iter)


def exp_share(evidence: Evidence, dataset: str) -> Estimate:
    """Estimate the seconds of exp() of as many numbers as an iteration has, in percent of the iteration."""
    rows = evidence.rows("exponentials", about="exp", dataset=dataset)
    spent = fit_seconds(evidence, dataset, "armadillo_diag", "seconds_per_iteration")
    scale, _ = _scaled(evidence, dataset, evidence.rows("seconds", dataset=dataset))
    return Estimate.of(100 * scale * rows.set_index("round")["seconds"] / spent.runs, FINAL)


def speedup(evidence: Evidence) -> Estimate:
    """Estimate seconds of Figure 2 on one thread over those on sixteen."""
    one, sixteen = (fit_seconds(evidence, SYNTHETIC, "armadillo_diag", n_threads=n) for n in (1, 16))
    return _ratio(one, sixteen)


def kmeans_share(evidence: Evidence) -> Estimate:
    """Estimate the share of k-means for every number of threads that was run."""
    rows, kmeans = (
        _rows(evidence, metric, SYNTHETIC, "armadillo_diag") for metric in ("seconds", "kmeans_seconds")
    )
    share = 100 * kmeans["kmeans_seconds"] / rows["seconds"]
    means = share.groupby(rows["n_threads"]).mean()
    listed = ", ".join(f"{n} threads {value:.0f}" for n, value in means.items())
    return Estimate.of(share.reset_index(drop=True), FINAL, f"in %: {listed}")
