"""Measures of Hayashi and Uchida (2021) that no row of ``config/claims/hayashi2021.yaml`` can say.

Numbers of components are per class, but for those of claims under the interpretation that counts them in all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy

from skem import datasets
from skem.repro.ledger.cells import FINAL, Evidence, exactly
from skem.repro.ledger.decisions import Comparison, Evaluation, decide
from skem.repro.ledger.estimates import LEVEL, Claim, Estimate, ratio
from skem.repro.papers.hayashi2021.settings import METHODS, NETWORKS, Settings

OWN_SPLITS = "splits of our own"
PUBLISHED = "the published split, over initialisations"
OWN_DATA = "data of our own"
N_SPLITS = 100
"""Splits of the paper, of each data set but Ripley's."""

DRAWS = float(scipy.special.ndtri((1 + LEVEL) / 2))
"""Standard deviations in the half-width of an interval at 95%."""

DUPLICATES = "titanic"


def names(paper: Settings) -> dict[str, Any]:
    """Return the names that rows use."""
    images, sizes = paper.images, paper.synthetic["n_components"]
    titles = {name: title.replace(", ", " with ") for name, title in NETWORKS.items()}
    network = images["network"]
    data_sets = list(paper.data_sets)
    return {
        "data_sets": data_sets,
        "titles": {name: entry["title"] for name, entry in paper.data_sets.items()},
        "without_duplicates": [name for name in data_sets if name != DUPLICATES],
        "source": {name: entry["source"] for name, entry in paper.data_sets.items()},
        "baselines": {name: METHODS[name] for name in ("gp", "rvm")},
        "dense": {name: METHODS[name] for name in ("gp", "mgp")},
        "of_three": {name: titles[name] for name in ("softmax", "softmax_l1", "large_margin_softmax")},
        "of_four": {name: titles[name] for name in ("softmax", "softmax_l1", "large_margin_softmax", "dgmm")},
        "same_level": {name: NETWORKS[name] for name in ("large_margin_softmax", "dgmm")},
        "columns": {name: entry["title"] for name, entry in images["data_sets"].items()},
        "left_out": images["left_out"],
        "network": f"our network has {network['widths'][0]} to {network['widths'][-1]} channels and {network['epochs']} epochs",
        "n_columns": str(len(images["data_sets"])),
        "n_components": paper.model["n_components"],
        "initial": 2 * paper.model["n_components"],
        "synthetic": {"n_classes": 2, "n_components_per_class": 8, **paper.synthetic},
        "sizes": sizes,
        "fewest": min(sizes),
        "most": max(sizes),
        "not_most": sizes[:-1],
        "to_6": [m for m in sizes if m <= 6],
        "to_8": [m for m in sizes if m <= 8],
        "from_8": [m for m in sizes if m >= 8],
        "above_8": {m: f"{m} components" for m in sizes if m > 8},
        "above_10": [m for m in sizes if m > 10],
    }


# Table 1.


def of_splits(evidence: Evidence, column: str, dataset: str, method: str) -> Estimate:
    """Estimate a column of Table 1's results over splits, or initialisations."""
    entry = evidence.paper.data_sets[dataset]
    found = evidence.estimate(column, dataset=dataset, method=method)
    if "n_train" in entry:
        return replace(found, note=OWN_SPLITS)
    runs = found.runs
    assert runs is not None
    if column == "error" and found.n > 1 and runs.min() == runs.max():  # no random initialisation
        known = datasets.describe(entry["source"])
        return Estimate.fixed(float(runs.iloc[0]), known["shape"][0] - known["n_train"], FINAL)
    return replace(found, note=PUBLISHED)


def cell(evidence: Evidence, column: str, dataset: str, method: str) -> Estimate:
    """Estimate a cell of Table 1: `of_splits`, with a wider interval on samples that we generated ourselves.

    The paper has another draw of N samples. Means over splits with n training samples of two draws differ by at most sqrt(2 n / N)
    standard deviations over splits, and errors p by sqrt(2 p (1 - p) / N) as well, since the test samples are others.
    """
    estimate, entry = of_splits(evidence, column, dataset, method), evidence.paper.data_sets[dataset]
    if not entry.get("generated"):
        return estimate
    n_samples, p = datasets.describe(entry["source"])["shape"][0], estimate.mean / 100
    sd = estimate.sd * np.sqrt(2 * entry["n_train"] / n_samples)
    if column == "error":
        sd = np.hypot(sd, 100 * np.sqrt(2 * p * (1 - p) / n_samples))
    note = f"the paper's {n_samples:,} samples are another draw of the generator"
    return replace(estimate, grain=DRAWS * float(sd), note=f"{note}; {estimate.note}")


