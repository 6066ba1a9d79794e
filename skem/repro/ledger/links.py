"""Which claims are facts, which repeat another, and what differs enough to be told apart: what a paper's YAML says of its claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from skem.repro.config.documents import refuse

FACT, DEFINITION, MEASUREMENT = "fact", "definition", "measurement"

MARGINS = ("accuracy_gain_pct", "accuracy_loss_pct")
"""Quantities that are differences already."""


@dataclass(frozen=True)
class Links:
    """How claims hang together.

    Attributes
    ----------
    definitions : frozenset of str
        Ids of claims that are counted or settled by the words of the paper alone.
    repeats : mapping of str to str
        From a claim to the first that states the same measurement.
    resolution : mapping of (str, str) to float
        From a data set and a quantity to the largest difference that the paper claims there.
    """

    definitions: frozenset[str]
    repeats: Mapping[str, str]
    resolution: Mapping[tuple[str, str], float]

    def width(self, claim: Mapping[str, str]) -> float | None:
        """How wide an interval may be that still says something: a margin is told from none, a number from others."""
        if claim["quantity"] in MARGINS and claim["value"]:
            return 2 * abs(float(claim["value"]))
        return self.resolution.get((claim["dataset"], claim["quantity"]))

    def basis(self, claim: Mapping[str, str]) -> str:
        """What decides a claim: "fact" (counted in the data), "definition", "theory" or "measurement"; "" if only cited."""
        if claim["external"] == "yes":
            return ""
        if claim["id"] in self.definitions:
            return DEFINITION
        return FACT if claim["method"] == "data" and claim["kind"] == "number" else MEASUREMENT


def read(stated: pd.DataFrame, documents: Mapping[str, Mapping[str, Any]], config: str = "config") -> Links:
    """From the entries ``claims`` of the papers' files.

    Parameters
    ----------
    stated : DataFrame
        ``config/claims.csv``.
    documents : mapping
        By paper, the content of its file.

    Raises
    ------
    ConfigurationError
        With all faults: ids that do not exist, claims linked in a circle, claims of another paper.
    """
    papers = dict(zip(stated["id"], stated["paper"], strict=True))
    rows = stated.set_index("id")[["dataset", "quantity", "value"]].to_dict("index")
    faults: list[str] = []
    definitions: set[str] = set()
    repeats: dict[str, str] = {}
    resolution: dict[tuple[str, str], float] = {}
    for paper, document in documents.items():
        entry, where = document.get("claims", {}), f"{config}/{paper}.yaml: claims"
        named = [("definitions", id) for id in entry.get("definitions", [])]
        named += [("repeats", id) for pair in entry.get("repeats", {}).items() for id in pair]
        named += [("resolution", id) for pair in entry.get("resolution", {}).values() for id in pair]
        faults += [
            f"{where}.{key} names {id!r}, which is no claim of {paper}"
            for key, id in dict.fromkeys(named)
            if papers.get(id) != paper
        ]
        definitions |= {*entry.get("definitions", [])}
        repeats |= entry.get("repeats", {})
        for name, (a, b, *alike) in entry.get("resolution", {}).items():
            if all(papers.get(id) == paper for id in (a, b, *alike)):
                try:
                    apart = abs(float(rows[a]["value"]) - float(rows[b]["value"]))
                except ValueError:
                    faults.append(f"{where}.resolution.{name}: {a!r} and {b!r} are not both numbers")
                else:
                    for id in (a, b, *alike):
                        resolution[rows[id]["dataset"], rows[id]["quantity"]] = apart
    for circle in _circles(repeats):
        paper = papers.get(circle[0], next(iter(documents), ""))
        faults.append(f"{config}/{paper}.yaml: claims.repeats goes in a circle: {' -> '.join(circle)}")
    refuse(faults)
    return Links(frozenset(definitions), {id: _first(id, repeats) for id in repeats}, resolution)


def apart(stated: pd.DataFrame, claim: Mapping[str, str]) -> float:
    """By how much the cells of a table differ that stand beside a claim's: of the same part of it and the same quantity.

    Parameters
    ----------
    stated : DataFrame
        ``config/claims.csv``.
    claim : mapping
        Its id is that of the part, a dot and the cell.
    """
    part = claim["id"].rpartition(".")[0] + "."
    beside = stated["id"].str.startswith(part) & (stated["quantity"] == claim["quantity"])
    values = stated.loc[beside, "value"].astype(float)
    return float(values.max() - values.min())


def _first(id: str, repeats: Mapping[str, str]) -> str:
    while id in repeats:
        id = repeats[id]
    return id


def _circles(repeats: Mapping[str, str]) -> Iterator[list[str]]:
    """Each circle once, from the claim that comes first."""
    seen: set[str] = set()
    for start in repeats:
        path = [start]
        while path[-1] in repeats and path[-1] not in seen:
            seen.add(path[-1])
            path.append(repeats[path[-1]])
        if path[-1] in path[:-1]:
            yield path[path.index(path[-1]) :]
