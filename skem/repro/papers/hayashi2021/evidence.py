"""What a run of Hayashi and Uchida (2021) left behind."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pandas as pd

from skem import datasets
from skem.repro.ledger.estimates import Estimate, NotRun
from skem.repro.ledger.readings import Reading
from skem.repro.papers.hayashi2021.settings import Settings

AGAIN = "was not part of this run: add the target hayashi"
OWN_SPLITS = "splits of our own"
BENCHMARK = "the benchmark's splits"


@dataclass(frozen=True)
class Evidence:
    """What a run left behind.

    Attributes
    ----------
    errors : DataFrame
        ``results/values/hayashi2021_errors.csv``: a row per data set, split (or start) and method; ``benchmark`` says
        whether the split is one of the paper's.
    components : DataFrame
        ``results/values/hayashi2021_components.csv``: a row per repetition and number of components at first.
    paper : Settings
    stated : DataFrame
        ``config/claims.csv``.
    images : DataFrame
        ``results/values/hayashi2021_images.csv``: a row per column of Table 2, seed and last layer.
    reading : Reading
    """

    errors: pd.DataFrame
    components: pd.DataFrame
    paper: Settings
    stated: pd.DataFrame
    images: pd.DataFrame = field(default_factory=pd.DataFrame)
    reading: Reading = field(default_factory=Reading)

    def under(self, reading: Reading) -> Evidence:
        """The same under a reading of the paper."""
        return replace(self, reading=reading)

    def column(self, dataset: str, method: str, column: str) -> pd.Series:
        """A column of a method, by split."""
        if not len(self.errors):
            raise NotRun(f"{method} on {dataset} {AGAIN}")
        found, trained = self.reading.where(dataset, method)
        rows = self.errors[(self.errors["dataset"] == found) & (self.errors["method"] == trained)]
        if not len(rows):
            raise NotRun(f"{method} on {dataset} {AGAIN}")
        return rows.set_index("run")[column].astype(float)

    def splits(self, *datasets: str) -> str:
        """Whose they are."""
        rows = self.errors[self.errors["dataset"].isin(datasets)]
        return BENCHMARK if rows["benchmark"].all() else OWN_SPLITS

    def of(self, dataset: str, method: str, column: str) -> Estimate:
        """The mean over splits."""
        entry, runs = self.paper.data_sets[dataset], self.column(dataset, method, column)
        if "n_train" in entry:
            return Estimate.of(runs, "last-pass", self.splits(dataset))
        if column == "error" and len(runs) > 1 and runs.min() == runs.max():  # no start has a part in it
            known = datasets.describe(entry["source"])
            return Estimate.fixed(float(runs.iloc[0]), known["shape"][0] - known["n_train"], "last-pass")
        return Estimate.of(runs, "last-pass", "the published split, over starts")

    def relative(self, method: str) -> Estimate:
        """The mean over data sets of the ratio of errors to SDGM's; its spread to first order, from splits."""
        parts = [
            ratio_by_run(*(self.column(dataset, name, "error") for name in (method, "sdgm")))
            for dataset in self.paper.data_sets
        ]
        drawn = [name for name, entry in self.paper.data_sets.items() if "n_train" in entry]
        return Estimate.of(pd.concat(parts, axis=1).mean(axis=1), "last-pass", self.splits(*drawn))

    def by_components(self, n: int, column: str) -> Estimate:
        """Of appendix B, for so many components per class at first; "reduction" is the share of weights removed in %."""
        if not len(self.components):
            raise NotRun(f"appendix B {AGAIN}")
        rows = self.components[self.components["n_components_init"] == n].set_index("run")
        if not len(rows):
            raise NotRun(f"{n} components per class {AGAIN}")
        if column == "reduction":
            values = 100 * (1 - rows["weights"] / rows["initial_weights"])
        else:
            values = rows[column].astype(float)
        return Estimate.of(values, "last-pass", "data of our own")

    def network(self, column: str, method: str, measure: str) -> Estimate:
        """Of a column of Table 2 and a last layer, the mean over seeds."""
        if column in self.paper.images["left_out"]:
            raise NotRun(self.paper.images["left_out"][column])
        rows = self.images
        if len(rows):
            rows = rows[(rows["dataset"] == column) & (rows["method"] == method)]
        if not len(rows) or measure not in rows:
            raise NotRun(f"{method} on {column} was not part of this run: add the target hayashi_images")
        return Estimate.of(rows.set_index("run")[measure].astype(float), "last-pass", self.own_network)

    @property
    def own_network(self) -> str:
        """What is said of a number that the network of Table 2 has a part in."""
        widths, epochs = self.paper.images["network"]["widths"], self.paper.images["network"]["epochs"]
        return (
            "the paper does not state the network's size and training; "
            f"ours has {widths[0]} to {widths[-1]} channels and {epochs} epochs"
        )

    def network_ratio(self, method: str) -> Estimate:
        """The mean over columns of the ratio of errors to SDGM's; its spread to first order, from seeds."""
        parts = []
        for column in self.paper.images["data_sets"]:
            a, b = (self.network(column, name, "error").runs for name in (method, "sdgm"))
            parts.append(ratio_by_run(a, b))
        return Estimate.of(pd.concat(parts, axis=1).mean(axis=1), "last-pass", "over seeds")


def ratio_by_run(a: pd.Series, b: pd.Series) -> pd.Series:
    """Values whose mean is the ratio of means, and whose spread is that of the ratio to first order."""
    ratio = a.mean() / b.mean()
    return ratio + (a - ratio * b) / b.mean()
