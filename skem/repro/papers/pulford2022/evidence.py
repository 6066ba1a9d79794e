"""What a run left behind, as estimates that a claim can be held against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.ledger.verdicts import Judgement
from skem.repro.papers.pulford2022.settings import Headline, Settings
from skem.repro.protocols import per_run, select
from skem.repro.training.settings import COLUMNS, setting_name


class Evidence:
    """Histories and times of a run.

    Parameters
    ----------
    history, seconds : mapping of str to DataFrame
        From data set to what ``results/history`` and ``results/timings`` hold; empty where a data set could
        not be had.
    timed : DataFrame
        Seconds of passes that ran alone: dataset, method, setting, pass, seconds.
    records : mapping of str to dict
        From source to its record in ``results/data``.
    printed : mapping of str to float
        From the id of a claim about a number to the value that its paper prints.
    paper : Settings
        The settings of the paper.
    """

    def __init__(
        self,
        history: Mapping[str, pd.DataFrame],
        seconds: Mapping[str, pd.DataFrame],
        timed: pd.DataFrame,
        records: Mapping[str, dict[str, Any]],
        printed: Mapping[str, float],
        paper: Settings,
    ) -> None:
        self.records, self.printed, self.paper, self._timed = records, printed, paper, timed
        self._history = self._by_key(history)
        self._seconds = self._by_key(seconds)
        self._settings: dict[tuple[str, str], pd.DataFrame] = {}
        self._selected: dict[tuple[str, ...], pd.Series] = {}

    @staticmethod
    def _by_key(tables: Mapping[str, pd.DataFrame]) -> dict[tuple[str, str, str], pd.DataFrame]:
        return {
            (dataset, str(method), str(setting)): part
            for dataset, table in tables.items()
            if len(table)
            for (method, setting), part in table.groupby(["method", "setting"], sort=False)
        }

    def settings(self, dataset: str, method: str) -> pd.DataFrame:
        """The settings that were run, in order: by name, what `COLUMNS` says of each."""
        if (dataset, method) not in self._settings:
            first = {
                name: rows.head(1) for (*of, name), rows in self._history.items() if of == [dataset, method]
            }
            if not first:
                raise NotRun(f"{method} on {dataset} was not part of this run")
            table = pd.concat(first.values()).reindex(columns=list(COLUMNS))
            self._settings[dataset, method] = table.set_axis(list(first))
        return self._settings[dataset, method]

    def named(self, dataset: str, method: str, **columns: Any) -> str:
        """The name of the setting with these columns."""
        found = self.settings(dataset, method)
        for column, value in columns.items():
            found = found[found[column] == value]
        if len(found) != 1:
            asked = ", ".join(f"{column} {value}" for column, value in columns.items())
            raise NotRun(f"{method} with {asked} on {dataset} was not part of this run")
        return str(found.index[0])

    def history(self, dataset: str, method: str, setting: str) -> pd.DataFrame:
        """All passes of a setting."""
        try:
            return self._history[dataset, method, setting]
        except KeyError:
            raise NotRun(f"{method} {setting} on {dataset} was not part of this run") from None

    def runs(
        self,
        dataset: str,
        method: str,
        setting: str,
        protocol: str = "best-pass",
        column: str = "test_accuracy",
    ) -> pd.Series:
        """Accuracy in percent (or another metric, as it is) of each run under a protocol, folds averaged."""
        key = (dataset, method, setting, protocol, column)
        if key not in self._selected:
            chosen = select(self.history(dataset, method, setting), protocol)
            if not len(chosen):
                raise NotRun(f"{method} {setting} on {dataset} has no {protocol} in this run")
            values = per_run(chosen).set_index("run")[column]
            self._selected[key] = 100 * values if column == "test_accuracy" else values
        return self._selected[key]

    def accuracy(self, dataset: str, method: str, setting: str, protocol: str = "best-pass") -> Estimate:
        """Accuracy in percent under a protocol."""
        runs = self.runs(dataset, method, setting, protocol)
        return Estimate.of(runs, protocol)

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
        settings = self.settings(dataset, method)
        tried = [self.history(dataset, method, name) for name in settings.index[settings["folds"] == folds]]
        if not tried or not (chosen := select(pd.concat(tried), "nested")).size:
            raise NotRun(f"{method} on {dataset} has no nested in this run")
        return Estimate.of(100 * per_run(chosen).set_index("run")["test_accuracy"], "nested")

    def last(self, dataset: str, method: str, setting: str, column: str) -> pd.Series:
        """A column of the history after the last pass, by run (mean over folds)."""
        history = self.history(dataset, method, setting)
        history = history[history["rows"] == "all"]
        if column not in history:
            raise NotRun(f"{method} {setting} on {dataset} has no {column} in this run")
        last = history[history["pass"] == history["pass"].max()]
        return last.groupby("run")[column].mean()

    def peak(self, dataset: str, method: str, setting: str) -> pd.Series:
        """The pass with the best test accuracy, by run."""
        history = self.history(dataset, method, setting)
        history = history[history["rows"] == "all"].reset_index(drop=True)
        best = history.groupby(["run", "fold"])["test_accuracy"].idxmax()
        return history.loc[best].groupby("run")["pass"].mean()

    def seconds_per_pass(self, dataset: str, method: str, setting: str) -> Estimate:
        """Of passes that ran alone on the machine."""
        found = self._timed
        if len(found):
            found = found[(found["dataset"] == dataset) & (found["method"] == method)]
            found = found[found["setting"] == setting]
        if not len(found):
            raise NotRun(f"{method} {setting} on {dataset} was not timed in this run")
        return Estimate.of(found.set_index("pass")["seconds"], "passes that ran alone")

    def fit_seconds(self, dataset: str, method: str, setting: str) -> Estimate:
        """Wall seconds of whole fits on all training rows, as they ran beside other jobs, by run."""
        try:
            found = self._seconds[dataset, method, setting]
        except KeyError:
            raise NotRun(f"{method} {setting} on {dataset} was not part of this run") from None
        found = found[found["rows"] == "all"]
        return Estimate.of(found.groupby("run")["seconds"].sum(), "fits beside other jobs")


Judge = Callable[[Evidence, Claim], Judgement]
"""Says whether a claim holds."""
