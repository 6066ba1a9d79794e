"""Histories of jobs: one row per iteration of a fit, and one row for a fit that fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skem.repro.files import write_arrays, write_table

if TYPE_CHECKING:  # it imports scikit-learn, which takes longer than to join histories
    from skem.repro.training.splits import Trial

Rows = list[dict[str, Any]]


def split_failures(
    history: Sequence[pd.DataFrame], seconds: Sequence[pd.DataFrame]
) -> tuple[list[pd.DataFrame], list[pd.DataFrame], pd.DataFrame]:
    """Histories and seconds without the settings that failed in any of their runs, and a row for each failure.

    A setting is left out as a whole: a mean over the successful runs would hide the failures.
    """
    keys = ["dataset", "method", "setting"]
    failed = [table[table["error"].notna()] for table in history if "error" in table]
    none = pd.DataFrame(columns=[*keys, "error"])
    failures = pd.concat(failed)[[*keys, "error"]].drop_duplicates(keys) if failed else none
    if not len(failures):
        return list(history), list(seconds), none
    names = pd.MultiIndex.from_frame(failures[keys])

    def successful(tables: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
        kept = [table[~pd.MultiIndex.from_frame(table[keys]).isin(names)] for table in tables]
        return [table.drop(columns="error", errors="ignore") for table in kept if len(table)]

    return successful(history), successful(seconds), failures


@dataclass(eq=False)
class Histories:
    """Rows of a job, and the predictions that it keeps."""

    history: Rows = field(default_factory=list)
    seconds: Rows = field(default_factory=list)
    predictions: dict[str, np.ndarray] = field(default_factory=dict)

    def keep(self, trial: Trial, predicted: np.ndarray, name: str = "") -> None:
        """Keep predictions of a trial, by its rows, run and fold, beside the true classes."""
        at = f"{trial.run}-{trial.fold}"
        self.predictions[f"{name}{trial.rows}-{at}"] = predicted
        self.predictions[f"y-{at}"] = trial.y_test.astype("int16")

    def attempt(self, keys: dict[str, Any], fit: Callable[[], Histories]) -> None:
        """Add the results of a fit; if it fails, a row with its keys and the error, so that other methods go on."""
        try:
            added = fit()
        except OSError:  # such as a full disk, which is no fault of the method
            raise
        except Exception as error:
            if os.environ.get("SKEM_TRACEBACK"):
                raise
            words = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            name = " ".join(map(str, keys.values()))
            print(f"warning: {name} failed, and is left out: {words}", file=sys.stderr)
            added = Histories([keys | {"error": words}])
        self.history += added.history
        self.seconds += added.seconds
        self.predictions |= added.predictions

    def write(self, history: str, seconds: str, predictions: str) -> None:
        """Write the files of the job; the history last, as other jobs wait for it."""
        write_arrays(predictions, self.predictions)
        write_table(seconds, self.seconds)
        write_table(history, self.history)
