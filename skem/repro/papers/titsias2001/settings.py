"""The settings of Titsias and Likas (2001): ``config/titsias2001.yaml``."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from skem.repro.config.validation import Count, DataSetName, Distinct, Fraction, Strict, Text, unknown


def name_of(sharing: float) -> str:
    """As the ledger calls a lambda: "lambda025"."""
    return f"lambda{round(100 * sharing):03d}"


Params = dict[str, Any]


class Variant(TypedDict):
    """A table of the paper on certain features: source and scale, or why it is not available."""

    title: Text
    table: Literal["I", "II", "III", "IV", "V"]
    source: NotRequired[str]
    scale: NotRequired[Literal["none", "standard", "range", "discriminant", "discriminant_whole"]]
    n_components: Distinct[Count]
    not_available: NotRequired[str]


class Choice(TypedDict):
    """How lambda is chosen."""

    tables: list[str]
    repetitions: Count
    validation_fraction: Fraction


class Examples(TypedDict):
    """The synthetic examples; ``drawn_rows``: samples in a panel of the figure."""

    repetitions: Annotated[int, Field(ge=2)]
    n_rows: Annotated[int, Field(ge=20)]
    drawn_rows: Annotated[int, Field(ge=20)]


class Images(TypedDict):
    """PSKEM with sharing on images; ``params`` of ``PSKEMClassifier``."""

    runs: Count
    n_features: Count
    params: Params


class Settings(Strict):
    """The settings of evaluators, tables, figures and jobs.

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
    """

    title: Text
    sharings: Distinct[Annotated[int | float, Field(ge=0, le=1)]]
    n_folds: Annotated[int, Field(ge=2)]
    repetitions: Count
    model: Params
    tables: dict[DataSetName, Variant]
    judged: Distinct[str]
    choice: Choice
    examples: Examples
    images: dict[Literal["mnist", "fashion_mnist"], Images]

    @cached_property
    def lambdas(self) -> dict[str, str]:
        """Every lambda, by the name of its method, as tables print it."""
        return {name_of(sharing): f"lambda = {sharing:g}" for sharing in self.sharings}

    @cached_property
    def methods(self) -> dict[str, str]:
        """Every method as tables print it."""
        return {"rbf": "RBF"} | self.lambdas | {"averaging": "averaging"}

    @cached_property
    def measured(self) -> dict[str, Any]:
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


Stated = Settings


def settings(stated: Settings, experiment: object = None) -> Settings:
    """The settings as ``config/titsias2001.yaml`` states them; it has no experiments.

    Raises
    ------
    ValueError
        If it names a table that it does not have.
    """
    faults = unknown(stated.judged, stated.tables, "judged")
    faults += unknown(stated.choice["tables"], stated.tables, "choice.tables")
    for name, entry in stated.tables.items():
        if ("source" in entry) == ("not_available" in entry) or ("source" in entry) != ("scale" in entry):
            faults.append(f"tables.{name} needs source and scale, or not_available")
    if faults:
        raise ValueError("; ".join(faults))
    return stated
