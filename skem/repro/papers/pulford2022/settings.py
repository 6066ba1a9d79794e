"""The configuration of Pulford (2022): ``config/pulford2022.yaml``."""

from __future__ import annotations

from pydantic import model_validator

from skem.repro.config.validation import Count, DataSetName, Distinct, Name, Strict, Text, unknown
from skem.repro.training.settings import blocks_of


class Headline(Strict):
    """The model whose accuracy the paper prints for a data set; ``accuracy`` is the id of the claim."""

    method: Text
    partition: Text  # blocks times features, as in "3x13"
    n_components: Count
    accuracy: Text

    @property
    def setting(self) -> str:
        """Name of its configuration."""
        return f"{self.partition}-K{self.n_components}"

    @property
    def n_features(self) -> int:
        """Number of features in all blocks."""
        n_blocks, size = blocks_of(self.partition)
        return n_blocks * size


class Settings(Strict):
    """Settings of claims, tables and figures; ``studies`` are experiments with a table."""

    title: Text
    headlines: dict[DataSetName, Headline]
    studies: Distinct[Name]
    data_set: DataSetName
    arrangements: Distinct[Text]
    blocks: Distinct[Text]
    whole: Text
    ks: Distinct[Count]
    iterations: dict[Text, Count]
    n_train: Count
    best: Distinct[Text]
    crossing: Count

    @model_validator(mode="after")
    def _check(self) -> Settings:
        faults = unknown(self.best, self.blocks, "best") + unknown(
            self.iterations, self.partitions, "iterations"
        )
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def partitions(self) -> list[str]:
        """All partitions, one block last."""
        return [*self.blocks, self.whole]

    @property
    def many(self) -> list[int]:
        """Numbers of components that the paper calls large."""
        return [k for k in self.ks if k >= self.crossing]

    @property
    def compared(self) -> dict[str, int]:
        """Number of components at which initialisations are compared, by data set: the paper's."""
        return {dataset: model.n_components for dataset, model in self.headlines.items()} | {
            self.data_set: max(self.ks)
        }
