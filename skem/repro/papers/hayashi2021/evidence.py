"""Results that the claims of Hayashi and Uchida (2021) are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import scipy

from skem import datasets
from skem.repro.ledger.estimates import LEVEL, Estimate, NotRun
from skem.repro.papers import measured
from skem.repro.papers.measured import FINAL, final

OWN_SPLITS = "splits of our own"
BENCHMARK = "the benchmark's splits"
PUBLISHED = "the published split, over initialisations"
OWN_DATA = "data of our own"
N_SPLITS = 100
"""Splits of the paper, of each data set but Ripley's."""

DRAWS = float(scipy.special.ndtri((1 + LEVEL) / 2))
"""Standard deviations in the half-width of an interval at 95%."""


class Evidence(measured.Evidence):
    """Values "errors" (by split or initialisation), "components" (appendix B) and "images" (Table 2, by seed)."""

    target = "hayashi"

    def column(self, dataset: str, method: str, column: str) -> pd.Series:
        """Return a column of a method by split."""
        rows = self.model_rows("errors", f"{method} on {dataset}", dataset, method)
        return rows.set_index("run")[column].astype(float)

    def splits(self, *datasets: str) -> str:
        """Name the origin of the splits."""
        rows = self.values["errors"]
        return BENCHMARK if rows.loc[rows["dataset"].isin(datasets), "benchmark"].all() else OWN_SPLITS

    def of(self, dataset: str, method: str, column: str) -> Estimate:
        """Estimate the mean over splits."""
        entry, runs = self.paper.data_sets[dataset], self.column(dataset, method, column)
        if "n_train" in entry:
            return final(runs, self.splits(dataset))
        if column == "error" and len(runs) > 1 and runs.min() == runs.max():  # no random initialisation
            known = datasets.describe(entry["source"])
            return Estimate.fixed(float(runs.iloc[0]), known["shape"][0] - known["n_train"], FINAL)
        return final(runs, PUBLISHED)

    def cell(self, dataset: str, method: str, column: str) -> Estimate:
        """Estimate a cell of Table 1: `of`, with a wider interval on samples that we generated ourselves.

        The paper has another draw of N samples. Means over splits with n training samples of two draws differ by at most sqrt(2 n / N)
        standard deviations over splits, and errors p by sqrt(2 p (1 - p) / N) as well, since the test samples are others.
        """
        estimate, entry = self.of(dataset, method, column), self.paper.data_sets[dataset]
        if not entry.get("generated") or self.splits(dataset) == BENCHMARK:
            return estimate
        n_samples, p = datasets.describe(entry["source"])["shape"][0], estimate.mean / 100
        sd = estimate.sd * np.sqrt(2 * entry["n_train"] / n_samples)
        if column == "error":
            sd = np.hypot(sd, 100 * np.sqrt(2 * p * (1 - p) / n_samples))
        note = f"the paper's {n_samples:,} samples are another draw of the generator"
        return replace(estimate, grain=DRAWS * float(sd), note=f"{note}; {estimate.note}")

    def initial_weights(self, dataset: str, method: str) -> Estimate:
        """Return the number of weights of a Gaussian process, or a mixture of them, which keep all."""
        entry = self.paper.data_sets[dataset]
        n_train = entry.get("n_train") or datasets.describe(entry["source"])["n_train"]
        per_sample = 1 if method == "gp" else 2 * self.paper.model["n_components"] - 1
        return measured.exactly(per_sample * n_train)

    def relative(self, method: str) -> Estimate:
        """Estimate the mean over data sets of the ratio of errors to SDGM's, by split."""
        ratios = self._ratios(method)
        drawn = [name for name, entry in self.paper.data_sets.items() if "n_train" in entry]
        return final(pd.concat(ratios, axis=1, join="inner").mean(axis=1), self.splits(*drawn))

    def mean_of_ratios(self, method: str) -> Estimate:
        """Estimate the same, with the standard deviation of one result of the paper's.

        The paper has `N_SPLITS` splits of the drawn data sets, and one fit on Ripley's data.
        """
        estimate, entries, ratios = self.relative(method), self.paper.data_sets.values(), self._ratios(method)
        trials = [N_SPLITS if "n_train" in entry else 1 for entry in entries]
        variance = sum(r.var(ddof=1) * (1 / len(r) + 1 / n) for r, n in zip(ratios, trials, strict=True))
        sd = float(np.sqrt(variance / (1 + 1 / estimate.n))) / len(ratios)
        return replace(estimate, sd=sd, runs=None)

    def _ratios(self, method: str) -> list[pd.Series]:
        """Return the ratio of errors to SDGM's by data set."""
        return [ratio(*(self.column(n, m, "error") for m in (method, "sdgm"))) for n in self.paper.data_sets]

    @property
    def sizes(self) -> list[int]:
        """Initial numbers of components per class in appendix B."""
        return self.paper.synthetic["n_components"]

    def curve(self, column: str, sizes: Sequence[int] | None = None) -> dict[int, Estimate]:
        """Estimate a column of appendix B, or the "reduction" of weights in %, by initial number of components."""
        table = "components_raw" if self.interpretation.choice("scale") == "files" else "components"
        curve = {}
        for n in sizes or self.sizes:
            content = f"{n} components per class" if len(self.values.get(table, ())) else "appendix B"
            rows = self.rows(table, content, n_components_init=n).set_index("run")
            reduction = 100 * (1 - rows["weights"] / rows["initial_weights"])
            curve[n] = final(reduction if column == "reduction" else rows[column].astype(float), OWN_DATA)
        return curve

    def network(self, column: str, method: str, measure: str) -> Estimate:
        """Estimate the mean over seeds of a last layer in a column of Table 2."""
        if column in self.paper.images["left_out"]:
            raise NotRun(self.paper.images["left_out"][column])
        content = f"{method} on {column}"
        rows = self.rows("images", content, target="hayashi_images", dataset=column, method=method)
        if measure not in rows:
            self.rows("images", content, target="hayashi_images", dataset="none")
        return final(rows.set_index("run")[measure].astype(float), self.own_network)

    @property
    def own_network(self) -> str:
        """Remark on results that depend on the network of Table 2."""
        network = self.paper.images["network"]
        widths = network["widths"]
        return f"our network has {widths[0]} to {widths[-1]} channels and {network['epochs']} epochs"

    def network_ratio(self, method: str) -> Estimate:
        """Estimate the mean over columns of Table 2 of the ratio of errors to SDGM's."""
        columns = self.paper.images["data_sets"]
        pairs = ([self.network(name, m, "error").runs for m in (method, "sdgm")] for name in columns)
        return final(pd.concat([ratio(*pair) for pair in pairs], axis=1).mean(axis=1), "over seeds")


def ratio(a: pd.Series, b: pd.Series) -> pd.Series:
    """Return the ratio of means by run, to first order: its mean is the ratio, its spread that of the ratio."""
    a, b = a.align(b, join="inner")
    of_means = a.mean() / b.mean()
    return of_means + (a - of_means * b) / b.mean()
