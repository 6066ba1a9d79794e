"""What a run of Sanderson and Curtin (2017) left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import scipy

from skem.repro.ledger.estimates import Estimate, NotRun
from skem.repro.ledger.readings import Reading
from skem.repro.papers.sanderson2017.settings import METHODS, Settings

AGAIN = "was not part of this run: add the target sanderson"
VALUES = ("fits", "heldout", "ridges", "advice", "starts", "timing", "timing_others")
"""``results/values/sanderson2017_<name>.csv``."""
SYNTHETIC = "synthetic-1m"


@cache
def spread_of_the_best(n: int) -> float:
    """Standard deviation of the largest of n draws from a normal distribution, in units of that of one."""

    def moment(k: int) -> float:
        def density(x: float) -> float:
            return x**k * n * scipy.stats.norm.pdf(x) * scipy.stats.norm.cdf(x) ** (n - 1)

        return float(scipy.integrate.quad(density, -10, 10)[0])

    return float(np.sqrt(moment(2) - moment(1) ** 2))


@dataclass(frozen=True)
class Evidence:
    """What a run left behind.

    Attributes
    ----------
    values : mapping of str to DataFrame
        By a name of `VALUES`; empty where it was not part of the run.
    paper : Settings
    stated : DataFrame
        ``config/claims.csv``.
    reading : Reading
    """

    values: Mapping[str, pd.DataFrame]
    paper: Settings
    stated: pd.DataFrame
    reading: Reading = field(default_factory=Reading)

    def under(self, reading: Reading) -> Evidence:
        """The same under a reading of the paper."""
        return replace(self, reading=reading)

    def rows(self, name: str, what: str, **where: Any) -> pd.DataFrame:
        """The rows of a table that have these values.

        Raises
        ------
        NotRun
            If there are none; ``what`` says of what.
        """
        table = self.values.get(name, pd.DataFrame())
        if len(table):
            for key, value in where.items():
                table = table[table[key] == value]
        if not len(table):
            raise NotRun(f"{what} {AGAIN}")
        return table

    def entry(self, dataset: str) -> Mapping[str, Any]:
        """A data set that can be had."""
        entry = self.paper.data_sets[dataset]
        if "not_available" in entry:
            raise NotRun(f"{dataset} is not available: {entry['not_available']}")
        return entry

    def _scaled(self, dataset: str, rows: pd.DataFrame) -> tuple[float, str]:
        """From the rows that were fitted to those of the paper, and what to say of it."""
        entry: Any = self.paper.data_sets.get(dataset, {})
        drawn = entry.get("drawn")
        if dataset == SYNTHETIC:
            drawn = self.paper.figure2["n_rows"]
        if not drawn:
            return 1.0, ""
        n, told = int(rows["n_rows"].iloc[0]), "rows drawn by us"
        if n != drawn:
            told += f"; {n} of {drawn} rows, times {drawn / n:g}"
        return drawn / n, told

    def _of(self, name: str, dataset: str, method: str, column: str, **where: Any) -> pd.DataFrame:
        """The rows of a method that have a number; else why they do not."""
        self.entry(dataset) if dataset in self.paper.data_sets else None
        found, used = self.reading.where(dataset, method)
        what = f"{METHODS[used].title} on {found}"
        try:
            rows = self.rows(name, what, dataset=found, method=used, **where)
        except NotRun:
            known: Any = self.paper.data_sets.get(found, {})
            if name == "fits" and "only_timed" in known:
                raise NotRun(f"{found} is only timed: {known['only_timed']}") from None
            raise
        there = rows[rows[column].notna()] if column in rows else rows.iloc[:0]
        if not len(there):
            raise NotRun(f"{what}: {rows['note'].iloc[0]}")
        return there

    def best(self, dataset: str, method: str) -> Estimate:
        """The best total log-likelihood of several starts; its spread is that of the best of as many normal draws."""
        rows = self._of("fits", dataset, method, "log_likelihood")
        scale, told = self._scaled(self.reading.where(dataset, method)[0], rows)
        values, n = scale * rows["log_likelihood"], len(rows)
        sd = float(values.std(ddof=1)) * spread_of_the_best(n) if n > 1 else float("nan")
        note = ", ".join(filter(None, [f"best of {n}", rows["guard"].iloc[0], told]))
        return Estimate(float(values.max()), sd, 1, None, "last-pass", note, dof=n - 1)

    def seconds(self, dataset: str, method: str, column: str = "seconds", n_threads: int = 1) -> Estimate:
        """Of what is timed, by round: "seconds" of a whole fit, "kmeans_seconds" or "seconds_per_pass"."""
        rows = self._of("timing", dataset, method, column, n_threads=n_threads)
        scale, told = self._scaled(dataset, rows)
        whole = self.paper.figure2["em_iter"] if dataset == SYNTHETIC else self.paper.em_iter
        if rows["passes_timed"].iloc[0] != whole:
            told = "; ".join(
                filter(None, [told, f"{rows['passes_timed'].iloc[0]} passes timed, for {whole}"])
            )
        told = "; ".join(filter(None, [told, "one thread" if n_threads == 1 else f"{n_threads} threads"]))
        return Estimate.of(scale * rows.set_index("round")[column], "last-pass", told)

    def held_out(self, dataset: str, method: str, part: str = "test") -> Estimate:
        """Mean log p per row of the folds held out ("test") or fitted ("train")."""
        rows = self._of("heldout", dataset, method, part)
        return Estimate.of(rows.set_index("fold")[part], "last-pass", "log p per row of held-out folds")

    def advised(self, about: str, dataset: str, covariance: str = "diag") -> dict[int, Estimate]:
        """Held-out log p per row by a number that the paper advises."""
        rows = self.rows(
            "advice", f"{about} on {dataset}", dataset=dataset, about=about, covariance=covariance
        )
        return {
            int(value): Estimate.of(part.set_index("run")["test"]) for value, part in rows.groupby("value")
        }

    def advised_on(self, about: str) -> list[str]:
        """The data sets that a number was tried on."""
        return list(dict.fromkeys(self.rows("advice", about, about=about)["dataset"]))

    def enough(self, about: str, dataset: str) -> int:
        """The first number from which no larger one gains as much as is held to be something."""
        curve = {value: e.mean for value, e in self.advised(about, dataset).items()}
        for value, mean in curve.items():
            if max(m for v, m in curve.items() if v >= value) - mean < self.paper.advice["gain"]:
                return value
        raise AssertionError("the last number gains nothing")
