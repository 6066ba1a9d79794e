"""Numbers in prose, each taken from a table of the reference run through a placeholder.

A placeholder is a pair of comments, which no reader sees, around what it stands for:

    <!-- = fixed(cell("table1", "nested", dataset="rice"), 1) -->92.3<!-- = -->

Its expression is Jinja's, without "|", which would end a cell of a table. See `Reference` for what it may ask for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, StrictUndefined, TemplateError

from skem.repro.config.documents import refuse
from skem.repro.ledger import summary
from skem.repro.names import NAMES

PLACEHOLDER = re.compile(r"<!-- = (.+?) -->(.*?)<!-- = -->", re.DOTALL)
PAGES = ("README.md", "docs/reproduce/findings/*.md", "docs/use/*.md")
"""Where they stand."""


HEADLINE = r"pulford\.table1\.\w+\.p?skem_accuracy"
"""Ids of the accuracies in Table 1 of Pulford (2022)."""


class Reference:
    """The tables of a finished run, as an expression may ask for them.

    Parameters
    ----------
    folder : path
        ``results/reference``.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._table = lru_cache(maxsize=None)(self._read)

    def _read(self, name: str) -> pd.DataFrame:
        path = self.folder / (f"{name}.csv" if "/" in name or name == "readings" else f"tables/{name}.csv")
        if name == "claims":
            paths = [self.folder / "claims.csv", self.folder / "claims_timing.csv"]
            return pd.concat([summary.read(path) for path in paths], ignore_index=True)
        if not path.exists():
            raise LookupError(f"there is no table {path}")
        # As printed, so that "1e-6" stays a name; numbers are made where they are asked for.
        return pd.read_csv(path, dtype=str, keep_default_na=False)

    def cells(self, table: str, column: str, **where: Any) -> list[Any]:
        """A column of the rows that have these values, as numbers if they all are."""
        found = self._table(table)
        for key in (column, *where):
            if key not in found:
                raise LookupError(f"{table} has no column {key!r}; it has {', '.join(found)}")
        for key, value in where.items():
            found = found[_same(found[key], value)]
        numbers = pd.to_numeric(found[column], errors="coerce")
        return (found[column] if numbers.isna().any() else numbers).tolist()

    def cell(self, table: str, column: str, **where: Any) -> Any:
        """The same of the one row that has these values."""
        found = self.cells(table, column, **where)
        if len(found) != 1:
            raise LookupError(f"{table} has {len(found)} rows with {where}")
        return found[0]

    def claim(self, id: str, column: str = "measured") -> Any:
        """Of a claim, what was measured."""
        return self.cell("claims", column, id=id)

    def told(self, id: str, pattern: str) -> str:
        """What a pattern finds in the remark on a claim, or what its group does."""
        remark = self.claim(id, "remark")
        found = re.search(pattern, remark)
        if not found:
            raise LookupError(f"the remark on {id} has nothing like {pattern!r}: {remark}")
        return found[1] if found.groups() else found[0]

    def count(self, **where: Any) -> int:
        """How many claims have these values; ``kind_of_claim`` is one of `summary.KINDS`."""
        table = self._table("claims")
        if "kind_of_claim" in where:
            table = table[summary.kinds(table) == where.pop("kind_of_claim")]
        for key, value in where.items():
            table = table[table[key] == value]
        return len(table)

    def mean(self, table: str, column: str, **where: Any) -> float:
        """Of the rows that have these values."""
        found = self.cells(table, column, **where)
        if not found:
            raise LookupError(f"{table} has no rows with {where}")
        return float(sum(found) / len(found))

    def whole(self, dataset: str, start: str, n_components: int) -> float:
        """Accuracy of one block from a start, best pass."""
        return float(max(self._by_start(dataset, start, n_components, one_block=True)))

    def best(self, dataset: str, start: str, n_components: int) -> float:
        """Accuracy of the best partition into several."""
        return float(max(self._by_start(dataset, start, n_components, one_block=False)))

    def advantage(self, dataset: str, start: str, n_components: int) -> float:
        """By how much the best partition is ahead of one block."""
        return self.best(dataset, start, n_components) - self.whole(dataset, start, n_components)

    def _by_start(self, dataset: str, start: str, n_components: int, one_block: bool) -> list[float]:
        where = {"dataset": dataset, "method": start, "n_components": n_components, "protocol": "best-pass"}
        table = self._table("figures/advantage")
        for key, value in where.items():
            table = table[_same(table[key], value)]
        table = table[(table["n_blocks"].astype(int) == 1) == one_block]
        if not len(table):
            raise LookupError(f"figures/advantage has no rows with {where}")
        return table["accuracy"].astype(float).tolist()

    def headlines(self, *verdicts: str) -> str:
        """The data sets of Table 1 of Pulford (2022) whose accuracies have one of these verdicts.

        "depends" stands for those whose verdict another reading turns, which belong to no other.
        """
        table = self._table("claims")
        own = table[table["id"].str.fullmatch(HEADLINE)]
        kind = own["verdict"].mask(own["depends_on"] != "", "depends")
        names = [NAMES[name] for name in own.loc[kind.isin(verdicts), "dataset"]]
        return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names) or "none"

    def departures(self, paper: str) -> int:
        """How many measurements differ from the paper or fail."""
        return sum(
            self.count(paper=paper, kind_of_claim="measured", verdict=verdict)
            for verdict in ("worse", "better", "higher", "lower", "fails")
        )

    def accuracies(self) -> str:
        """Table 1 of Pulford (2022), in Markdown: what the ledger judges, and what is better measured."""
        table = self._table("claims")
        judged = table[table["id"].str.fullmatch(HEADLINE)].set_index("dataset")
        lines = [
            "",
            "| data set | paper | as the paper reports it | verdict | nested | conventional |",
            "|---|---|---|---|---|---|",
        ]
        for row in self._table("table1").to_dict("records"):
            claim = judged.loc[row["dataset"]]
            verdict = " and depends on ".join(filter(None, [claim["verdict"], claim["depends_on"]]))
            ends = (float(row[f"nested{end}"]) for end in ("", "_low", "_high"))
            best = f"{float(row['best_accuracy']):.2f}, {NAMES[row['best_method']]}"
            shown = [
                claim["value"],
                fixed(claim["measured"], 2),
                verdict,
                "{:.2f} [{:.2f}, {:.2f}]".format(*ends),
            ]
            lines.append(f"| {' | '.join([NAMES[row['dataset']], *shown, best])} |")
        return "\n".join([*lines, ""])

    def verdicts(self, paper: str) -> str:
        """How many measurements have which verdict, and what the other claims are, in Markdown."""
        table = summary.counts(self._table("claims"))
        row = table[table["paper"] == paper].iloc[0].drop("paper")
        row = row[row != 0]
        return f"\n{pd.DataFrame([row]).to_markdown(index=False)}\n"


