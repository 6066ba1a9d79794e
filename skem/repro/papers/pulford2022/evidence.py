"""What a run left behind, as estimates that a claim can be held against."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.ledger.readings import Reading
from skem.repro.ledger.verdicts import Judgement
from skem.repro.papers.pulford2022.settings import Headline, Settings
from skem.repro.training.settings import COLUMNS, setting_name


class Evidence:
    """Accuracies and times of a run.

    Parameters
    ----------
    values, seconds : DataFrame
        What the functions of these names in `skem.repro.papers.pulford2022.values` return.
    records : mapping of str to dict
        From source to its record in ``results/data``.
    printed : mapping of str to float
        From the id of a claim about a number to the value that its paper prints.
    paper : Settings
        The settings of the paper.
    """

    def __init__(
        self,
        values: pd.DataFrame,
        seconds: pd.DataFrame,
        records: Mapping[str, dict[str, Any]],
        printed: Mapping[str, float],
        paper: Settings,
    ) -> None:
        self.records, self.printed, self.paper = records, printed, paper
        self.reading = Reading()
        self._values = self._by_method(values)
        self._seconds = self._by_method(seconds)

    @staticmethod
    def _by_method(table: pd.DataFrame) -> dict[tuple[str, str], dict[str, pd.DataFrame]]:
        found: dict[tuple[str, str], dict[str, pd.DataFrame]] = {}
        if len(table):
            for (dataset, method, setting), rows in table.groupby(
                ["dataset", "method", "setting"], sort=False
            ):
                by_run = rows.set_index("run", drop=False) if "run" in rows else rows
                found.setdefault((str(dataset), str(method)), {})[str(setting)] = by_run
        return found

    def under(self, reading: Reading) -> Evidence:
        """The same under a reading of the paper."""
        evidence = copy.copy(self)
        evidence.reading = reading
        return evidence

    def settings(self, dataset: str, method: str) -> pd.DataFrame:
        """The settings that were run, in order: by name, what `COLUMNS` says of each."""
        found = self._values.get(self.reading.where(dataset, method), {})
        first = {name: rows.head(1) for name, rows in found.items() if name != "nested"}
        if not first:
            raise NotRun(f"{method} on {dataset} was not part of this run")
        return pd.concat(first.values()).reindex(columns=list(COLUMNS)).set_axis(list(first))

    def named(self, dataset: str, method: str, **columns: Any) -> str:
        """The name of the setting with these columns."""
        found = self.settings(dataset, method)
        for column, value in columns.items():
            found = found[found[column] == value]
        if len(found) != 1:
            asked = ", ".join(f"{column} {value}" for column, value in columns.items())
            raise NotRun(f"{method} with {asked} on {dataset} was not part of this run")
        return str(found.index[0])

    def column(self, dataset: str, method: str, setting: str, column: str) -> pd.Series:
        """A column of the values, by run."""
        try:
            rows = self._values[self.reading.where(dataset, method)][setting]
        except KeyError:
            raise NotRun(f"{method} {setting} on {dataset} was not part of this run") from None
        if column not in rows or rows[column].isna().all():
            raise NotRun(f"{method} {setting} on {dataset} has no {column} in this run")
        return rows[column]

    def runs(self, dataset: str, method: str, setting: str, protocol: str = "best-pass") -> pd.Series:
        """Test accuracy in percent of each run under a protocol, folds averaged."""
        return 100 * self.column(dataset, method, setting, protocol).dropna()

    def accuracy(self, dataset: str, method: str, setting: str, protocol: str = "best-pass") -> Estimate:
        """Accuracy in percent under a protocol."""
        return Estimate.of(self.runs(dataset, method, setting, protocol), protocol)

    def fixed(self, dataset: str, method: str, setting: str) -> Estimate:
        """Accuracy in percent of a method without chance, as it is preset."""
        runs = self.runs(dataset, method, setting, "last-pass")
        n_test = self.column(dataset, method, setting, "n_test")
        return Estimate.fixed(float(runs.iloc[0]), int(n_test.iloc[0]), "preset")

    def model(self, dataset: str) -> Headline:
        """The setting that the paper reports of a data set."""
        if dataset not in self.paper.headlines:
            raise NotRun(f"the paper's setting for {dataset} is in no experiment")
        return self.paper.headlines[dataset]

    def headline(self, dataset: str, method: str = "", protocol: str = "best-pass") -> Estimate:
        """Accuracy in percent at the setting of the paper, of its method or of another one that has it too."""
        model = self.model(dataset)
        return self.accuracy(dataset, method or model.method, model.setting, protocol)

    def half(self, method: str, partition: str, k: int, protocol: str = "best-pass") -> Estimate:
        """Accuracy in percent on half-size MNIST; one block has no arrangement."""
        if partition == self.paper.whole and method in self.paper.arrangements:
            method = self.paper.arrangements[0]
        name = setting_name(partition=partition, n_components=k)
        return self.accuracy(self.paper.data_set, method, name, protocol)

    def nested(self, dataset: str, method: str, folds: str) -> Estimate:
        """Accuracy in percent with setting and pass chosen on training rows, among the settings with such folds."""
        rows = self._values.get(self.reading.where(dataset, method), {}).get("nested", pd.DataFrame())
        rows = rows[rows["folds"] == folds] if len(rows) else rows
        if not len(rows):
            raise NotRun(f"{method} on {dataset} has no nested in this run")
        return Estimate.of(100 * rows["nested"], "nested")

    def peak(self, dataset: str, method: str, setting: str) -> pd.Series:
        """The pass with the best test accuracy, by run."""
        return self.column(dataset, method, setting, "peak")

    def seconds_per_pass(self, dataset: str, method: str, setting: str) -> Estimate:
        """Of passes that ran alone on the machine."""
        return self._timed(dataset, method, setting, "pass", "passes that ran alone")

    def fit_seconds(self, dataset: str, method: str, setting: str) -> Estimate:
        """Wall seconds of whole fits on all training rows, as they ran beside other jobs, by run."""
        return self._timed(dataset, method, setting, "run", "fits beside other jobs")

    def _timed(self, dataset: str, method: str, setting: str, by: str, how: str) -> Estimate:
        rows = self._seconds.get((dataset, method), {}).get(setting, pd.DataFrame())
        rows = rows[rows[by].notna()] if by in rows else rows.head(0)
        if not len(rows):
            raise NotRun(f"{method} {setting} on {dataset} was not timed in this run")
        return Estimate.of(rows.set_index(by)["seconds"], how)


Judge = Callable[[Evidence, Claim], Judgement]
"""Says whether a claim holds."""
