"""Results of a run, as estimates to compare with claims."""

from __future__ import annotations

import pandas as pd

from skem.repro.ledger.estimates import Estimate, NotRun
from skem.repro.papers import measured
from skem.repro.papers.pulford2022.settings import Headline
from skem.repro.training.settings import COLUMNS, setting_name


class Evidence(measured.Evidence):
    """Values "values" and "timing", by the functions `values` and `seconds` of `skem.repro.papers.pulford2022.values`."""

    def settings(self, dataset: str, method: str) -> pd.DataFrame:
        """Return `COLUMNS` of all configurations of a method, by name."""
        rows = self.model_rows("values", f"{method} on {dataset}", dataset, method)
        configurations = rows[rows["setting"] != "nested"].drop_duplicates("setting").set_index("setting")
        return configurations.reindex(columns=list(COLUMNS))

    def column(self, dataset: str, method: str, setting: str, column: str) -> pd.Series:
        """Return a column of the values, by run."""
        content = f"{method} {setting} on {dataset}"
        rows = self.model_rows("values", content, dataset, method, setting=setting)
        if column not in rows or rows[column].isna().all():
            raise NotRun(f"{content} has no {column} in this run")
        return measured.by_run(rows, column)

    def runs(
        self, dataset: str, method: str, setting: str, protocol: str = "test_selected_iteration"
    ) -> pd.Series:
        """Return the test accuracy of each run in percent, folds averaged."""
        return 100 * self.column(dataset, method, setting, protocol).dropna()

    def accuracy(
        self, dataset: str, method: str, setting: str, protocol: str = "test_selected_iteration"
    ) -> Estimate:
        """Estimate the accuracy in percent."""
        return Estimate.of(self.runs(dataset, method, setting, protocol), protocol)

    def fixed(self, dataset: str, method: str, setting: str = "preset") -> Estimate:
        """Estimate the accuracy of a deterministic baseline."""
        runs = self.runs(dataset, method, setting, "final_iteration")
        n_test = self.column(dataset, method, setting, "n_test")
        return Estimate.fixed(float(runs.iloc[0]), int(n_test.iloc[0]), "preset")

    def model(self, dataset: str) -> Headline:
        """Return the configuration that the paper reports of a data set."""
        if dataset not in self.paper.headlines:
            raise NotRun(f"the paper's configuration for {dataset} is in no experiment")
        return self.paper.headlines[dataset]

    def headline(self, dataset: str, method: str = "", protocol: str = "test_selected_iteration") -> Estimate:
        """Estimate the accuracy of the paper's configuration, trained by its method or another one."""
        model = self.model(dataset)
        return self.accuracy(dataset, method or model.method, model.setting, protocol)

    def half(
        self, method: str, partition: str, k: int, protocol: str = "test_selected_iteration"
    ) -> Estimate:
        """Estimate the accuracy on half-size MNIST; arrangements do not affect the unpartitioned model."""
        if partition == self.paper.whole and method in self.paper.arrangements:
            method = self.paper.arrangements[0]
        name = setting_name(partition=partition, n_components=k)
        return self.accuracy(self.paper.data_set, method, name, protocol)

    def nested(self, dataset: str, method: str, folds: str) -> Estimate:
        """Estimate the accuracy of configuration and iteration selected on training samples, for one kind of folds."""
        content = f"{method} on {dataset}, nested"
        rows = self.model_rows("values", content, dataset, method, setting="nested", folds=folds)
        return Estimate.of(100 * rows.set_index("run")["nested"], "nested")

    def seconds_per_iteration(self, dataset: str, method: str, setting: str) -> Estimate:
        """Estimate the seconds of iterations that ran alone on the machine."""
        return self._timed(dataset, method, setting, "iteration", "iterations that ran alone")

    def fit_seconds(self, dataset: str, method: str, setting: str) -> Estimate:
        """Estimate the seconds of whole fits on all training samples, beside other jobs."""
        return self._timed(dataset, method, setting, "run", "fits beside other jobs")

    def _timed(self, dataset: str, method: str, setting: str, by: str, how: str) -> Estimate:
        content = f"the time of {method} {setting} on {dataset}"
        rows = self.rows("timing", content, dataset=dataset, method=method, setting=setting)
        if by not in rows or rows[by].isna().all():
            raise NotRun(f"{content} was not part of this run")
        return Estimate.of(rows[rows[by].notna()].set_index(by)["seconds"], how)
