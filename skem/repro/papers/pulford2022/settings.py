"""The settings of Pulford (2022): ``config/pulford2022.yaml``, and what the experiments that it names have trained."""

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
    mda: Name
    audit: Name


@dataclass(frozen=True)
class Headline:
    """The model whose accuracy the paper prints for a data set.

    Attributes
    ----------
    method, setting : str
        As in the experiment.
    n_blocks, n_features, n_components : int
    accuracy : str
        Id of the claim.
    """

    method: str
    setting: str
    n_blocks: int
    n_features: int
    n_components: int
    accuracy: str


@dataclass(frozen=True)
class Settings:
    """What judges, tables and figures look up.

    Attributes
    ----------
    headlines : dict of str to Headline
        By data set.
    studies : tuple of str
        Experiments with a table.
    trade_offs, data_set : str
        The experiment of section 3.3, and its data set.
    arrangements : tuple of str
        Its methods: how features are dealt to blocks.
    whole : str
        Its partition of one block.
    blocks : tuple of str
        Its other partitions, from many small blocks to few large ones.
    n_components : tuple of int
        Its K.
    passes : dict of str to int
        By partition.
    n_train : int
        Training rows of the paper.
    best : tuple of str
        The best partitions with many components.
    crossing : int
        Components from which the paper no longer has one block below the smallest blocks.
    mda : str
        The partition on which PSKEM is compared with MDA.
    audited : tuple of str
        Conventional methods of the experiment on protocols.
    """

    headlines: Mapping[str, Headline]
    studies: tuple[str, ...]
    trade_offs: str
    data_set: str
    arrangements: tuple[str, ...]
    whole: str
    blocks: tuple[str, ...]
    n_components: tuple[int, ...]
    passes: Mapping[str, int]
    n_train: int
    best: tuple[str, ...]
    crossing: int
    mda: str
    audited: tuple[str, ...]

    @property
    def partitions(self) -> tuple[str, ...]:
        """All of them, one block last."""
        return (*self.blocks, self.whole)

    @property
    def compared(self) -> dict[str, int]:
        """Where starts are compared: as many components as the paper has on that data set."""
        return {dataset: model.n_components for dataset, model in self.headlines.items()} | {
            self.data_set: max(self.n_components)
        }


def settings(stated: Stated, experiment: Callable[[str], dict[str, Any]]) -> Settings:
    """The settings that ``config/pulford2022.yaml`` states or leaves to the experiments that it names.

    Raises
    ------
    KeyError
        If those do not have what it asks for.
    """
    plan = stated.trade_offs
    trade_offs = experiment(plan["experiment"])["data_sets"][plan["data_set"]]
    methods = [trade_offs["methods"][name] for name in plan["arrangements"]]
    grid = methods[0]["grid"]
    n_blocks = {partition: blocks_of(partition)[0] for partition in grid["partition"]}
    compared = experiment(stated.mda)["data_sets"][plan["data_set"]]["methods"]
    strange = [partition for partition in plan["best"] if partition not in n_blocks]
    whole = [partition for partition, n in n_blocks.items() if n == 1]
    if strange or not whole:
        raise KeyError(strange[0] if strange else "a partition of one block")
    return Settings(
        headlines={
            dataset: _headline(entry) for dataset, entry in experiment(stated.headlines)["data_sets"].items()
        },
        studies=tuple(stated.studies),
        trade_offs=plan["experiment"],
        data_set=plan["data_set"],
        arrangements=tuple(plan["arrangements"]),
        whole=whole[0],
        blocks=tuple(partition for partition, n in n_blocks.items() if n > 1),
        n_components=tuple(grid["n_components"]),
        passes={p: grid.get("max_iter", {}).get(p, trade_offs["max_iter"]) for p in n_blocks},
        n_train=plan["n_train"],
        best=tuple(plan["best"]),
        crossing=plan["crossing"],
        mda=next(iter(compared.values()))["grid"]["partition"][0],
        audited=_audited(experiment(stated.audit)),
    )


def _headline(entry: dict[str, Any]) -> Headline:
    label = entry["paper"]["setting"]
    method, how = next((m, how) for m, how in entry["methods"].items() if label in how.get("settings", {}))
    setting = how["settings"][label]
    params = how["params"] | setting["params"]
    return Headline(
        method,
        label,
        params.get("n_blocks", 1),
        setting["n_features"],
        params["n_components"],
        entry["paper"]["accuracy"],
    )


def _audited(experiment: dict[str, Any]) -> tuple[str, ...]:
    """Models without components, in order."""
    models = [
        how["model"]
        for entry in experiment["data_sets"].values()
        for how in entry["methods"].values()
        if "n_components" not in how["params"]
    ]
    return tuple(dict.fromkeys(models))
