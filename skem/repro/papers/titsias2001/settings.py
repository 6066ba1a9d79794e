"""The configuration of Titsias and Likas (2001): ``config/titsias2001.yaml``."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from skem.repro.config.validation import Count, DataSetName, Distinct, Strict, Text, unknown

Params = dict[str, Any]


def name_of(sharing: float) -> str:
    """Name the method with a lambda, such as "lambda025"."""
    return f"lambda{round(100 * sharing):03d}"


class Variant(TypedDict):
    """A table of the paper on certain features: source and scale, or the reason why it is not available.

    ``model`` has parameters that replace those of the other tables, ``repetitions`` their number.
    """

    title: Text
    table: Literal["I", "II", "III", "IV", "V"]
    source: NotRequired[str]
    scale: NotRequired[
        Literal["none", "standard", "range", "discriminant", "discriminant_whole", "discriminant_unit"]
    ]
    model: NotRequired[Params]
    repetitions: NotRequired[Count]
    n_components: Distinct[Count]
    not_available: NotRequired[str]


class Examples(TypedDict):
    """The synthetic examples; ``drawn_rows``: samples in a panel of the figure."""

    repetitions: Annotated[int, Field(ge=2)]
    n_rows: Annotated[int, Field(ge=20)]
    drawn_rows: Annotated[int, Field(ge=20)]


class Settings(Strict):
    """The configuration of claims, tables, figures and jobs.

    ``model`` has parameters of ``PRBFClassifier``. Claims are compared with the tables in ``evaluated``; interpretations replace
    them by variants.
    """

    title: Text
    sharings: Distinct[Annotated[int | float, Field(ge=0, le=1)]]
    n_folds: Annotated[int, Field(ge=2)]
    repetitions: Count
    model: Params
    tables: dict[DataSetName, Variant]
    evaluated: Distinct[str]
    examples: Examples

    @model_validator(mode="after")
    def _check(self) -> Settings:
        faults = unknown(self.evaluated, self.tables, "evaluated")
        for name, entry in self.tables.items():
            if ("source" in entry) == ("not_available" in entry) or ("source" in entry) != ("scale" in entry):
                faults.append(f"tables.{name} needs source and scale, or not_available")
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @cached_property
    def lambdas(self) -> dict[str, str]:
        """Titles of the methods with a lambda."""
        return {name_of(sharing): f"λ = {sharing:g}" for sharing in self.sharings}

    @cached_property
    def methods(self) -> dict[str, str]:
        """Titles of all methods."""
        return {"rbf": "RBF"} | self.lambdas | {"averaging": "averaging"}

    @cached_property
    def measured(self) -> dict[str, Any]:
        """The variants with data."""
        return {name: entry for name, entry in self.tables.items() if "source" in entry}
