"""What a training job fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PARTS_OF_NAMES = {
    "partition": "{}",
    "n_components": "K{}",
    "folds": "{}",
    "scale": "{}",
    "reg_covar": "ridge{:g}",
}
"""What a grid may vary, and how it is called in the name of a setting."""

COLUMNS = (
    *("model", "n_features", "partition", "n_blocks", "block_size"),
    *("n_components", "reg_covar", "folds", "scale"),
)
"""What every row of a history says of its setting; names of settings are for people, and never read back."""


def setting_name(**values: Any) -> str:
    """How a setting is called: "3x12-K40" of ``partition="3x12", n_components=40``."""
    return "-".join(form.format(values[key]) for key, form in PARTS_OF_NAMES.items() if key in values)


def blocks_of(partition: str) -> tuple[int, int]:
    """Blocks and features in each, as a configuration writes them: (3, 12) of "3x12"."""
    n_blocks, block_size = partition.split("x")
    return int(n_blocks), int(block_size)


def drawn(spec: dict[str, Any], run: int) -> str:
    """The name of the features whose training images a run has drawn."""
    return f"run{run}" if spec.get("redraw", True) else "fixed"


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
    n_blocks : int
        Into how many blocks they are cut; a baseline that stands beside a partition has its number, and no blocks.
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
    n_blocks: int
    rows: list[str]
    runs: list[int]
    features: dict[str, Any]

    def record(self, spec: dict[str, Any]) -> dict[str, Any]:
        """`COLUMNS`; ``spec`` is the data set's entry under ``features`` in the configuration."""
        features = spec | self.features
        block_size = -(-self.n_features // self.n_blocks)  # of the first block, if they are not alike
        return {
            "model": self.model,
            "n_features": self.n_features,
            "partition": f"{self.n_blocks}x{block_size}",
            "n_blocks": self.n_blocks,
            "block_size": block_size,
            **{key: self.params.get(key) for key in ("n_components", "reg_covar")},
            **{key: features.get(key) for key in ("folds", "scale")},
        }

    def work(self, spec: dict[str, Any]) -> Work:
        """What a job needs to know of this setting, for any of its runs."""
        return Work(
            self.dataset,
            self.method,
            self.name,
            self.record(spec),
            self.params,
            self.rows,
            spec | self.features,
        )

    def blocks(self, size: int) -> list[str]:
        """Names of blocks of at most ``size`` runs, "first-last"."""
        chunks = [self.runs[i : i + size] for i in range(0, len(self.runs), size)]
        return [f"{chunk[0]}-{chunk[-1]}" for chunk in chunks]


@dataclass(frozen=True)
class Work:
    """What a job knows of a setting that it fits.

    Attributes
    ----------
    dataset, method, name : str
    record : dict
        `COLUMNS`.
    params : dict
        Of the estimator.
    rows : list of {"all", "part"}
    spec : dict
        How features are made: the data set's entry in the configuration, with what the setting has otherwise.
    """

    dataset: str
    method: str
    name: str
    record: dict[str, Any]
    params: dict[str, Any]
    rows: list[str]
    spec: dict[str, Any]

    def labels(self) -> dict[str, Any]:
        """What every row of a history says of its setting."""
        return {"dataset": self.dataset, "method": self.method, "setting": self.name} | self.record
