"""The registry of a paper's evaluators: functions that measure its numbers or decide its orderings and statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from inspect import signature
from typing import Any, TypeVar

from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.ledger.verdicts import (
    NOT_COMPARABLE,
    QUOTED,
    VERIFIED,
    Evaluation,
    compared_claims,
    evaluate_number,
    evaluate_ordering,
    evaluate_spread,
    joined,
)

Claims = Mapping[str, Claim]
"""The claims table: rows by id."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Evaluators:
    """The evaluators of a paper, by claim.

    Claims are named without the paper's prefix; "*" stands for any letters. An exact id precedes patterns, and patterns
    apply in the order of registration. Functions take the evidence and, if they have a second parameter without default, the claim.

    Parameters
    ----------
    prefix : str
        First word of the ids of the paper's claims: "pulford" of "pulford.table1.rice.skem_accuracy".
    verified : mapping of str to str
        Claims that are verified analytically: from id to the test that verifies it.

    Examples
    --------
    >>> EVALUATORS = Evaluators("toy", verified={"sec1.sum": "tests/test_toy.py::test_sum"})
    >>> @EVALUATORS.measures("table1.*_accuracy", trials="1")
    ... def accuracy(evidence, claim):
    ...     return evidence.accuracy(claim["dataset"], claim["method"])
    >>> @EVALUATORS.evaluates("sec1.higher")
    ... def higher(evidence):
    ...     return all_of([greater(evidence.accuracy("iris", "a"), evidence.accuracy("iris", "b"))])
    """

    prefix: str
    verified: Mapping[str, str] = field(default_factory=dict)
    _numbers: dict[str, Callable[[Any, Claim], Estimate]] = field(default_factory=dict, init=False)
    _evaluators: dict[str, Callable[[Any, Claim], Evaluation]] = field(default_factory=dict, init=False)
    _remarks: dict[str, Callable[[Any, Claim], str]] = field(default_factory=dict, init=False)
    _not_comparable: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.settles(VERIFIED, self.verified)

    def settles(self, verdict: str, notes: Mapping[str, str]) -> None:
        """Register claims that need no results: notes on the verdict by id."""
        for id, note in notes.items():
            self._evaluators[id] = lambda *_, note=note: Evaluation(verdict, note=note)

    def not_comparable(self, reason: str, *ids: str) -> None:
        """Register claims whose measurements are shown without a verdict, with the reason: unknown network, other machine, other data."""
        self._not_comparable |= dict.fromkeys(ids, reason)

    def measures(
        self, *ids: str, resolution: Callable[[Any, Claim], float] | None = None, **cells: str
    ) -> Callable[[F], F]:
        """Register a function that returns the `Estimate` of numbers.

        Parameters
        ----------
        *ids : str
        resolution : callable, optional
            From evidence and claim to the widest interval that supports the verdict "reproduced".
        **cells : str
            Cells that replace those of the claim, such as ``trials="1"``.
        """

        def register(measure: F) -> F:
            def evaluate(evidence: Any, claim: Claim) -> Evaluation:
                estimate = number(evidence, claim)
                found = evaluate_number({**claim, **cells}, estimate)
                if estimate.spread or "trials" not in cells:  # else runs are other trials than the paper's
                    found = replace(found, spread=evaluate_spread(claim, estimate))
                return found.at_resolution(resolution(evidence, claim)) if resolution else found

            number = _of_evidence_and_claim(measure)
            self._numbers |= dict.fromkeys(ids, number)
            self._evaluators |= dict.fromkeys(ids, evaluate)
            return measure

        return register

    def evaluates(self, *ids: str) -> Callable[[F], F]:
        """Register a function that returns the `Evaluation` of orderings, statements or numbers."""

        def register(evaluator: F) -> F:
            self._evaluators |= dict.fromkeys(ids, _of_evidence_and_claim(evaluator))
            return evaluator

        return register

    def remarks(self, *ids: str) -> Callable[[F], F]:
        """Register a function that returns a remark to add to the verdict, or raises `NotRun`."""

        def register(remark: F) -> F:
            self._remarks |= dict.fromkeys(ids, _of_evidence_and_claim(remark))
            return remark

        return register

    @property
    def ids(self) -> set[str]:
        """Registered ids and patterns."""
        return {f"{self.prefix}.{id}" for id in {*self._evaluators, *self._remarks}}

    def supports(self, claim: Claim, claims: Claims) -> bool:
        """Return True if the claim can be evaluated."""
        registered = _find(self._evaluators, self._name(claim["id"]))
        compared = compared_claims(claim["expression"])
        return bool(
            registered
            or claim["external"] == "yes"
            or (compared and all(id in claims and claims[id]["kind"] == "number" for id in compared))
        )

    def evaluate(self, evidence: Any, claim: Claim, claims: Claims) -> Evaluation:
        """Evaluate a claim.

        Parameters
        ----------
        evidence : object
            Results of a run.
        claim : mapping
            A row of the claims table.
        claims : mapping of str to claim
            All rows by id.

        Raises
        ------
        NotRun
            If the results lack a model or a data set.
        """
        name = self._name(claim["id"])
        if claim["external"] == "yes":
            return Evaluation(QUOTED)
        reason = _find(self._not_comparable, name)
        try:
            if evaluator := _find(self._evaluators, name):
                found = evaluator(evidence, claim)
            else:
                found = evaluate_ordering(claim["expression"], lambda id: self.number(evidence, claims[id]))
        except NotRun as error:  # a claim has the same kind, whatever part of the results is there
            if not reason:
                raise
            return Evaluation(NOT_COMPARABLE, note=joined(reason, str(error)))
        if remark := _find(self._remarks, name):
            with suppress(NotRun):
                found = replace(found, note=joined(found.note, remark(evidence, claim)))
        if reason:
            found = replace(found, verdict=NOT_COMPARABLE, note=joined(reason, found.note), spread=None)
        return found

    def number(self, evidence: Any, claim: Claim) -> Estimate:
        """Measure a number; numbers that the paper quotes, or that are another paper's, count as printed."""
        measure = None if claim["external"] == "yes" else _find(self._numbers, self._name(claim["id"]))
        return measure(evidence, claim) if measure else Estimate(float(claim["value"]))

    def _name(self, id: str) -> str:
        return id.removeprefix(f"{self.prefix}.")


R = TypeVar("R")


def _find(registered: Mapping[str, R], name: str) -> R | None:
    if name in registered:
        return registered[name]
    return next((value for pattern, value in registered.items() if fnmatchcase(name, pattern)), None)


def _of_evidence_and_claim(function: Callable[..., R]) -> Callable[[Any, Claim], R]:
    required = [p for p in signature(function).parameters.values() if p.default is p.empty]
    return function if len(required) > 1 else lambda evidence, claim: function(evidence)
