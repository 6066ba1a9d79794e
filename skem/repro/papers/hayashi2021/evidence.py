"""Results that the claims of Hayashi and Uchida (2021) are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from skem import datasets
from skem.repro.ledger.estimates import Estimate, NotRun
from skem.repro.papers import measured
from skem.repro.papers.measured import FINAL, final

OWN_SPLITS = "splits of our own"
BENCHMARK = "the benchmark's splits"


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
        return final(runs, "the published split, over initialisations")

    def initial_weights(self, dataset: str, method: str) -> Estimate:
        """Return the number of weights of a Gaussian process, or a mixture of them, which keep all."""
        entry = self.paper.data_sets[dataset]
        n_train = entry.get("n_train") or datasets.describe(entry["source"])["n_train"]
        per_sample = 1 if method == "gp" else 2 * self.paper.model["n_components"] - 1
        return measured.exactly(per_sample * n_train)

    def relative(self, method: str) -> Estimate:
        """Estimate the mean over data sets of the ratio of errors to SDGM's."""
        pairs = [[self.column(name, m, "error") for m in (method, "sdgm")] for name in self.paper.data_sets]
        drawn = [name for name, entry in self.paper.data_sets.items() if "n_train" in entry]
        return mean_ratio(pairs, self.splits(*drawn))

    @property
    def sizes(self) -> list[int]:
        """Initial numbers of components per class in appendix B."""
        return self.paper.synthetic["n_components"]

    def curve(self, column: str, sizes: Sequence[int] | None = None) -> dict[int, Estimate]:
        """Estimate a column of appendix B, or the "reduction" of weights in %, by initial number of components."""
        curve = {}
        for n in sizes or self.sizes:
            content = f"{n} components per class" if len(self.values.get("components", ())) else "appendix B"
            rows = self.rows("components", content, n_components_init=n).set_index("run")
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
        """Remark on numbers that depend on the network of Table 2."""
        network = self.paper.images["network"]
        return (
            "the paper does not state the network's size and training; "
            f"ours has {network['widths'][0]} to {network['widths'][-1]} channels and {network['epochs']} epochs"
        )

    def network_ratio(self, method: str) -> Estimate:
        """Estimate the mean over columns of Table 2 of the ratio of errors to SDGM's."""
        columns = self.paper.images["data_sets"]
        pairs = ((self.network(name, m, "error").runs for m in (method, "sdgm")) for name in columns)
        return mean_ratio(pairs, "over seeds")


OWN_DATA = "data of our own"


def mean_ratio(pairs: Iterable[Iterable[pd.Series]], note: str) -> Estimate:
    """Estimate the mean of ratios of means; its spread is to first order, from runs."""
    parts = []
    for a, b in pairs:
        ratio = a.mean() / b.mean()
        parts.append(ratio + (a - ratio * b) / b.mean())
    return final(pd.concat(parts, axis=1).mean(axis=1), note)
