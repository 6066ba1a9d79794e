"""What the gate says of a comparison: which cases fail, in a line, as a table, over time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

FAILING = ("worse", "differs", "slower", "not measured")


def failed(table: pd.DataFrame) -> bool:
    """Whether anything got worse, or was not measured."""
    return bool(table["verdict"].isin(FAILING).any())


def summary(table: pd.DataFrame) -> str:
    """What a person wants to know: what is not the same, by how much, beside what noise; and what to do."""
    counts = table.groupby(["kind", "verdict"], sort=True).size()
    text = [", ".join(f"{kind}: {count} {verdict}" for (kind, verdict), count in counts.items())]
    shown = table[~table["verdict"].isin(["same", "not judged"])]
    if len(shown):
        text.append(to_markdown(shown))
    if failed(table):
        text.append(
            "Something got worse, or is no longer measured. If that is meant: snakemake regress_update --cores all, "
            "and commit results/reference/regress.json with the reason."
        )
    elif shown["verdict"].isin(["better", "faster", "new", "changed"]).any():
        text.append(
            "Nothing got worse. To hold on to what changed: snakemake regress_update --cores all, "
            "and commit results/reference/regress.json."
        )
    else:
        text.append("Nothing got worse.")
    return "\n\n".join(text)


def to_markdown(table: pd.DataFrame) -> str:
    """The table, differences with their sign, times as shares."""
    shown = pd.DataFrame(
        {
            "case": table["case"],
            "quantity": table["quantity"],
            "reference": [f"{value:.6g}" for value in table["reference"]],
            "measured": [f"{value:.6g}" for value in table["measured"]],
            "change": [_signed(row["change"], row["kind"]) for row in table.to_dict("records")],
            "noise": [_signed(row["noise"], row["kind"]).lstrip("+") for row in table.to_dict("records")],
            "verdict": table["verdict"],
            "note": table["note"].fillna(""),
        }
    )
    return shown.to_markdown(index=False, disable_numparse=True)


def _signed(value: float, kind: str) -> str:
    return f"{100 * value:+.1f}%" if kind == "time" else f"{value:+.3g}"


def append_history(path: str | Path, table: pd.DataFrame, labels: Mapping[str, Any]) -> pd.DataFrame:
    """Add a run to the tidy history: one row per case and quantity, with machine, versions and commit.

    Returns
    -------
    DataFrame
        The whole history.
    """
    from skem.repro.files import read_table, write_table

    rows = table.assign(**labels)
    if Path(path).exists():
        rows = pd.concat([read_table(path), rows], ignore_index=True)
    write_table(path, rows)
    return rows
