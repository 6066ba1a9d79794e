"""Relations between claims, from the papers' files: definitions, repeated claims, and differences that the paper claims."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import Field
from typing_extensions import TypedDict

from skem.repro.config.documents import refuse
from skem.repro.config.validation import DataSetName, Distinct, Strict, Text
from skem.repro.ledger.estimates import Claim
from skem.repro.ledger.interpretations import Ambiguity
from skem.repro.ledger.verdicts import VERIFIED

PROPERTY, DEFINITION, MEASUREMENT = "data-set property", "definition", "measurement"

MARGINS = ("accuracy_gain_pct", "accuracy_loss_pct")
"""Quantities that are differences already."""


class Relations(TypedDict, total=False):
    """The entry ``claims`` of a paper's file.

    ``definitions`` are patterns of claims decided by counting or by words. ``repeats`` leads from a claim to one of the same measurement.
    ``resolution`` names two numbers whose difference is the largest that the paper claims of a data set, and other claims that
    share it.
    """

    definitions: Distinct[Text]
    repeats: dict[Text, Text]
    resolution: dict[str, Annotated[list[Text], Field(min_length=2)]]


class PaperFile(Strict):
    """The entries of ``config/<paper>.yaml`` about its claims."""

    claims: Relations = Field(default_factory=Relations)
    interpretations: dict[DataSetName, Ambiguity] = Field(default_factory=dict)


@dataclass(frozen=True)
class Links:
    """Relations between claims.

    Attributes
    ----------
    definitions : set of str
        Claims that the words of the paper decide, or counting.
    repeats : mapping of str to str
        From a claim to the first one of the same measurement.
    resolution : mapping of (str, str) to float
        From a data set and a quantity to the largest difference that the paper claims there.
    """

    definitions: set[str] = field(default_factory=set)
    repeats: dict[str, str] = field(default_factory=dict)
    resolution: dict[tuple[str, str], float] = field(default_factory=dict)

    def width(self, claim: Claim) -> float | None:
        """Return the widest interval that decides a claim; None for any width."""
        if claim["quantity"] in MARGINS and claim["value"]:
            return abs(float(claim["value"]))
        return self.resolution.get((claim["dataset"], claim["quantity"]))

    def basis(self, claim: Claim, verdict: str) -> str:
        """Return the basis of a verdict; empty for quoted results."""
        if verdict == VERIFIED or claim["external"] == "yes":
            return VERIFIED if verdict == VERIFIED else ""
        if claim["id"] in self.definitions:
            return DEFINITION
        return PROPERTY if claim["method"] == "data" and claim["kind"] == "number" else MEASUREMENT


def read(stated: pd.DataFrame, documents: Mapping[str, Relations], config: str | Path = "config") -> Links:
    """Read the relations in the papers' files.

    Parameters
    ----------
    stated : DataFrame
        ``config/claims.csv``.
    documents : mapping
        The entry ``claims`` of each paper's file.

    Raises
    ------
    ConfigurationError
        With all faults: unknown claims, claims of another paper, repetitions of a repeated claim.
    """
    claims = stated.set_index("id", drop=False).to_dict("index")
    links, faults = Links(), []
    for paper, entry in documents.items():
        where = f"{config}/{paper}.yaml: claims"
        definitions, repeats = entry.get("definitions", []), entry.get("repeats", {})
        resolution = entry.get("resolution", {})
        own = list(stated.loc[stated["paper"] == paper, "id"])
        links.definitions.update(id for pattern in definitions for id in fnmatch.filter(own, pattern))
        links.repeats.update(repeats)
        named = [("definitions", id) for id in definitions]
        named += [("repeats", id) for pair in repeats.items() for id in pair]
        named += [("resolution", id) for ids in resolution.values() for id in ids]
        faults += [
            f"{where}.{key} names {id!r}, which is no claim of {paper}"
            for key, id in named
            if not fnmatch.filter(own, id)
        ]
        faults += [
            f"{where}.repeats leads to {id!r}, which repeats a claim itself"
            for id in repeats.values()
            if id in repeats
        ]
        for name, ids in resolution.items():
            first, second = (claims.get(id, {}).get("value", "0") for id in ids[:2])
            try:
                difference = abs(float(first) - float(second))
            except ValueError:
                faults.append(f"{where}.resolution.{name}: {ids[0]!r} and {ids[1]!r} are not both numbers")
                continue
            known = [claims[id] for id in ids if id in claims]
            links.resolution.update({(one["dataset"], one["quantity"]): difference for one in known})
    refuse(faults)
    return links
