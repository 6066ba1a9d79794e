"""``config/claims.csv``: what the papers state, read and checked before any job."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pandas as pd

from skem.repro.config.documents import ConfigurationError, refuse
from skem.repro.ledger.estimates import Claim, Estimate
from skem.repro.ledger.verdicts import evaluate

COLUMNS = (
    *("id", "paper", "place", "kind", "dataset", "method", "setting", "quantity", "value", "spread"),
    *("spread_kind", "trials", "protocol", "expression", "external", "note"),
)
KINDS = ("number", "ordering", "statement")
SPREADS = ("1sigma", "3sigma")


def read(
    path: str | Path,
    protocols: Collection[str],
    papers: Collection[str],
    judges: Mapping[str, Callable[[Claim], bool]] | None = None,
) -> pd.DataFrame:
    """The claims, every cell a string as printed.

    Parameters
    ----------
    path : path
        ``config/claims.csv``.
    protocols : collection of str
        Words for how papers report accuracy, from ``config/words``.
    papers : collection of str
        Those that claims may be stated of.
    judges : mapping, optional
        What `judges` returns: then a claim that nothing could judge is a fault too.

    Raises
    ------
    ConfigurationError
        With all faults of the file: columns, ids missing or doubled, kinds, papers, protocols, values that are no
        numbers, ids in expressions that do not exist.
    """
    claims, torn = _rows(path)
    faults = list(torn.values())
    known = set(claims["id"])
    numbers = list(claims.loc[claims["kind"] == "number", "id"])
    for line, (row, times) in enumerate(
        zip(claims.to_dict("records"), claims["id"].map(Counter(claims["id"])), strict=True), start=2
    ):
        if line in torn:  # what its cells say means nothing
            continue
        where = f"{path}, row {line}" + (f" ({row['id']})" if row["id"] else "")
        if not row["id"]:
            faults.append(f"{where}: no id")
        elif times > 1:
            faults.append(f"{where}: this id is there {times} times")
        if row["kind"] not in KINDS:
            faults.append(f"{where}: kind is {row['kind']!r}; allowed: {', '.join(KINDS)}")
        if row["protocol"] not in protocols:
            faults.append(
                f"{where}: unknown protocol {row['protocol']!r}; config/words has {', '.join(filter(None, protocols))}"
            )
        if row["kind"] == "number" and not _is_number(row["value"]):
            faults.append(f"{where}: the value {row['value']!r} is no number")
        if row["trials"] and (not row["trials"].isdecimal() or int(row["trials"]) < 1):
            faults.append(f"{where}: trials is {row['trials']!r}, not a count")
        if row["spread"] and (not _is_number(row["spread"]) or row["spread_kind"] not in SPREADS):
            faults.append(
                f"{where}: spread is {row['spread']!r} with spread_kind {row['spread_kind']!r}; allowed: a number with "
                f"{' or '.join(SPREADS)}"
            )
        if row["external"] not in ("yes", "no"):
            faults.append(f"{where}: external is {row['external']!r}; allowed: yes, no")
        if row["paper"] not in papers:
            faults.append(f"{where}: paper is {row['paper']!r}; allowed: {', '.join(papers)}")
        faults += [
            f"{where}: the expression names {name!r}, which is no id"
            for name in re.findall(r"\[([A-Za-z0-9_.*-]+)\]", row["expression"])
            if "." in name and name not in known and not any(fnmatchcase(other, name) for other in known)
        ]
        knows = (judges or {}).get(row["paper"])
        if (
            knows
            and row["external"] != "yes"
            and not knows(row)
            and not _is_formal(row["expression"], numbers)
        ):
            faults.append(
                f"{where}: no judge of {row['paper']} knows this id, and its expression {row['expression']!r} is no "
                "comparison of [ids of numbers]"
            )
    refuse(faults)
    return claims


def _rows(path: str | Path) -> tuple[pd.DataFrame, dict[int, str]]:
    """The cells, and by row what is wrong with those that have too many or too few."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            header, *rows = [row for row in csv.reader(file, strict=True) if row] or [[]]
    except FileNotFoundError as error:
        raise ConfigurationError(f"{path}: there is no such file") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not a text in UTF-8") from error
    except csv.Error as error:
        raise ConfigurationError(f"{path}: not valid CSV: {error}") from error
    if not header:
        raise ConfigurationError(f"{path}: empty; its first line names the columns {', '.join(COLUMNS)}")
    faults = [f"{path}: there is no column {column!r}" for column in COLUMNS if column not in header]
    faults += [f"{path}: the column {name!r} is there twice" for name, n in Counter(header).items() if n > 1]
    refuse(faults)
    n = len(header)
    torn = {
        line: f"{path}, row {line} ({row[0]}): {len(row)} fields, the first line has {n}"
        for line, row in enumerate(rows, start=2)
        if len(row) != n
    }
    return pd.DataFrame([(row + n * [""])[:n] for row in rows], columns=header, dtype=str), torn


def _is_formal(expression: str, numbers: Iterable[str]) -> bool:
    anything = Estimate.of(
        pd.Series([1.0, 1.0])
    )  # without spread no interval is computed, so scipy.stats is not imported
    try:
        evaluate(expression, lambda name: [anything for id in numbers if fnmatchcase(id, name)])
    except (ValueError, TypeError, IndexError):
        return False
    return True


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def setting_of(claim: Claim) -> dict[str, str]:
    """What a claim's setting says, by key: "n_components=4;lambda=0.5"; a word without a value stands for itself."""
    parts = (part.partition("=") for part in claim["setting"].split(";") if part)
    return {key: value or key for key, _, value in parts}


def claim(claims: pd.DataFrame, name: str) -> float:
    """The value a paper prints, from ``config/claims.csv``.

    Raises
    ------
    ValueError
        If there is no such claim, or it has no value.
    """
    found = claims.loc[claims["id"] == name, "value"]
    if len(found) != 1 or not found.iloc[0]:
        raise ValueError(f"config/claims.csv has no value for {name!r}")
    return float(found.iloc[0])
