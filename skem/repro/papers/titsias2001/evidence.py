"""Results that the claims of Titsias and Likas (2001) are compared with."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import gamma

from skem.repro.ledger.estimates import Estimate, mean
from skem.repro.papers import measured
from skem.repro.papers.measured import FINAL, by_run, final
from skem.repro.papers.titsias2001.tables import cells


class Evidence(measured.Evidence):
    """Values "values" (means over folds by repetition), "spreads" (standard deviations over folds), "timing" and "examples"."""

    target = "titsias"

    def column(self, dataset: str, method: str, m: int, column: str = "error") -> Estimate:
        """Estimate a column of a cell of a table over repetitions."""
        table = "timing" if column == "seconds" else "values"
        content = f"{column} of {method} with {m} components on {dataset}"
        rows = self.model_rows(table, content, dataset, method, n_components=m)
        return final(by_run(rows, column))

    def over_folds(self, dataset: str, method: str, m: int) -> Estimate:
        """Estimate the standard deviation of errors over the folds of a cross-validation, which the paper prints after "+-".

        The mean over repetitions is that of a normal sample's standard deviation, which is too small by the factor c4.
        """
        content = f"the standard deviation of {method} with {m} components on {dataset}"
        cell = self.model_rows("spreads", content, dataset, method, n_components=m).iloc[0]
        freedom, n = self.paper.n_folds - 1, int(cell["n_runs"])
        c4 = np.sqrt(2 / freedom) * gamma((freedom + 1) / 2) / gamma(freedom / 2)
        return Estimate(float(cell["std"] / c4), np.nan, n, protocol=FINAL, dof=n * freedom)

    @cached_property
    def printed(self) -> pd.DataFrame:
        """The cells of the paper's tables."""
        return cells(self.stated)

    def sizes(self, dataset: str) -> list[int]:
        """Return the numbers of components of a table."""
        return list(self.paper.tables[dataset]["n_components"])

    def by_table(self, dataset: str, method: str, column: str = "error") -> Estimate:
        """Estimate the mean over the columns of a table."""
        return mean([self.column(dataset, method, m, column) for m in self.sizes(dataset)])

    def example(self, figure: str, model: str, column: str) -> Estimate:
        """Estimate a column of the synthetic examples over repetitions."""
        rows = self.rows("examples", f"{model} of {figure}", figure=figure, model=model)
        return Estimate.of(rows.set_index("run")[column], "new samples")
