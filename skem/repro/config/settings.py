"""What a training job fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """One model on one data set: what a training job fits.

    Attributes
    ----------
    dataset, method, name : str
    unit : str
        What one job fits: settings of a method that share a unit are fitted by the same job.
    model : str
        "skem", "pskem", "mda" or the name of a baseline.
    params : dict
        Of the estimator, ``max_iter`` included; of a baseline, none.
    n_features : int
        The first so many features are used.
    rows : list of {"all", "part"}
    runs : list of int
    features : dict
        What is made of the features otherwise than the configuration says.
    """

    dataset: str
    method: str
    name: str
    unit: str
    model: str
    params: dict[str, Any]
    n_features: int
    rows: list[str]
    runs: list[int]
    features: dict[str, Any]

    def blocks(self, size: int) -> list[str]:
        """Names of blocks of at most ``size`` runs, "first-last"."""
        chunks = [self.runs[i : i + size] for i in range(0, len(self.runs), size)]
        return [f"{chunk[0]}-{chunk[-1]}" for chunk in chunks]
