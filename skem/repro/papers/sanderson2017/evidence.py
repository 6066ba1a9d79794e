"""Results that the claims of Sanderson and Curtin (2017) are compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import scipy

from skem import datasets
from skem.repro.ledger.estimates import Estimate, NotRun
from skem.repro.ledger.verdicts import joined
from skem.repro.papers import measured
from skem.repro.papers.measured import FINAL, final
from skem.repro.papers.sanderson2017.settings import METHODS

VALUES = ("fits", "heldout", "regularisation", "advice", "floors", "starts", "timing", "timing_others")
SYNTHETIC = "synthetic-1m"
T = TypeVar("T")


@cache
def spread_of_the_best(n: int) -> float:
    """Compute the standard deviation of the largest of n draws from a standard normal distribution."""

    def moment(k: int) -> float:
        def density(x: float) -> float:
            return x**k * n * scipy.stats.norm.pdf(x) * scipy.stats.norm.cdf(x) ** (n - 1)

        return float(scipy.integrate.quad(density, -10, 10)[0])

    return float(np.sqrt(moment(2) - moment(1) ** 2))


class Evidence(measured.Evidence):
    """Values by the names of `VALUES`."""

    target = "sanderson"

    def entry(self, dataset: str) -> Mapping[str, Any]:
        """Return the entry of an available data set."""
        entry = self.paper.data_sets[dataset]
        if "not_available" in entry:
            raise NotRun(f"{dataset} is not available: {entry['not_available']}")
        return entry

    def scale(self, dataset: str, n_rows: int) -> float:
        """Return the number of samples in the paper per sample of ours; 1 unless they are drawn."""
        if dataset == SYNTHETIC:
            return self.paper.figure2["n_rows"] / n_rows
        return self.paper.data_sets.get(dataset, {}).get("drawn", n_rows) / n_rows

    def _scaled(self, dataset: str, rows: pd.DataFrame) -> tuple[float, str]:
        """The scale of some results, and a remark on it."""
        n, entry = int(rows["n_rows"].iloc[0]), self.paper.data_sets.get(dataset, {})
        if dataset != SYNTHETIC and "drawn" not in entry:
            return 1.0, ""
        scale = self.scale(dataset, n)
        extrapolated = f"{n} of {scale * n:.0f} samples, times {scale:g}" if scale != 1 else ""
        return scale, joined("samples drawn by us", extrapolated)

    def of(self, name: str, dataset: str, method: str, column: str, **where: Any) -> pd.DataFrame:
        """Select the rows of a method that have a number; otherwise the reason is raised as `NotRun`."""
        if dataset in self.paper.data_sets:
            self.entry(dataset)
        dataset, method = self.interpretation.where(dataset, method)
        content = f"{METHODS[method].title} on {dataset}"
        try:
            rows = self.rows(name, content, dataset=dataset, method=method, **where)
        except NotRun:
            known: Any = self.paper.data_sets.get(dataset, {})
            if name == "fits" and "only_timed" in known:
                raise NotRun(f"{dataset} is only timed: {known['only_timed']}") from None
            raise
        with_number = rows[rows[column].notna()] if column in rows else rows.iloc[:0]
        if not len(with_number):
            raise NotRun(f"{content}: {rows['note'].iloc[0]}")
        return with_number

    def best(self, dataset: str, method: str) -> Estimate:
        """Estimate the best total log-likelihood of several runs; its spread is that of the best of normal draws."""
        rows = self.of("fits", dataset, method, "log_likelihood")
        scale, remark = self._scaled(self.interpretation.where(dataset, method)[0], rows)
        values, n = scale * rows["log_likelihood"], len(rows)
        sd = float(values.std(ddof=1)) * spread_of_the_best(n) if n > 1 else float("nan")
        note = ", ".join(filter(None, [f"best of {n}", rows["guard"].iloc[0], remark]))
        return Estimate(float(values.max()), sd, 1, None, FINAL, note, dof=n - 1)

    def seconds(self, dataset: str, method: str, column: str = "seconds", n_threads: int = 1) -> Estimate:
        """Estimate "seconds" of a whole fit, "kmeans_seconds" or "seconds_per_iteration" over rounds."""
        rows = self.of("timing", dataset, method, column, n_threads=n_threads)
        scale, remark = self._scaled(dataset, rows)
        timed, whole = rows["iterations_timed"].iloc[0], self.paper.em_iter
        if dataset == SYNTHETIC:
            whole = self.paper.figure2["em_iter"]
        extrapolated = f"{timed} iterations timed, for {whole}" if timed != whole else ""
        threads = "one thread" if n_threads == 1 else f"{n_threads} threads"
        return final(scale * rows.set_index("round")[column], joined(remark, extrapolated, threads))

    def ratio(self, a: Estimate, b: Estimate) -> Estimate:
        """Estimate the ratio of two times, round by round."""
        return final(a.runs / b.runs, a.note)  # type: ignore[operator]

    def on_data_sets(self, measure: Callable[[str], T], names: Iterable[str] = ()) -> dict[str, T]:
        """Measure on each data set of the paper with results, stand-ins excluded; without any, raise the reason of winequality.

        ``names`` are the data sets to choose from, by default all. Results are by the name of `Settings.name`.
        """
        found, reasons = {}, {}
        for dataset in names or self.paper.of_table1:
            if "drawn" in self.paper.data_sets[dataset]:
                continue
            try:
                found[self.paper.name(dataset)] = measure(dataset)
            except NotRun as error:
                reasons[dataset] = error
        if not found:
            raise reasons["winequality"]
        return found

    def of_folds(self, dataset: str, method: str, samples: str) -> Estimate:
        """Estimate mean log p per sample over folds, of "train" or "test" samples."""
        rows = self.of("heldout", dataset, method, samples)
        return Estimate.of_folds(rows.set_index("fold")[samples], FINAL)

    def advised(
        self, about: str, dataset: str, covariance: str = "diag", column: str = "test"
    ) -> dict[int, pd.Series]:
        """Return held-out log p per sample, or another column, by run, for each number that the paper advises."""
        where = {"dataset": dataset, "about": about, "covariance": covariance}
        rows = self.rows("advice", f"{about} on {dataset}", **where)
        return {int(n): part.set_index("run")[column] for n, part in rows.groupby("value")}

    def saved_by_floor(self, dataset: str) -> Estimate:
        """Estimate the percentage of fits of which a variance collapses without a floor and not with it.

        No density of m features whose variances reach the floor exceeds -m/2 log(2 pi floor), so a larger mean log p of the training
        samples, or none, is of a fit that collapsed.
        """
        rows = self.rows("floors", f"variance floors on {dataset}", dataset=dataset)
        if rows["train"].isna().all():
            raise NotRun(f"variance floors on {dataset}: {rows['note'].iloc[0]}")
        table = rows.pivot_table(index="run", columns="floor", values="train", dropna=False)
        none, floor, *_ = sorted(table)
        most = -self.n_features(dataset) / 2 * np.log(2 * np.pi * floor)
        collapsed = 100.0 * ((table > most) | table.isna())
        return final(collapsed[none] - collapsed[floor])

    def n_features(self, dataset: str) -> int:
        """Count the features of a data set that is loaded, the class among them if the paper has it so."""
        entry = self.entry(dataset)
        return int(datasets.describe(entry["source"])["shape"][1]) + entry.get("with_class", False)

    def advised_on(self, about: str) -> list[str]:
        """List the data sets of a number."""
        return list(dict.fromkeys(self.rows("advice", about, about=about)["dataset"]))
