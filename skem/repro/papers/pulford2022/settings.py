"""The settings of Pulford (2022): ``config/pulford2022.yaml``, and the experiments that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from skem.repro.config.validation import Count, Distinct, Name, Strict, Text
from skem.repro.training.settings import blocks_of


class TradeOffs(TypedDict):
    """Section 3.3."""

    experiment: Name
    data_set: Text
    arrangements: Distinct[Text]
    n_train: Count
    best: Distinct[Text]
    crossing: Count


class Stated(Strict):
    """``config/pulford2022.yaml``: names of experiments, files of ``config/experiments``."""

    title: Text
    headlines: Name
    studies: list[Name]
    trade_offs: TradeOffs
    audit: Name


@dataclass(frozen=True)
class Headline:
    """The model whose accuracy the paper prints for a data set; ``accuracy`` is the id of the claim."""

    method: str
    setting: str
    n_blocks: int
    n_features: int
    n_components: int
    accuracy: str

    @property
    def partition(self) -> str:
        """Blocks times features, as in "3x13"."""
        return f"{self.n_blocks}x{self.n_features // self.n_blocks}"


@dataclass(frozen=True)
class Settings:
    """Settings of claims, tables and figures."""

    headlines: Mapping[str, Headline]  # models of Table 1, by data set
    studies: tuple[str, ...]  # experiments with a table
    trade_offs: str  # the experiment of section 3.3
    data_set: str  # its data set
    arrangements: tuple[str, ...]  # its methods: ways to deal features to blocks
    whole: str  # its partition of one block
    blocks: tuple[str, ...]  # its other partitions, from many small blocks to few large ones
    n_components: tuple[int, ...]
    iterations: Mapping[str, int]  # by partition
    n_train: int  # training samples of the paper
    best: tuple[str, ...]  # the best partitions with many components
    crossing: (
        int  # components from which one block is no longer below the smallest blocks: the paper's "large K"
    )
    audit: str  # the experiment on protocols

    @property
    def partitions(self) -> tuple[str, ...]:
        """All partitions, one block last."""
        return (*self.blocks, self.whole)

    @property
    def many(self) -> tuple[int, ...]:
        """Numbers of components that the paper calls large."""
        return tuple(k for k in self.n_components if k >= self.crossing)

    @property
    def compared(self) -> dict[str, int]:
        """Number of components at which initialisations are compared, by data set: the paper's."""
        return {dataset: model.n_components for dataset, model in self.headlines.items()} | {
            self.data_set: max(self.n_components)
        }


def settings(stated: Stated, experiment: Callable[[str], dict[str, Any]]) -> Settings:
    """Read the settings from the file and the experiments that it names.

    Raises
    ------
    KeyError
        If an experiment lacks something that the file names.
    """
    plan = stated.trade_offs
    trade_offs = experiment(plan["experiment"])["data_sets"][plan["data_set"]]
    methods = [trade_offs["methods"][name] for name in plan["arrangements"]]
    grid = methods[0]["grid"]
    n_blocks = {partition: blocks_of(partition)[0] for partition in grid["partition"]}
    whole = [partition for partition, n in n_blocks.items() if n == 1]
    unknown = [partition for partition in plan["best"] if partition not in n_blocks]
    if unknown or not whole:
        raise KeyError(unknown[0] if unknown else "a partition of one block")
    headlines = experiment(stated.headlines)["data_sets"]
    return Settings(
        headlines={dataset: _headline(entry) for dataset, entry in headlines.items()},
        studies=tuple(stated.studies),
        trade_offs=plan["experiment"],
        data_set=plan["data_set"],
        arrangements=tuple(plan["arrangements"]),
        whole=whole[0],
        blocks=tuple(partition for partition, n in n_blocks.items() if n > 1),
        n_components=tuple(grid["n_components"]),
        iterations={p: grid.get("max_iter", {}).get(p, trade_offs["max_iter"]) for p in n_blocks},
        n_train=plan["n_train"],
        best=tuple(plan["best"]),
        crossing=plan["crossing"],
        audit=stated.audit,
    )


def _headline(entry: dict[str, Any]) -> Headline:
    label = entry["paper"]["setting"]
    method, how = next((m, how) for m, how in entry["methods"].items() if label in how.get("settings", {}))
    setting = how["settings"][label]
    params = how["params"] | setting["params"]
    blocks, accuracy = params.get("n_blocks", 1), entry["paper"]["accuracy"]
    return Headline(method, label, blocks, setting["n_features"], params["n_components"], accuracy)