def kept_weights(evidence: Evidence, dataset: str, method: str) -> Estimate:
    """Return the number of weights of a Gaussian process, or a mixture of them, which keep all."""
    entry = evidence.paper.data_sets[dataset]
    n_train = entry.get("n_train") or datasets.describe(entry["source"])["n_train"]
    per_sample = 1 if method == "gp" else 2 * evidence.paper.model["n_components"] - 1
    return exactly(per_sample * n_train)


def initial_weights_of_sdgm(evidence: Evidence, dataset: str) -> Estimate:
    """Return the number of weights that SDGM begins with."""
    return exactly(evidence.estimate("initial_weights", dataset=dataset, method="sdgm").mean)


def relative(evidence: Evidence, method: str) -> Estimate:
    """Estimate the mean over data sets of the ratio of errors to SDGM's, by split."""
    runs = pd.concat(_ratios(evidence, method), axis=1, join="inner").mean(axis=1)
    return Estimate.of(runs, FINAL, OWN_SPLITS)


def mean_of_ratios(evidence: Evidence, method: str) -> Estimate:
    """Estimate the same, with the standard deviation of one result of the paper's.

    The paper has `N_SPLITS` splits of the drawn data sets, and one fit on Ripley's data.
    """
    estimate, ratios = relative(evidence, method), _ratios(evidence, method)
    trials = [N_SPLITS if "n_train" in entry else 1 for entry in evidence.paper.data_sets.values()]
    variance = sum(r.var(ddof=1) * (1 / len(r) + 1 / n) for r, n in zip(ratios, trials, strict=True))
    sd = float(np.sqrt(variance / (1 + 1 / estimate.n))) / len(ratios)
    return replace(estimate, sd=sd, runs=None)


def _ratios(evidence: Evidence, method: str) -> list[pd.Series]:
    return [_ratio(evidence, "error", name, method) for name in evidence.paper.data_sets]


def _ratio(evidence: Evidence, metric: str, dataset: str, method: str) -> pd.Series:
    """Return the ratio to SDGM's mean by run."""
    a, b = (evidence.estimate(metric, dataset=dataset, method=m).runs for m in (method, "sdgm"))
    return ratio(a, b)  # type: ignore[arg-type]


def reduction(evidence: Evidence, kept: str, initial: str, **cell: Any) -> Estimate:
    """Estimate the share of weights that training removes, in percent, from the metrics of the weights that are left and of the first ones."""
    left, first = (evidence.estimate(metric, **cell).runs for metric in (kept, initial))
    return Estimate.of(100 * (1 - left / first), FINAL)  # type: ignore[operator]


# Table 2.


def network_ratio(evidence: Evidence, method: str) -> Estimate:
    """Estimate the mean over columns of Table 2 of the ratio of errors to SDGM's."""
    columns = [_ratio(evidence, "network_error", name, method) for name in evidence.paper.images["data_sets"]]
    return Estimate.of(pd.concat(columns, axis=1).mean(axis=1), FINAL, "over seeds")


# Appendix B.


def not_minimal(evidence: Evidence, claim: Claim) -> Evaluation:
    """After many initial components more remain than another initialisation needs for the same error."""
    sizes = evidence.paper.synthetic["n_components"]
    error, left = (
        {m: evidence.estimate(metric, n_components_init=m) for m in sizes}
        for metric in ("curve_error", "curve_left")
    )
    best = min((m for m in sizes if m <= 8), key=lambda m: error[m].mean)
    comparisons = [Comparison(left[m] - left[best], what=f"{m} components") for m in sizes if m >= 9]
    return decide(comparisons, "any", f"{best} initial components suffice; {OWN_DATA}")
