"""A setting: one model on one data set, as a training job fits it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

PARTS_OF_NAMES = {
    "partition": "{}",
    "n_components": "K{}",
    "folds": "{}",
    "scale": "{}",
    "reg_covar": "reg_covar{:g}",
}
"""Parameters that a grid may vary, and their forms in the name of a setting."""

COLUMNS = (
    *("model", "n_features", "partition", "n_blocks", "block_size"),
    *("n_components", "reg_covar", "folds", "scale"),
)
"""Columns of a history that describe the setting; names of settings are for people, and never read back."""


def setting_name(**values: Any) -> str:
    """Name a setting: "3x12-K40" of ``partition="3x12", n_components=40``."""
    return "-".join(form.format(values[key]) for key, form in PARTS_OF_NAMES.items() if key in values)


def candidate_name(setting: str, reg_covar: float) -> str:
    """Name a setting with another covariance regularisation, a candidate of nested: "1x7-K14-reg_covar0.3"."""
    return f"{setting}-{setting_name(reg_covar=reg_covar)}"


def blocks_of(partition: str) -> tuple[int, int]:
    """Number of blocks, and of features in each: (3, 12) of "3x12"."""
    n_blocks, block_size = partition.split("x")
    return int(n_blocks), int(block_size)


@dataclass(frozen=True)
class Setting:
    """One model on one data set: what a training job fits."""

    dataset: str
    method: str
    name: str
    unit: str  # settings of a method that share a unit are fitted by the same job
    model: str  # "skem", "pskem", "mda" or a baseline
    params: dict[str, Any]  # of the estimator, max_iter included; none of a baseline
    n_features: int  # leading features
    n_blocks: int  # a baseline beside a partition has its number, and no blocks
    rows: list[str]  # "all", "part"
    spec: dict[str, Any]  # recipe of the features: the data set's, and the setting's differences from it
    runs: list[int] = field(default_factory=list)

    @property
    def keys(self) -> dict[str, str]:
        """Columns of a history that identify the setting."""
        return {"dataset": self.dataset, "method": self.method, "setting": self.name}

    @property
    def record(self) -> dict[str, Any]:
        """`COLUMNS`."""
        block_size = -(-self.n_features // self.n_blocks)  # of the first block, if they differ
        return {
            "model": self.model,
            "n_features": self.n_features,
            "partition": f"{self.n_blocks}x{block_size}",
            "n_blocks": self.n_blocks,
            "block_size": block_size,
            **{key: self.params.get(key) for key in ("n_components", "reg_covar")},
            **{key: self.spec.get(key) for key in ("folds", "scale")},
        }

    def misnamed(self) -> Iterator[str]:
        """Parameters that the name states otherwise, as tables and figures print the name."""
        ran = {r"^(\d+x\d+)": self.record["partition"], r"-K(\d+)": str(self.record["n_components"])}
        for pattern, value in ran.items():
            stated = re.search(pattern, self.name)
            if stated and value != "None" and stated[1] != value:
                yield f"the name says {stated[1]}, but {value} is trained; name the setting after its parameters"

    def batches(self, size: int) -> list[str]:
        """Names of batches of at most ``size`` runs, "first-last"."""
        batches = [self.runs[i : i + size] for i in range(0, len(self.runs), size)]
        return [f"{batch[0]}-{batch[-1]}" for batch in batches]
