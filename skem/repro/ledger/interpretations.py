"""Interpretations of a paper: the ambiguities that its text leaves, and the outcomes under each choice.

An *ambiguity* has several choices, one of them nearest the text. An *interpretation* takes one choice of each ambiguity. A
choice is measured by models that were trained for it, or by rows and functions, which look up the choice by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import combinations, product
from typing import Annotated, Any

from pydantic import Field, model_validator

from skem.repro.config.validation import Distinct, Strict, Text, suggestion
from skem.repro.ledger.decisions import OPEN, Evaluation, joined
from skem.repro.ledger.estimates import NotRun
from skem.repro.ledger.outcomes import ONE_INTERPRETATION, outcome

Cell = Mapping[str, Any]
"""Values of columns that identify a result."""


class Replacement(Strict):
    """Cells that a choice uses instead of others."""

    where: dict[str, Text | int | Distinct[Text]]  # values by column, among them ``metric`` and ``table``
    with_: dict[str, Text | int] = Field(default_factory=dict, alias="with")  # columns that change
    untrained: bool = False  # the choice has no such cells

    def applies(self, cell: Cell) -> bool:
        """Return True for a replaced cell."""
        return all(
            cell.get(column) in (values if isinstance(values, list) else [values])
            for column, values in self.where.items()
        )


class Choice(Strict):
    """A choice of an ambiguity."""

    label: Text
    replacements: list[Replacement] = Field(default_factory=list)


class Ambiguity(Strict):
    """Something that a paper leaves open."""

    about: Text  # noun phrase that follows "depends on"
    open: Text  # statement that the paper leaves out
    default: Text  # the choice nearest the text
    because: Text  # reason for the default
    claims: Distinct[Text]  # patterns of the claims that it affects, without the first word of their ids
    choices: Annotated[dict[str, Choice], Field(min_length=2)]

    @model_validator(mode="after")
    def _check(self) -> Ambiguity:
        if self.default not in self.choices:
            raise ValueError(f"default is {self.default!r}; {suggestion(self.default, self.choices)}")
        return self

    def affects(self, id: str) -> bool:
        """Return True if a claim depends on it."""
        return any(fnmatchcase(id, pattern) for pattern in self.claims)


Ambiguities = Mapping[str, Ambiguity]


@dataclass(frozen=True)
class Interpretation:
    """One choice of each ambiguity; the default of those that it does not name."""

    choices: Mapping[str, str] = field(default_factory=dict)
    replacements: tuple[Sequence[Replacement], ...] = ()

    def replaced(self, cell: Cell) -> dict[str, Any]:
        """Return the cell that is measured for a cell; `NotRun` if a choice has no such cell."""
        cell = dict(cell)
        for replacements in self.replacements:
            for replacement in replacements:
                if replacement.applies(cell):
                    if replacement.untrained:
                        model = f"{cell['method']} on {cell['dataset']}"
                        raise NotRun(f"{model} is not trained under this interpretation")
                    cell |= replacement.with_
                    break
        return cell


@dataclass(frozen=True)
class Found:
    """An evaluation under an interpretation."""

    choices: Mapping[str, str]
    label: str
    evaluation: Evaluation


def survey(
    affecting: Ambiguities, evaluate: Callable[[Interpretation], Evaluation]
) -> tuple[list[Found], str]:
    """Evaluate a claim under every interpretation of ``affecting`` ambiguities that was measured; `NotRun` if none was.

    Returns
    -------
    found : list of Found
        The default first.
    depends_on : str
        Ambiguities that decide the outcome, as a phrase after "depends on".
    """
    found: list[Found] = []
    missing = None
    for keys in product(*(sorted(a.choices, key=lambda c, a=a: c != a.default) for a in affecting.values())):  # type: ignore[misc]
        choices = [a.choices[key] for a, key in zip(affecting.values(), keys, strict=True)]
        named = dict(zip(affecting, keys, strict=True))
        label = ", ".join(choice.label for choice in choices)
        try:
            evaluation = evaluate(Interpretation(named, tuple(choice.replacements for choice in choices)))
        except NotRun as error:
            missing = missing or error
            continue
        evaluation = evaluation.at_resolution()
        if any(_same(evaluation, other.evaluation) for other in found):
            continue  # The choice affects other claims only.
        if missing and not found:
            note = f"evaluated with {label}; the interpretation nearest the text was not part of this run"
            evaluation = replace(evaluation, note=joined(note, evaluation.note))
        found.append(Found(named, label, evaluation))
    if missing and not found:
        raise missing
    decided = [f for f in found if f.evaluation.detail not in OPEN]
    agrees = outcome([f.evaluation.detail for f in found]) == ONE_INTERPRETATION
    deciding = _deciding(decided) or (_deciding(found) if agrees else set())
    return found, " and on ".join(a.about for name, a in affecting.items() if name in deciding)


def _deciding(found: Sequence[Found]) -> set[str]:
    """Name the ambiguities that decide: of several sets in which interpretations with different outcomes differ, the smallest ones."""
    differing = [
        {name for name in a.choices if a.choices[name] != b.choices[name]}
        for a, b in combinations(found, 2)
        if a.evaluation.detail != b.evaluation.detail
    ]
    fewest = min(map(len, differing), default=0)
    return {name for names in differing if len(names) == fewest for name in names}


def _same(a: Evaluation, b: Evaluation) -> bool:
    return (a.detail, a.measured, a.low, a.high) == (b.detail, b.measured, b.low, b.high) and a.low == a.low
