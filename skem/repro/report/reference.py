"""Queries of the tables of a finished run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from skem.repro.config.documents import read_mapping
from skem.repro.config.validation import suggestion
from skem.repro.files import read_json
from skem.repro.ledger import sentences, summary


def unknown(name: str, known: Iterable[str]) -> str:
    """Describe a name that is not known, with a similar one."""
    return f"unknown {name!r}; {suggestion(name, dict.fromkeys(map(str, known)))}"


class Reference:
    """Queries of the tables of a finished run in ``folder``."""

    def __init__(self, folder: str | Path, config: str | Path = "config") -> None:
        self.folder, self.config = Path(folder), Path(config)
        self.table = cache(self._read)

    def tables(self) -> list[str]:
        """Names of the tables in the folder ``tables``."""
        return sorted(path.stem for path in self.folder.glob("tables/*.csv"))

    def _read(self, name: str) -> pd.DataFrame:
        if name == "claims":
            paths = [self.folder / "claims.csv", self.folder / "claims_timing.csv"]
            return pd.concat([summary.read(path) for path in paths], ignore_index=True)
        path = self.folder / (f"{name}.csv" if "/" in name else f"tables/{name}.csv")
        if not path.exists():
            raise LookupError(f"there is no table {path}")
        # As strings, so that "1e-6" stays a name; `cells` converts numbers.
        return pd.read_csv(path, dtype=str, keep_default_na=False)

    def minutes(self, name: str) -> Any:
        """Minutes of a command that pages promise, or their machine or date, from ``minutes.yaml``."""
        found = read_mapping(self.folder / "minutes.yaml")
        if name not in found:
            raise LookupError(unknown(name, found))
        return found[name]

    def cells(self, table: str, column: str, **where: Any) -> list[Any]:
        """Values of a column in the rows with these values, as numbers if all of them are."""
        found = self.table(table)
        for key in (column, *where):
            if key not in found:
                raise LookupError(f"{table} has no column {key!r}; it has {', '.join(found)}")
        kept = pd.Series(True, found.index)
        for key, value in where.items():
            # A number may be printed in another way.
            own = found[key] if isinstance(value, str) else pd.to_numeric(found[key], errors="coerce")
            kept &= own == value
        if not kept.any():
            raise LookupError(f"{table} has no rows with {where}")
        texts = found.loc[kept, column]
        numbers = pd.to_numeric(texts, errors="coerce")
        return (texts if numbers.isna().any() else numbers).tolist()

    def cell(self, table: str, column: str, **where: Any) -> Any:
        """The value of a column in the only row with these values."""
        found = self.cells(table, column, **where)
        if len(found) != 1:
            raise LookupError(f"{table} has {len(found)} rows with {where}")
        return found[0]

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

    @cached_property
    def words(self) -> sentences.Words:
        """The claims in words."""
        return sentences.read(self.config)

    @cached_property
    def summary(self) -> dict[str, dict[str, Any]]:
        """Totals of the claims by paper."""
        return dict(read_json(self.folder / "summary.json"))

    def total(self, *keys: str) -> int:
        """A number of claims in ``summary.json``."""
        found: Any = self.summary
        for key in keys:
            if key not in found:
                raise LookupError(unknown(key, found))
            found = found[key]
        return int(found)
