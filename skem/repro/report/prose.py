"""Numbers in prose, each computed from the tables of the reference run by a placeholder.

A placeholder is a pair of comments, invisible to readers, around its value:

    <!-- = fixed(cell("table1", "nested", dataset="rice"), 1) -->92.3<!-- = -->

The expression is Jinja's, without "|", which would end a cell of a table. It may use the methods of `Reference`, `fixed`,
`signed`, and max, min, abs, len and sum.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, StrictUndefined, TemplateError

from skem.repro.config.documents import refuse
from skem.repro.ledger import summary
from skem.repro.names import NAMES
from skem.repro.render.format import interval, number, table

PLACEHOLDER = re.compile(r"<!-- = (.+?) -->(.*?)<!-- = -->", re.DOTALL)
PAGES = ("README.md", "docs/reproduce/findings/*.md", "docs/use/*.md")

TABLE1 = r"pulford\.table1\.\w+\.p?skem_accuracy"
"""Ids of the accuracies in Table 1 of Pulford (2022)."""


def fixed(value: Any, digits: int = 1) -> str:
    """Format with this many decimals."""
    return number(float(value), digits)


def signed(value: Any, digits: int = 1) -> str:
    """Format with sign and this many decimals."""
    return number(float(value), f"+.{digits}f")


class Reference:
    """Queries of the tables of a finished run, for expressions.

    Parameters
    ----------
    folder : path
        ``results/reference``.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._table = cache(self._read)

    def _read(self, name: str) -> pd.DataFrame:
        if name == "claims":
            paths = [self.folder / "claims.csv", self.folder / "claims_timing.csv"]
            return pd.concat([summary.read(path) for path in paths], ignore_index=True)
        path = self.folder / (f"{name}.csv" if "/" in name else f"tables/{name}.csv")
        if not path.exists():
            raise LookupError(f"there is no table {path}")
        # As strings, so that "1e-6" stays a name; `cells` converts numbers.
        return pd.read_csv(path, dtype=str, keep_default_na=False)

    def cells(self, table: str, column: str, **where: Any) -> list[Any]:
        """Values of a column in the rows with these values, as numbers if all of them are."""
        found = self._table(table)
        for key in (column, *where):
            if key not in found:
                raise LookupError(f"{table} has no column {key!r}; it has {', '.join(found)}")
        for key, value in where.items():
            # A number may be printed in another way.
            own = found[key] if isinstance(value, str) else pd.to_numeric(found[key], errors="coerce")
            found = found[own == value]
        numbers = pd.to_numeric(found[column], errors="coerce")
        return (found[column] if numbers.isna().any() else numbers).tolist()

    def cell(self, table: str, column: str, **where: Any) -> Any:
        """The value of a column in the only row with these values."""
        found = self.cells(table, column, **where)
        if len(found) != 1:
            raise LookupError(f"{table} has {len(found)} rows with {where}")
        return found[0]

    def mean(self, table: str, column: str, **where: Any) -> float:
        """Mean of a column over the rows with these values."""
        found = self.cells(table, column, **where)
        if not found:
            raise LookupError(f"{table} has no rows with {where}")
        return float(sum(found) / len(found))

    def claim(self, id: str, column: str = "measured") -> Any:
        """The measured value, or another column, of a claim."""
        return self.cell("claims", column, id=id)

    def remark(self, id: str, pattern: str) -> str:
        """The match of a pattern, or of its group, in the remark on a claim."""
        remark = self.claim(id, "remark")
        found = re.search(pattern, remark)
        if not found:
            raise LookupError(f"the remark on {id} does not match {pattern!r}: {remark}")
        return found[found.re.groups and 1]

    def count(self, **where: str) -> int:
        """Number of claims with these values; ``kind_of_claim`` is one of `summary.KINDS`."""
        claims = self._table("claims")
        claims = claims.assign(kind_of_claim=summary.kinds(claims))
        return int((claims[list(where)] == pd.Series(where)).all(axis=1).sum())

    def departures(self, paper: str) -> int:
        """Number of measurements that differ from the paper."""
        differs = ("worse", "better", "higher", "lower", "fails")
        return sum(self.count(paper=paper, kind_of_claim="measured", verdict=verdict) for verdict in differs)

    def partition(self, dataset: str, initialisation: str, n_components: int) -> dict[str, float]:
        """Accuracy at the test-selected iteration of the whole model and of the best partition, and its advantage."""
        where = {
            "dataset": dataset,
            "method": initialisation,
            "n_components": n_components,
            "protocol": "best-pass",
        }
        columns = [self.cells("figures/advantage", name, **where) for name in ("n_blocks", "accuracy")]
        pairs = list(zip(*columns, strict=True))
        whole, best = max(a for n, a in pairs if n == 1), max(a for n, a in pairs if n > 1)
        return {"whole": whole, "best": best, "advantage": best - whole}

    def _table1(self) -> pd.DataFrame:
        claims = self._table("claims")
        return claims[claims["id"].str.fullmatch(TABLE1)].set_index("dataset")

    def headlines(self, *verdicts: str) -> str:
        """Data sets of Table 1 of Pulford (2022) with one of these verdicts; "depends": on the interpretation."""
        own = self._table1()
        kind = own["verdict"].mask(own["depends_on"] != "", "depends")
        names = [NAMES[name] for name in own.index[kind.isin(verdicts)]]
        return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names) or "none"

    def accuracies(self) -> str:
        """Table 1 of Pulford (2022) in Markdown, with verdicts, nested accuracies and the best baseline."""
        evaluated = self._table1()
        lines = []
        for row in self._table("table1").to_dict("records"):
            claim = evaluated.loc[row["dataset"]]
            nested, low, high = (float(row[f"nested{end}"]) for end in ("", "_low", "_high"))
            line = {"data set": NAMES[row["dataset"]], "paper": claim["value"]}
            line |= {"ours, as the paper reports it": fixed(claim["measured"], 2)}
            line |= {"verdict": " and depends on ".join(filter(None, claim[["verdict", "depends_on"]]))}
            line |= {"ours, nested": interval(nested, low, high)}
            best = f"{fixed(row['best_accuracy'], 2)}, {NAMES[row['best_method']]}"
            lines.append(line | {"best baseline": best})
        return f"\n{table(pd.DataFrame(lines), padded=False)}\n"

    def verdicts(self, paper: str) -> str:
        """Counts of verdicts and kinds of claims of a paper in Markdown."""
        counts = summary.counts(self._table("claims"))
        row = counts[counts["paper"] == paper].iloc[0].drop("paper")
        return f"\n{table(pd.DataFrame([row[row != 0]]).infer_objects())}\n"


