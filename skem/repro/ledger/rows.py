"""``config/claims/<paper>.yaml``: the claims of a paper in words, what the paper leaves open, and how its claims are measured."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from skem.repro.config.documents import read_mapping
from skem.repro.config.validation import DataSetName, Strict, Text, parsed
from skem.repro.ledger.cells import Metric
from skem.repro.ledger.decisions import DETAILS, RELATIONS, Need
from skem.repro.ledger.estimates import Claim, Unknown, setting_of
from skem.repro.ledger.interpretations import Ambiguities, Ambiguity
from skem.repro.protocols import PROTOCOLS

Term = Any
"""One side of a comparison: a number, the name of a term, "$" and a name, or a mapping.

A mapping has ``metric`` and the columns of a cell, ``claim``, the number of a claim as printed, or a number as ``value``. With ``for`` it is
several terms, of which ``take`` is the ``highest`` or ``lowest`` one. ``minus`` subtracts a term, which has the columns of the first one but
for those that it names; so has the right side of a comparison.
"""

_COMPARED: Any = {
    "for": dict[str, Any],
    "left": Term,
    "relation": Literal[RELATIONS],
    "right": Term,
    "slack": Term,
    "what": Text,
}
Compared = TypedDict("Compared", _COMPARED, total=False)  # type: ignore[misc]

_KEYS: Any = _COMPARED | {
    "says": Text,
    "unit": Text,
    "definition": bool,
    "repeats": Text,
    "settled": Literal[DETAILS],
    "verified": Text,
    "measured_by": Text,
    "number": Term,
    "trials": int,
    "resolution": list[Text] | float | Text,
    "terms": dict[str, Term],
    "compare": list[Compared],
    "if_run": bool,
    "need": Need,
    "function": Text,
    "with": dict[str, Any],
    "note": Text,
    "remark": Text,
    "not_comparable": Text,
    "under": dict[str, dict[str, dict[str, Any]]],
}
Row = TypedDict("Row", _KEYS, total=False)  # type: ignore[misc]
"""A claim in words and its measurement: one of `KINDS`, or none. ``docs/contribute/adding.md`` explains the keys."""


KINDS = ("settled", "verified", "number", "function", "left", "compare")
"""Keys of which a row that measures has one, but for ``left`` beside ``compare``."""


class ClaimsFile(Strict):
    """The file of a paper.

    ``quantities``, ``methods``, ``data_sets`` and ``settings`` are words of the columns of ``config/claims.csv``, ``protocols`` our protocols
    for its words, ``units`` units of differences by quantity. ``names`` are lists of values that rows use, or mappings from values to their
    words; ``target`` measures all metrics.
    """

    quantities: dict[str, Text] = Field(default_factory=dict)
    methods: dict[str, Text] = Field(default_factory=dict)
    data_sets: dict[str, Text] = Field(default_factory=dict)
    settings: dict[str, Text] = Field(default_factory=dict)
    units: dict[str, Text] = Field(default_factory=dict)
    protocols: dict[str, Literal[tuple(PROTOCOLS)]] = Field(default_factory=dict)  # type: ignore[valid-type]
    headlines: list[dict[str, Text]] = Field(default_factory=list)
    interpretations: dict[DataSetName, Ambiguity] = Field(default_factory=dict)
    target: str = ""
    metrics: dict[str, Metric] = Field(default_factory=dict)
    names: dict[str, Any] = Field(default_factory=dict)
    claims: dict[Text, Row] = Field(default_factory=dict)  # type: ignore[valid-type]


NAME = r"\$\w+(\[\w+\])?"
"""A name in a term."""


@dataclass(frozen=True)
class Bound:
    """Values of names that begin with "$" in terms, and their words in texts."""

    values: Mapping[str, Any]
    words: Mapping[str, str]

    def filled(self, value: Any) -> Any:
        """Replace names in a text or a list by their values."""
        if isinstance(value, list):
            return [self.filled(one) for one in value]
        if not isinstance(value, str) or "$" not in value:
            return value
        if re.fullmatch(NAME, value):
            found = self._value(value[1:])
            return list(found) if isinstance(found, Mapping | tuple) else found
        return re.sub(NAME, lambda name: str(self._value(name[0][1:])), value)

    def _value(self, name: str) -> Any:
        """Return the value of a name; of "sizes[dataset]", the entry of ``sizes`` for the value of ``dataset``."""
        name, _, key = name.rstrip("]").partition("[")
        for one in filter(None, (name, key)):
            if one not in self.values:
                raise Unknown.word("name", one, self.values)
        if not key:
            return self.values[name]
        if self.values[key] not in self.values[name]:
            raise Unknown.word(f"entry of {name}", self.values[key], self.values[name])
        return self.values[name][self.values[key]]

    def loops(self, loops: Mapping[str, Any]) -> Iterator[Bound]:
        """Yield a binding per combination of values, the last loop innermost."""
        if not loops:
            yield self
            return
        (name, over), *inner = loops.items()
        for value, word in self._items(over):
            if isinstance(value, tuple):
                values, words = ({name: a, f"{name}_next": b} for a, b in (value, word))
            else:
                values, words = {name: value}, {name: word}
            yield from Bound({**self.values, **values}, {**self.words, **words}).loops(dict(inner))

    def _items(self, over: Any) -> list[tuple[Any, Any]]:
        """List the values of a loop with their words; of ``pairs``, neighbours as tuples."""
        if isinstance(over, Mapping) and {*over} == {"pairs"}:
            items = self._items(over["pairs"])
            return [((a, b), (x, y)) for (a, x), (b, y) in pairwise(items)]
        if isinstance(over, str):
            over = self._value(over)
        if isinstance(over, Mapping):
            return list(over.items())
        return [(value, str(value)) for value in map(self.filled, over)]


def pattern_of(ids: str) -> re.Pattern[str]:
    """Compile a pattern of ids: "*" and "?" as in file names, and wildcards as "{dataset}", which stand for a part between dots."""
    named = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^.]+)", re.escape(ids))
    return re.compile(named.replace(r"\*", ".*").replace(r"\?", "."))


class Rows:
    """The rows of a paper's claims."""

    def __init__(self, file: ClaimsFile, path: str | Path = "") -> None:
        self.file, self.path = file, path
        self._known: dict[tuple[str, ...], tuple[dict[str, Any], dict[str, str]]] = {}

    @property
    def metrics(self) -> dict[str, Metric]:
        """Metrics by name, each with its target."""
        return {
            name: metric if metric.target else metric.model_copy(update={"target": self.file.target})
            for name, metric in self.file.metrics.items()
        }

    @cached_property
    def patterns(self) -> list[tuple[str, re.Pattern[str], dict[str, Any]]]:
        """Patterns and rows, exact ids first."""
        found = [
            (text, pattern_of(text), dict(row))
            for ids, row in self.file.claims.items()
            for text in ids.split(", ")
        ]
        return sorted(found, key=lambda one: any(sign in one[0] for sign in "*?{"))

    def row(self, claim: Claim) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the keys of a claim's rows, and the values of its columns and wildcards.

        The first row that measures counts, exact ids before patterns, and rows that measure nothing: of several that have a key, the
        first; reasons and remarks of all. A claim without a row that measures is measured as the one that it repeats.
        """
        key = tuple(claim[column] for column in ("id", *COLUMNS, "setting"))
        if key not in self._known:
            self._known[key] = self._row(claim)
        return self._known[key]

    def _row(self, claim: Claim) -> tuple[dict[str, Any], dict[str, str]]:
        row: dict[str, Any] = {"remark": [], "not_comparable": []}
        values = {key: claim[key] for key in COLUMNS} | setting_of(claim)
        name = claim["id"].partition(".")[2]
        repeated: Any = self.file.claims.get(name, {})
        for id in (name, repeated.get("repeats", "")):
            for text, pattern, own in self.patterns:
                found, measures = pattern.fullmatch(id), bool({*KINDS} & {*own})
                if found is None or (measures and {*KINDS} & {*row}) or (id != name and not measures):
                    continue
                if measures:
                    values, row["row"] = values | found.groupdict(), text
                joined = {key: [*row[key], own[key]] if key in own else row[key] for key in JOINED}
                row = {**own, **row, **joined}
        return row, values

    def ambiguities(self, claim: Claim) -> Ambiguities:
        """Return the ambiguities that a claim depends on."""
        name = claim["id"].partition(".")[2]
        return {key: one for key, one in self.file.interpretations.items() if one.affects(name)}


COLUMNS = ("dataset", "method", "quantity", "value")
"""Columns of a claim whose values rows use."""

JOINED = ("remark", "not_comparable")
"""Keys that are joined, if several rows of a claim have them."""


def read(config: str | Path = "config") -> dict[str, Rows]:
    """Read the files of all papers, and the words that they share; `ConfigurationError` with the faults of the first wrong one."""
    paths = sorted(Path(config, "claims").glob("*.yaml"))
    return {path.stem: _read(path, path.stat().st_mtime_ns) for path in paths}


@cache
def _read(path: Path, changed: int) -> Rows:
    return Rows(parsed(ClaimsFile, read_mapping(path), [path]), path)
