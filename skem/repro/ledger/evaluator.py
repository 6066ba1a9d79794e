"""The evaluator of claims: rows of ``config/claims/<paper>.yaml`` on the results of a run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from skem.repro.ledger.cells import Evidence
from skem.repro.ledger.decisions import (
    NOT_COMPARABLE,
    QUOTED,
    VERIFIED,
    Comparison,
    Evaluation,
    decide,
    evaluate_number,
    evaluate_spread,
    joined,
    related,
)
from skem.repro.ledger.estimates import Claim, Estimate, NotRun, Unknown
from skem.repro.ledger.interpretations import Interpretation
from skem.repro.ledger.rows import KINDS, Bound, Rows

SEVERAL = ("for", "as", "each", "take")
OF_TERMS = (*SEVERAL, "minus", "claim")
"""Keys of a term that are no columns of a cell; those of several terms."""

TAKEN: dict[str, Any] = {"highest": max, "lowest": min}
"""Terms that ``take`` takes of several."""


class Listed(dict[str, Any]):
    """Terms by name, which a text lists: "{errors:.2f}" is "LDA 8.10, QDA 7.90", and with ":.2f" "LDA: 8.10".

    Terms by two names are listed by the first one: "{errors:.2f| and |; }" is "LDA 8.10 and 7.20; QDA 7.90 and 7.00". A unit may
    follow the format: "{seconds:.0f s}". "{accuracies.best:.2f}" is the one with the largest mean.
    """

    missing: str = ""
    """Names without results."""

    @property
    def best(self) -> Listed:
        """The term with the largest mean, with its name."""
        name = max(self, key=lambda name: self[name].mean)
        return Listed({name: self[name]})

    def __format__(self, form: str) -> str:
        if not form:
            return ", ".join(self)
        listing, *separators = form.split("|")
        within, between = [*separators, ", ", ", "][:2]
        colon, number, unit = re.fullmatch(r"(:?)(\W*\d*[a-z])(.*)", listing).groups()  # type: ignore[union-attr]

        def one(value: Any) -> str:
            if isinstance(value, Listed):
                return within.join(map(one, value.values()))
            return format(value, number) + unit

        return between.join(f"{name}{colon} {one(value)}" for name, value in self.items())


@dataclass
class Evaluator:
    """Evaluates the claims of a paper."""

    rows: Rows
    evidence: Evidence
    claims: Mapping[str, Claim]  # all rows of config/claims.csv by id
    names: Mapping[str, Any]  # names of the rows, and those that the paper's settings define

    def evaluate(self, claim: Claim, interpretation: Interpretation | None = None) -> Evaluation:
        """Evaluate a claim; `NotRun` if the results lack a model or a data set."""
        if claim["external"] == "yes":
            return Evaluation(QUOTED)
        own = self._measuring(claim, interpretation or Interpretation())
        reason = joined(*own.row["not_comparable"])
        try:
            if not {*KINDS} & {*own.row}:
                raise Unknown("no row measures it")
            found = own.evaluated()
        except Unknown as error:
            raise Unknown(f"{self.rows.path}: claims.{own.row.get('row', claim['id'])}: {error}") from error
        except NotRun as error:  # a claim has the same kind, whatever part of the results is there
            if not reason:
                raise
            return Evaluation(NOT_COMPARABLE, note=joined(reason, str(error)))
        for remark in own.row["remark"]:
            with suppress(NotRun):
                found = replace(found, note=joined(found.note, own.text(remark)))
        if reason:
            found = replace(found, detail=NOT_COMPARABLE, note=joined(reason, found.note), spread=None)
        return found

    def _measuring(self, claim: Claim, interpretation: Interpretation) -> _Measuring:
        row, values = self.rows.row(claim)
        for ambiguity, choices in row.get("under", {}).items():
            own = choices.get(interpretation.choices.get(ambiguity, ""), {})
            replaced = KINDS if {*KINDS} & {*own} else ()
            row = {key: value for key, value in row.items() if key not in replaced} | own
        bound = Bound({**self.names, **values}, values)
        return _Measuring(claim, row, bound, replace(self.evidence, interpretation=interpretation), self)


@dataclass
class _Measuring:
    """A claim, its row and the results it is measured on."""

    claim: Claim
    row: Mapping[str, Any]
    bound: Bound
    evidence: Evidence
    evaluator: Evaluator
    _terms: dict[str, Any] = field(default_factory=dict)
    _missing: list[NotRun] = field(default_factory=list)

    def evaluated(self) -> Evaluation:
        """Evaluate the row."""
        row = self.row
        if "verified" in row:
            return Evaluation(VERIFIED, note=row["verified"])
        if "settled" in row:
            if row["settled"] == "not run":
                raise NotRun(self.text(row["note"]))
            return Evaluation(
                row["settled"], protocol=row.get("measured_by", ""), note=self.text(row.get("note", ""))
            )
        if "function" in row:
            function = self.evidence.functions.get(row["function"])
            if function is None:
                raise Unknown.word("function", row["function"], self.evidence.functions)
            given = {key: self.bound.filled(value) for key, value in row.get("with", {}).items()}
            return self._at_resolution(function(self.evidence, self.claim, **given))
        if "number" in row:
            return self._number()
        compared = [one for group in row.get("compare", [{}]) for one in self._comparisons({**row, **group})]
        if not compared:
            raise self._missing[0]
        return decide(compared, row.get("need", "all"), self.text(row.get("note", "")))

    def _number(self) -> Evaluation:
        estimate = self.term(self.row["number"], self.bound)
        if "note" in self.row:
            estimate = replace(estimate, note=joined(estimate.note, self.text(self.row["note"])))
        trials = {"trials": str(self.row["trials"])} if "trials" in self.row else {}
        found = evaluate_number({**self.claim, **trials}, estimate)
        if estimate.spread or not trials:  # else runs are other trials than the paper's
            found = replace(found, spread=evaluate_spread(self.claim, estimate))
        return self._at_resolution(found)

    def _at_resolution(self, found: Evaluation) -> Evaluation:
        """Withdraw an outcome if the interval is wider than the row says: than a number, or the range of the numbers of some claims."""
        resolution = self.bound.filled(self.row.get("resolution"))
        if resolution is None or found.detail != "reproduced":
            return found
        if isinstance(resolution, list):
            patterns = [f"{self.claim['id'].partition('.')[0]}.{pattern}" for pattern in resolution]
            values = [
                float(claim["value"])
                for id, claim in self.evaluator.claims.items()
                if claim["kind"] == "number" and any(fnmatchcase(id, pattern) for pattern in patterns)
            ]
            resolution = max(values) - min(values)
        return found.at_resolution(float(resolution))

    def _comparisons(self, group: Mapping[str, Any]) -> Iterator[Comparison]:
        for bound in self.bound.loops(group.get("for", {})):
            with self._if_run():
                left, right = group["left"], group["right"]
                a, b = self.term(left, bound), self.term(right, bound, left)
                slack = self.term(group.get("slack", 0), bound).mean
                what = self.text(group.get("what", ""), bound)
                yield from related(a, group.get("relation", ">"), b, slack, what)

    @contextmanager
    def _if_run(self) -> Iterator[None]:
        try:
            yield
        except NotRun as error:
            if not self.row.get("if_run"):
                raise
            self._missing.append(error)

    def term(self, term: Any, bound: Bound, first: Any = None) -> Any:
        """Estimate a term; ``first`` is the one that it is compared with or subtracted from."""
        term = bound.filled(term)
        if isinstance(term, str) and term in self.row.get("terms", {}):
            return self._named(term)
        if isinstance(term, str) and not term.replace(".", "", 1).isdigit():
            raise Unknown.word("term", term, self.row.get("terms", {}))
        if not isinstance(term, Mapping):
            return Estimate(float(term))
        if "for" in term:
            return self._several(term, bound, first)
        if "claim" in term:
            found = self._printed(term["claim"])
        elif "value" in term:
            found = Estimate(float(bound.filled(term["value"])))
        else:
            term = _completed(term, first)
            cell = {key: bound.filled(value) for key, value in term.items() if key not in OF_TERMS}
            found = self.evidence.estimate(**cell)
        return found - self.term(term["minus"], bound, term) if "minus" in term else found

    def _several(self, term: Mapping[str, Any], bound: Bound, first: Any) -> Any:
        one = {key: value for key, value in term.items() if key not in SEVERAL}
        loops, inner = term["for"], term.get("each", {})
        if "as" not in term:
            (name, over), *others = loops.items()
            loops, inner = {name: over}, dict(others)
        if inner:
            one["for"] = inner
        found, missing = Listed(), []
        for each in bound.loops(loops):
            word = self.text(term["as"], each) if "as" in term else each.words[name]
            missing.append(word)
            with self._if_run():
                value = self.term(one, each, first)
                if isinstance(value, Listed) and value.missing:
                    raise NotRun(f"{value.missing} of {word} was not part of this run")
                found[word] = value
                missing.remove(word)
        found.missing = ", ".join(missing)
        if "take" not in term:
            return found
        if term["take"] not in TAKEN:
            raise Unknown.word("take", term["take"], TAKEN)
        return TAKEN[term["take"]](found.values(), key=lambda e: e.mean)

    def _printed(self, id: str) -> Estimate:
        claims = self.evaluator.claims
        if not claims.get(id, {}).get("value"):
            raise Unknown.word(
                "number", id, [id for id, claim in claims.items() if claim["kind"] == "number"]
            )
        return Estimate(float(claims[id]["value"]))

    def _named(self, name: str) -> Any:
        if name not in self._terms:
            self._terms[name] = self.term(self.row["terms"][name], self.bound)
        return self._terms[name]

    def text(self, form: str, bound: Bound | None = None) -> str:
        """Fill in the terms and names of a text."""
        return form.format_map(_Words(self, bound or self.bound)) if "{" in form else form


class _Words(dict[str, Any]):
    def __init__(self, measuring: _Measuring, bound: Bound) -> None:
        super().__init__(bound.words)
        self.measuring, self.bound = measuring, bound

    def __missing__(self, name: str) -> Any:
        if name in self.measuring.row.get("terms", {}):
            return self.measuring._named(name)
        if name not in self.bound.values:
            raise Unknown.word("name", name, [*self.measuring.row.get("terms", {}), *self.bound.values])
        return self.bound.values[name]


def _completed(term: Mapping[str, Any], first: Any) -> Mapping[str, Any]:
    """Add the columns of the first of two terms to those of the second."""
    if "metric" in term or not isinstance(first, Mapping):
        return term
    return {key: value for key, value in first.items() if key not in OF_TERMS} | dict(term)
