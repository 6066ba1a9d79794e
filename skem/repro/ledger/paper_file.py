"""The entries ``claims`` and ``readings`` of a paper's file."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from skem.repro.config.validation import DataSetName, Distinct, Strict, Text


class Claims(TypedDict, total=False):
    """Relations between claims.

    ``definitions`` are settled by counting or by words; ``repeats`` leads from a claim to one that states the same
    measurement; ``resolution`` has two numbers whose difference is the largest that the paper claims of a data set, and other
    claims that share it.
    """

    definitions: Distinct[Text]
    repeats: dict[Text, Text]
    resolution: dict[str, Annotated[list[Text], Field(min_length=2)]]


class Option(TypedDict):
    """An option of a reading; ``instead`` maps data set/method to the one that is looked up instead."""

    label: Text
    instead: NotRequired[dict[str, Text]]


class Reading(TypedDict):
    """Something that the paper leaves open.

    ``about`` follows "depends on"; ``open`` is what the paper leaves unsaid; ``default`` is the option nearest the text;
    ``claims`` are patterns of the claims it touches.
    """

    about: Text
    open: Text
    default: Text
    because: Text
    claims: Distinct[Text]
    options: Annotated[dict[str, Option], Field(min_length=2)]


class PaperFile(Strict):
    """The entries of ``config/<paper>.yaml`` about its claims."""

    claims: Claims | None = None
    readings: dict[DataSetName, Reading] = Field(default_factory=dict)
