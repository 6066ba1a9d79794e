"""Interpretations of a paper: the ambiguities that its text leaves, and the verdicts under each choice.

An *ambiguity* has several choices, one of them nearest the text. An *interpretation* takes one choice of each ambiguity. A
choice is measured by models that were trained for it, or by evaluators, which look up the choice by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import combinations, product
from typing import Annotated

from pydantic import Field

from skem.repro.config.documents import refuse
from skem.repro.config.validation import Distinct, Strict, Text
from skem.repro.ledger.estimates import Claim, NotRun
from skem.repro.ledger.verdicts import OPEN, Evaluation, joined


class Replacement(Strict):
    """Trained models that a choice uses instead of others.

    Attributes
    ----------
    data_set : str or None
        Data set of the replaced models; None for all.
    methods : list of str or None
        Methods of the replaced models; None for all.
    with_data_set, with_method : str or None
        Data set and method used instead; None if unchanged.
    untrained : bool
        True if the choice has no such models.
    """

    data_set: Text | None = None
    methods: Distinct[Text] | None = None
    with_data_set: Text | None = None
    with_method: Text | None = None
    untrained: bool = False

    def applies(self, dataset: str, method: str) -> bool:
        """Return True for a replaced model."""
        return self.data_set in (None, dataset) and (self.methods is None or method in self.methods)

    def model(self, dataset: str, method: str) -> tuple[str, str]:
        """Return data set and method of the model used instead."""
        return self.with_data_set or dataset, self.with_method or method


class Choice(Strict):
    """A choice of an ambiguity."""

    label: Text
    replacements: list[Replacement] = Field(default_factory=list)


class Ambiguity(Strict):
    """Something that a paper leaves open.

    Attributes
    ----------
    about : str
        Noun phrase that follows "depends on".
    open : str
        Statement that the paper leaves out.
    default : str
        The choice nearest the text.
    because : str
        Reason for the default.
    claims : list of str
        Patterns of the claims that it affects.
    choices : dict of str to Choice
    """

    about: Text
    open: Text
    default: Text
    because: Text
    claims: Distinct[Text]
    choices: Annotated[dict[str, Choice], Field(min_length=2)]

    def affects(self, id: str) -> bool:
        """Return True if the claim depends on it."""
        return any(fnmatchcase(id, pattern) for pattern in self.claims)


Ambiguities = Mapping[str, Ambiguity]


@dataclass(frozen=True)
class Interpretation:
    """One choice of each ambiguity; the default of those that it does not name."""

    choices: Mapping[str, str] = field(default_factory=dict)
    replacements: tuple[Sequence[Replacement], ...] = ()

    def choice(self, ambiguity: str, default: str = "") -> str:
        """Return the choice of an ambiguity; ``default`` if none was made."""
        return self.choices.get(ambiguity, default)

    def where(self, dataset: str, method: str) -> tuple[str, str]:
        """Return data set and method of the model that is used for these.

        Raises
        ------
        NotRun
            If a choice has no such model.
        """
        for replacements in self.replacements:
            for replacement in replacements:
                if replacement.applies(dataset, method):
                    if replacement.untrained:
                        raise NotRun(f"{method} on {dataset} is not trained under this interpretation")
                    dataset, method = replacement.model(dataset, method)
                    break
        return dataset, method


@dataclass(frozen=True)
class Found:
    """An evaluation under an interpretation."""

    choices: Mapping[str, str]
    label: str
    evaluation: Evaluation


def survey(
    claim: Claim,
    ambiguities: Ambiguities,
    evaluate: Callable[[Interpretation], Evaluation],
    width: float | None = None,
) -> tuple[list[Found], str]:
    """Evaluate a claim under every interpretation that was measured.

    Parameters
    ----------
    claim : mapping
    ambiguities : mapping of str to Ambiguity
    evaluate : callable
    width : float, optional
        Widest interval that decides the claim.

    Returns
    -------
    found : list of Found
        The default first.
    depends_on : str
        Ambiguities that decide the verdict, as a phrase after "depends on".

    Raises
    ------
    NotRun
        If no interpretation was measured.
    """
    affecting = {name: a for name, a in ambiguities.items() if a.affects(claim["id"])}
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
        evaluation = evaluation.at_resolution(width)
        if any(_same(evaluation, other.evaluation) for other in found):
            continue  # The choice affects other claims only.
        if missing and not found:
            note = f"evaluated with {label}; the interpretation nearest the text was not part of this run"
            evaluation = replace(evaluation, note=joined(note, evaluation.note))
        found.append(Found(named, label, evaluation))
    if missing and not found:
        raise missing
    # Of several sets in which interpretations with different verdicts differ, the smallest ones decide.
    decided = [f for f in found if f.evaluation.verdict not in OPEN]
    differing = [
        {name for name in affecting if a.choices[name] != b.choices[name]}
        for a, b in combinations(decided, 2)
        if a.evaluation.verdict != b.evaluation.verdict
    ]
    fewest = min(map(len, differing), default=0)
    deciding = {name for names in differing if len(names) == fewest for name in names}
    return found, " and on ".join(a.about for name, a in affecting.items() if name in deciding)


def _same(a: Evaluation, b: Evaluation) -> bool:
    """Return True if two evaluations rest on one measurement."""
    return (a.verdict, a.measured, a.low, a.high) == (b.verdict, b.measured, b.low, b.high) and a.low == a.low


def check(
    where: str, ambiguities: Ambiguities, ids: Collection[str], trained: Collection[tuple[str, str]]
) -> None:
    """Check the ambiguities of a paper.

    Parameters
    ----------
    where : str
        The file, for messages.
    ambiguities : mapping of str to Ambiguity
    ids : collection of str
        Claims of the paper.
    trained : collection of (str, str)
        Data set and method of every model of the experiments.

    Raises
    ------
    ConfigurationError
        With all faults: defaults that are no choice, patterns without a claim, models of no experiment.
    """
    faults = []
    for name, ambiguity in ambiguities.items():
        entry = f"{where}: interpretations.{name}"
        if ambiguity.default not in ambiguity.choices:
            faults.append(
                f"{entry}: default is {ambiguity.default!r}; its choices are {', '.join(ambiguity.choices)}"
            )
        faults += [
            f"{entry}.claims names {pattern!r}, which is no claim"
            for pattern in ambiguity.claims
            if not any(fnmatchcase(id, pattern) for id in ids)
        ]
        for key, choice in ambiguity.choices.items():
            for number, replacement in enumerate(choice.replacements):
                replaced = [model for model in trained if replacement.applies(*model)]
                if not replaced or not any(replacement.model(*model) in trained for model in replaced):
                    faults.append(
                        f"{entry}.choices.{key}.replacements.{number} names models of no experiment"
                    )
    refuse(faults)
