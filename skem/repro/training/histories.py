"""Trials as a setting sees them, and the rows that come of them: the same for whatever is trained."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.files import write_arrays, write_table
from skem.repro.training import splits, views
from skem.repro.training.settings import Work
from skem.repro.training.splits import Arrays, Trial

Rows = list[dict[str, Any]]


def trials_of(
    work: Work, features: dict[str, Arrays], rows: Sequence[str], runs: Sequence[int], root: int
) -> Iterator[tuple[Trial, int]]:
    """Every trial as a setting sees it, and the seed of its start; rows, runs and root as for ``splits.trials``."""
    for trial in splits.trials(work.dataset, work.spec, features, list(rows), list(runs), root):
        start = splits.seed(root, work.dataset, trial.run, trial.fold, "start")
        yield views.view(trial, work.record["n_features"], work.record["n_blocks"], work.spec, start), start


def attempt(keys: dict[str, Any], fit: Callable[[], Rows]) -> Rows:
    """The rows of a fit; if it fails, one row with its keys and the error in one line, so that other methods go on."""
    try:
        return fit()
    except OSError:  # such as a full disk, which is no fault of the method
        raise
    except Exception as error:
        if os.environ.get("SKEM_TRACEBACK"):
            raise
        words = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        print(
            f"warning: {' '.join(map(str, keys.values()))} failed, and is left out: {words}", file=sys.stderr
        )
        return [keys | {"error": words}]


def split_failures(
    history: Sequence[pd.DataFrame], seconds: Sequence[pd.DataFrame]
) -> tuple[list[pd.DataFrame], list[pd.DataFrame], pd.DataFrame]:
    """Histories and seconds without the settings that failed in any of their runs, and a row for each failure.

    A setting is left out as a whole: a mean over the runs that went well would hide that others failed.
    """
    keys = ["dataset", "method", "setting"]
    failed = [table[table["error"].notna()] for table in history if "error" in table]
    failures = pd.concat(failed)[[*keys, "error"]].drop_duplicates(keys) if failed else pd.DataFrame()
    if not len(failures):
        return list(history), list(seconds), pd.DataFrame(columns=[*keys, "error"])
    names = set(failures[keys].itertuples(index=False, name=None))

    def sound(tables: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
        kept = [
            table[[name not in names for name in table[keys].itertuples(index=False, name=None)]]
            for table in tables
        ]
        return [table.drop(columns="error", errors="ignore") for table in kept if len(table)]

    return sound(history), sound(seconds), failures


@dataclass
class Histories:
    """The rows of a job, and the predictions that it keeps."""

    history: Rows = field(default_factory=list)
    seconds: Rows = field(default_factory=list)
    predictions: dict[str, np.ndarray] = field(default_factory=dict)

    def keep(self, trial: Trial, predicted: np.ndarray, name: str = "") -> None:
        """Predictions of a trial, by its rows, run and fold, beside the true classes."""
        at = f"{trial.run}-{trial.fold}"
        self.predictions[f"{name}{trial.rows}-{at}"] = predicted
        self.predictions[f"y-{at}"] = trial.y_test.astype("int16")

    def add(self, other: Histories) -> None:
        """The rows and predictions of another, after these."""
        self.history += other.history
        self.seconds += other.seconds
        self.predictions |= other.predictions

    def attempt(self, keys: dict[str, Any], fit: Callable[[], Histories]) -> None:
        """Add what a fit returns; a fit that fails leaves one row, as `attempt` describes it."""

        def rows() -> Rows:
            self.add(fit())
            return []

        self.history += attempt(keys, rows)

    def write(self, history: str, seconds: str, predictions: str) -> None:
        """The files of the job; the history last, as it is what others wait for."""
        write_arrays(predictions, self.predictions)
        write_table(seconds, self.seconds)
        write_table(history, self.history)
