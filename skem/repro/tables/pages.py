"""Layouts of tables: of pages in ``config/tables/<paper>.yaml``, and of the papers' tables as printed in ``config/redrawn``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

import pandas as pd
from pydantic import Field, RootModel

from skem.repro.config.documents import read_mapping
from skem.repro.config.validation import Strict, Text, parsed, suggestion
from skem.repro.files import plain_errors, read_tables, write_table, write_text
from skem.repro.render.format import MISSING, document


class Table(Strict):
    """A table of texts with {columns}, a row per row of a table of numbers.

    Without ``columns``, there are only heading and text, if the table of numbers has rows. Further columns are ``across``: rows with equal
    ``columns`` become one.
    """

    of: Text  # name of the table of numbers
    each: list[Text] = Field(default_factory=list)  # columns: a table per combination of their values
    heading: str = ""
    text: str = ""
    shown: str = ""  # column that is true for the rows of the table; all by default
    order: list[Text] = Field(default_factory=list)  # columns that rows are sorted by
    columns: dict[str, str] = Field(default_factory=dict)  # texts by heading
    across: str = ""  # heading of a further column
    cell: str = ""  # its text


class Page(Strict):
    """A page: texts with {names}, and tables."""

    title: Text
    blocks: list[str | Table]


class _Filled(Formatter):
    """Fills in a text: a missing number is a dash, but nothing behind "±" or a comma, or in brackets."""

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        if key not in kwargs:
            raise ValueError(f"config/tables names {key!r}; {suggestion(str(key), map(str, kwargs))}")
        return kwargs[str(key)]

    def format_field(self, value: Any, spec: str) -> str:
        if isinstance(value, str) or not pd.isna(value):
            return format(value, spec)
        return MISSING if spec else ""

    def filled(self, text: str, values: Mapping[str, Any]) -> str:
        return re.sub(r" ± -| \(-( ± -)?\)| \[-, -\]|, -$", "", self.vformat(text, (), values))


def read(path: str | Path | None = None) -> dict[str, Page]:
    """Read the pages of a file by name; none without one."""
    return parsed(RootModel[dict[str, Page]], read_mapping(path), [path]).root if path else {}


def render(page: Page, made: Mapping[str, Any]) -> str:
    """Render a page in Markdown from tables of numbers by name, and ``names``, a mapping with those of its texts."""
    blocks: list[Any] = []
    for block in page.blocks:
        if isinstance(block, str):
            blocks.append(_Filled().filled(block, made["names"]))
        else:
            blocks += _parts(block, made[block.of], made["names"])
    return document(_Filled().filled(page.title, made["names"]), *blocks)


def write(job: Any, function: Callable[..., Any], page: str = "") -> None:
    """Call a function with the tables and the settings of a job, Snakemake's object; write the tables that it returns, and their pages.

    Of the inputs, "claims" are the claims as stated, and "pages" the layouts; all others are tables by name. ``page`` is the layout of
    pages that have none with their own name.
    """
    with plain_errors(job.log):
        inputs = {name: [files] if isinstance(files, str) else files for name, files in job.input.items()}
        stated = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in inputs.pop("claims", [])]
        known = read(*inputs.pop("pages", []))
        tables = {name: read_tables(paths) for name, paths in inputs.items()}
        made = function(tables, *stated, job.params.settings)
        for name, path in job.output.items():
            if Path(path).suffix == ".md":
                write_text(path, render(known.get(Path(path).stem) or known[page], made))
            else:
                write_table(path, made[name])


def _parts(block: Table, table: pd.DataFrame, names: Mapping[str, Any]) -> Iterator[Any]:
    if not len(table):
        return
    parts = table.groupby(block.each, sort=False, dropna=False) if block.each else [((), table)]
    for _, part in parts:
        first = {**names, **part.iloc[0]}
        yield _Filled().filled(block.heading, first)
        yield _Filled().filled(block.text, first)
        if block.columns:
            yield _lines(block, part[part[block.shown].astype(bool)] if block.shown else part)


def _lines(block: Table, part: pd.DataFrame) -> pd.DataFrame:
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    ordered = part.sort_values(block.order, kind="stable") if block.order else part
    for place, row in enumerate(ordered.to_dict("records")):
        line = {heading: _Filled().filled(text, row) for heading, text in block.columns.items()}
        key = tuple(line.values()) if block.across else (str(place),)
        lines.setdefault(key, line)
        if block.across:
            lines[key][_Filled().filled(block.across, row)] = _Filled().filled(block.cell, row)
    return pd.DataFrame(lines.values())


class Panel(Strict):
    """A table, or a part of it: labels of rows and columns by the part of a claim's id that they stand for."""

    title: Text
    cells: Text
    rows: dict[str, Text]
    columns: dict[str, Text]


def layouts(paper: str, config: str | Path = "config") -> dict[str, list[Panel]]:
    """Read the panels of each figure of a paper from ``config/redrawn``; none if it has no file."""
    path = Path(config, "redrawn", f"{paper}.yaml")
    return parsed(RootModel[dict[str, list[Panel]]], read_mapping(path), [path]).root if path.exists() else {}
