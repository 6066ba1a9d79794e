"""Checks of the rows of claims before any job: an evaluation on the cells that the configuration declares, without results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from inspect import signature
from itertools import product
from typing import Any, Self

import pandas as pd

from skem.repro.config.documents import refuse
from skem.repro.config.validation import suggestion, unknown
from skem.repro.ledger.cells import ALL, FUNCTIONS, Evidence, text
from skem.repro.ledger.decisions import compared_claims
from skem.repro.ledger.estimates import Claim, Estimate, NotRun
from skem.repro.ledger.evaluator import Evaluator
from skem.repro.ledger.interpretations import Interpretation
from skem.repro.ledger.rows import KINDS, Unknown


class Declared(Evidence):
    """The cells that the configuration declares: every estimate is one, if there is such a cell."""

    def estimate(self, metric: str, **cell: Any) -> Estimate:
        """Return one for a cell that some run has; `Unknown` for any other. Without cells, metrics and functions are checked."""
        if metric in self.functions:
            _check_call(metric, self.functions[metric], cell)
            known = {} if metric in FUNCTIONS else self.values[""]
        elif metric in self.metrics and not self.tables:
            return Estimate(1.0)
        elif metric in self.metrics:
            cell = {**self.metrics[metric].cell, **cell}
            known = self.values.get(self.metrics[metric].table, {})
            for column in cell:
                if column not in known:
                    raise Unknown.word(f"column of {metric}", column, known)
        else:
            raise Unknown.word("metric", metric, [*self.metrics, *self.functions])
        for column, value in cell.items():
            for one in map(text, value if isinstance(value, list) else [value]):
                if column in known and one not in {*known[column], ALL}:
                    raise Unknown.word(column, one, known[column])
        if metric in self.metrics:
            lists = [value if isinstance(value, list) else [value] for value in cell.values()]
            for values in product(*lists):
                try:
                    self._places(metric, self.metrics[metric].table, dict(zip(cell, values, strict=True)))
                except NotRun as error:
                    raise Unknown(f"no run has {str(error).partition(' was not part')[0]}") from error
        return Estimate(1.0)

    def under(self, interpretation: Interpretation) -> Self:
        """Return the same cells: those that replace others are checked with the ambiguities."""
        return self

    @cached_property
    def values(self) -> dict[str, dict[str, dict[str, None]]]:
        """Values by table and column; of "", those of all tables."""
        found: dict[str, dict[str, dict[str, None]]] = {"": {}}
        for name, table in self.tables.items():
            found[name] = {column: dict.fromkeys(map(text, table[column].unique())) for column in table}
            for column, values in found[name].items():
                found[""][column] = found[""].get(column, {}) | values
        return found


def _check_call(name: str, function: Any, given: Mapping[str, Any], *first: object) -> None:
    parameters = signature(function).parameters
    known = list(parameters)[1 + len(first) :]
    if not any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        for key in given:
            if key not in known:
                raise Unknown.word(f"argument of {name}", key, known)
        for key in known:
            if parameters[key].default is parameters[key].empty and key not in given:
                raise Unknown(f"{name} needs {key}; it takes {', '.join(known)}")


class Check(Evaluator):
    """Evaluates rows without results."""

    EVIDENCE = Declared

    def called(self, evidence: Evidence, claim: Any, function: str, given: Mapping[str, Any]) -> Any:
        """Check the call of a function."""
        if function not in evidence.functions:
            raise Unknown.word("function", function, evidence.functions)
        _check_call(function, evidence.functions[function], given, claim)
        raise NotRun("functions have no results here")


def check(evaluator: Evaluator, own: pd.DataFrame) -> None:
    """Check the rows of a paper's claims by a `Check` on the cells that the configuration declares.

    `ConfigurationError` has all faults: claims without a row and rows without a claim; unknown names, metrics, functions, columns, values
    and choices.
    """
    claims, rows, path = own.to_dict("records"), evaluator.rows, evaluator.rows.path
    ids = [claim["id"].partition(".")[2] for claim in claims]
    faults = []
    for pattern, row in rows.patterns:
        where = f"{path}: claims.{pattern.text}"
        if not any(pattern.match(id) is not None for id in ids):
            faults.append(f"{where}: there is no such claim; {suggestion(pattern.text, ids)}")
        if len(kinds := [kind for kind in KINDS if kind in row]) > 1 and kinds != ["left", "compare"]:
            faults.append(f"{where} has {' and '.join(kinds)}; a claim is measured in one way")
        if (repeated := row.get("repeats", ids[0])) not in ids:
            faults.append(f"{where}.repeats names {repeated!r}; {suggestion(repeated, ids)}")
        for name, choices in row.get("under", {}).items():
            known = rows.file.interpretations[name].choices if name in rows.file.interpretations else {}
            faults += unknown(choices, known, f"{where}.under.{name}")
    refuse(faults)
    refuse(
        [fault for claim in claims if claim["external"] != "yes" for fault in _faults_of(claim, evaluator)]
    )


def _faults_of(claim: Claim, evaluator: Evaluator) -> Iterator[str]:
    """Yield the faults of a claim's measurement, under each choice that changes its row."""
    row, _ = evaluator.rows.row(claim)
    where = f"{evaluator.rows.path}: claims.{row.get('row', claim['id'].partition('.')[2])}"
    compared = compared_claims(claim["expression"])
    if not {*KINDS} & {*row} and (
        not compared or any(evaluator.claims.get(id, {}).get("kind") != "number" for id in compared)
    ):
        yield f"{evaluator.rows.path}: no row measures {claim['id']}, and its expression compares no [ids of numbers]"
        return
    if "number" in row and claim["kind"] != "number":
        yield f"{where} measures a number, and {claim['id']} is of kind {claim['kind']}"
        return
    for made in [{}, *({name: choice} for name, own in row.get("under", {}).items() for choice in own)]:
        try:
            evaluator.evaluate(claim, Interpretation(made))
        except NotRun:
            pass
        except Unknown as error:
            yield f"{where}: {error}"
        except KeyError as error:
            yield f"{where}: {error.args[0]} is missing"
