"""``config/claims.csv``: the claims of the papers, read and checked where they are evaluated."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd

from skem.repro.config.documents import ConfigurationError, refuse
from skem.repro.ledger.estimates import setting_of as setting_of

COLUMNS = (
    *("id", "paper", "place", "kind", "dataset", "method", "setting", "quantity", "value", "spread"),
    *("spread_kind", "trials", "protocol", "expression", "external", "note"),
)
KINDS = ("number", "ordering", "statement")
SPREADS = ("1sigma", "3sigma")


def read(path: str | Path, protocols: Collection[str], papers: Collection[str]) -> pd.DataFrame:
    """Read the claims, every cell a string as printed; `ConfigurationError` with all faults.

    ``protocols`` are the papers' words for protocols, ``papers`` those with rows.
    """
    claims = _table(path)
    number = claims["kind"] == "number"
    trials = claims["trials"].replace("", "1")
    checks: list[tuple[pd.Series, str]] = [
        (claims["id"] == "", "has no id"),
        (claims["id"].duplicated(keep=False), "id occurs twice"),
        (~claims["kind"].isin(KINDS), f"kind is {{kind!r}}; allowed: {', '.join(KINDS)}"),
        (~claims["paper"].isin(papers), f"paper is {{paper!r}}; allowed: {', '.join(papers)}"),
        (~claims["protocol"].isin(protocols), "protocol is {protocol!r}; config/claims has others"),
        (number & ~_finite(claims["value"]), "value is {value!r}, which is no number"),
        (~trials.str.fullmatch("[1-9][0-9]*"), "trials is {trials!r}; a positive integer is needed"),
        (~_finite(claims["spread"].replace("", "0")), "spread is {spread!r}, which is no number"),
        (
            (claims["spread"] != "") & ~claims["spread_kind"].isin(SPREADS),
            f"spread_kind is {{spread_kind!r}}; allowed: {', '.join(SPREADS)}",
        ),
        (~claims["external"].isin(["yes", "no"]), "external is {external!r}; allowed: yes, no"),
    ]
    refuse(
        [
            f"{path}, row {line + 2} ({row['id']}): {message.format(**row)}"
            for wrong, message in checks
            for line, row in zip(claims.index[wrong], claims[wrong].to_dict("records"), strict=True)
        ]
    )
    return claims


def _table(path: str | Path) -> pd.DataFrame:
    try:
        claims = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, UnicodeDecodeError, pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise ConfigurationError(f"{path}: not a CSV file in UTF-8: {error}") from error
    if tuple(claims) != COLUMNS or not isinstance(claims.index, pd.RangeIndex):
        raise ConfigurationError(f"{path}: columns are {', '.join(claims)}; needed: {', '.join(COLUMNS)}")
    return claims


def _finite(cells: pd.Series) -> pd.Series:
    return pd.to_numeric(cells, errors="coerce").abs() < np.inf


def claim(claims: pd.DataFrame, name: str) -> float:
    """Return the number of a claim; `ValueError` if there is no such claim, or it has no value."""
    found = claims.loc[claims["id"] == name, "value"]
    if len(found) != 1 or not found.iloc[0]:
        raise ValueError(f"config/claims.csv has no value for {name!r}")
    return float(found.iloc[0])
