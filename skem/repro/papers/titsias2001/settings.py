"""The settings of Titsias and Likas (2001): ``config/titsias2001.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any


def name_of(sharing: float) -> str:
    """As the ledger calls a lambda: "lambda025"."""
    return f"lambda{round(100 * sharing):03d}"


@dataclass(frozen=True)
class Settings:
    """What judges, tables, figures and jobs look up.

    Attributes
    ----------
    sharings : list of float
        Every lambda.
    n_folds, repetitions : int
        Of the cross-validation.
    model : dict
        Parameters of ``PRBFClassifier``.
    tables : dict
        By name of a table's variant: number, source, scale, n_components; or why it is not available.
    judged : list of str
        The paper's tables that the claims are held against; which features of each, its readings say.
    choice, examples, images : dict
        How lambda is chosen; the synthetic examples; PSKEM with sharing.
    """

    sharings: list[float]
    n_folds: int
    repetitions: int
    model: Mapping[str, Any]
    tables: Mapping[str, Mapping[str, Any]]
    judged: list[str]
    choice: Mapping[str, Any]
    examples: Mapping[str, Any]
    images: Mapping[str, Mapping[str, Any]]

    @cached_property
    def lambdas(self) -> dict[str, str]:
        """Every lambda, by the name of its method, as tables print it."""
        return {name_of(sharing): f"lambda = {sharing:g}" for sharing in self.sharings}

    @cached_property
    def methods(self) -> dict[str, str]:
        """Every method as tables print it."""
        return {"rbf": "RBF"} | self.lambdas | {"averaging": "averaging"}

    @cached_property
    def measured(self) -> dict[str, Mapping[str, Any]]:
        """The variants that there is data for."""
        return {name: entry for name, entry in self.tables.items() if "source" in entry}

    @cached_property
    def sources(self) -> list[str]:
        """Their data sets."""
        return list(dict.fromkeys(entry["source"] for entry in self.measured.values()))

    @property
    def trained(self) -> list[str]:
        """Every "table/method" that is measured."""
        return [f"{table}/{method}" for table in self.measured for method in self.methods]


def settings(stated: dict[str, Any], experiment: object = None) -> Settings:
    """The settings as ``config/titsias2001.yaml`` states them; it has no experiments.

    Raises
    ------
    ValueError
        If it names a table that it does not have.
    """
    for key, names in (("judged", stated["judged"]), ("choice.tables", stated["choice"]["tables"])):
        for name in names:
            if name not in stated["tables"]:
                raise ValueError(f"{key} names {name!r}; there are {', '.join(stated['tables'])}")
    return Settings(
        **{key: value for key, value in stated.items() if key not in ("title", "claims", "readings")}
    )