def _same(column: pd.Series, value: Any) -> pd.Series:
    """Where a column as printed has a value; numbers may be printed otherwise."""
    return column == value if isinstance(value, str) else pd.to_numeric(column, errors="coerce") == value


def fixed(number: Any, digits: int = 1) -> str:
    """With so many decimals."""
    return f"{float(number):.{digits}f}"


def signed(number: Any, digits: int = 1) -> str:
    """The same with its sign."""
    return f"{float(number):+.{digits}f}"


def refreshed(text: str, where: str, reference: Reference) -> tuple[str, list[str]]:
    """A text with every placeholder's value as the tables have it, and what is wrong with placeholders.

    Parameters
    ----------
    text : str
    where : str
        What to call it.
    reference : Reference
    """
    environment = Environment(undefined=StrictUndefined)
    names: dict[str, Callable[..., Any]] = {
        name: getattr(reference, name)
        for name in dir(reference)
        if not name.startswith("_") and callable(getattr(reference, name))
    }
    names |= {f.__name__: f for f in (fixed, signed, max, min, abs, len, sum)}
    faults = []

    def value(found: re.Match[str]) -> str:
        expression = found[1]
        try:
            shown = environment.compile_expression(expression, undefined_to_none=False)(**names)
            if shown is None or not str(shown):
                raise LookupError("it stands for nothing")
        except (TemplateError, LookupError, TypeError, ValueError) as error:
            line = text.count("\n", 0, found.start()) + 1
            faults.append(f"{where}, line {line}: {expression}: {error.args[0] if error.args else error}")
            return found[0]
        return f"<!-- = {expression} -->{shown}<!-- = -->"

    new = PLACEHOLDER.sub(value, text)
    if text.count("<!-- = ") != 2 * len(PLACEHOLDER.findall(text)):
        faults.append(f"{where}: a placeholder without an end, or an end without one")
    return new, faults


def plain(text: str) -> str:
    """What a reader sees of a page: values without their placeholders, words without links, no pictures."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text))


def pages(project: str | Path) -> Iterable[Path]:
    """The files that have placeholders."""
    return sorted(path for pattern in PAGES for path in Path(project).glob(pattern))


def refresh(project: str | Path) -> dict[Path, str]:
    """The pages that the tables of ``results/reference`` change, with their new text.

    Raises
    ------
    ConfigurationError
        With all faults, where a placeholder names what is not there.
    """
    reference = Reference(Path(project) / "results/reference")
    changed, faults = {}, []
    for path in pages(project):
        text = path.read_text(encoding="utf-8")
        new, wrong = refreshed(text, str(path.relative_to(project)), reference)
        faults += wrong
        if new != text:
            changed[path] = new
    refuse(faults)
    return changed