def refreshed(text: str, where: str, reference: Reference) -> tuple[str, list[str]]:
    """Evaluate every placeholder of a text; return the new text and the faults, which name ``where`` and the line."""
    environment = Environment(undefined=StrictUndefined)
    names = {name: getattr(reference, name) for name in dir(Reference) if not name.startswith("_")}
    names |= {f.__name__: f for f in (fixed, signed, max, min, abs, len, sum)}
    faults = []

    def value(found: re.Match[str]) -> str:
        expression = found[1]
        try:
            shown = environment.compile_expression(expression, undefined_to_none=False)(**names)
            return f"<!-- = {expression} -->{shown!s}<!-- = -->"
        except (TemplateError, LookupError, TypeError, ValueError) as error:
            line = text.count("\n", 0, found.start()) + 1
            faults.append(f"{where}, line {line}: {expression}: {error.args[0] if error.args else error}")
            return found[0]

    new = PLACEHOLDER.sub(value, text)
    if text.count("<!-- = ") != 2 * len(PLACEHOLDER.findall(text)):
        faults.append(f"{where}: a placeholder without an end, or an end without one")
    return new, faults


def plain(text: str) -> str:
    """Remove placeholders, links and images, keep values and words."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text))


def pages(project: str | Path) -> Iterable[Path]:
    """Files with placeholders."""
    return sorted(path for pattern in PAGES for path in Path(project).glob(pattern))


def refresh(project: str | Path) -> dict[Path, str]:
    """Pages that differ from the tables of ``results/reference``, with their new text.

    Raises
    ------
    ConfigurationError
        With all faults of all placeholders.
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
