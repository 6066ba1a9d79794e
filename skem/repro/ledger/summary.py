"""The ledger as a table: every claim beside what was measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.ledger.estimates import NotRun
from skem.repro.ledger.verdicts import VERDICTS, Judgement


def ledger(claims: pd.DataFrame, judge: Callable[[Mapping[str, str]], Judgement]) -> pd.DataFrame:
    """Every claim beside what was measured.

    Returns
    -------
    DataFrame
        The columns of the claims up to the expression; measured, low, high (the interval the verdict was read
        from), difference (to the paper's value), n_runs, measured_by (a protocol, or a word of `RULE`), verdict,
        remark.
    """
    rows = []
    for claim in claims.to_dict("records"):
        try:
            found = judge(claim)
        except NotRun as error:
            found = Judgement("not run", note=str(error.args[0]))
        value = float(claim["value"]) if claim["kind"] == "number" else float("nan")
        rows.append(
            claim
            | {"measured": found.measured, "low": found.low, "high": found.high}
            | {"difference": found.measured - value, "n_runs": found.n, "measured_by": found.protocol}
            | {"verdict": found.verdict, "remark": found.note}
        )
    return pd.DataFrame(rows)


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """How many claims of each paper have which verdict."""
    counted = pd.crosstab(table["paper"], table["verdict"])
    return counted.reindex(columns=[v for v in VERDICTS if v in counted]).reset_index()


def to_markdown(title: str, table: pd.DataFrame, papers: Sequence[str]) -> str:
    """The ledger to be read: counts for all papers, and the claims of some."""
    text = [f"# {title}", RULE, counts(table).to_markdown(index=False)]
    for paper in papers:
        own = table[table["paper"] == paper]
        if not len(own):
            continue
        text.append(f"## {paper}")
        lines = [
            {key: text.replace("|", "\\|") for key, text in shown(row).items()}
            for row in own.to_dict("records")
        ]
        wide = pd.DataFrame(lines).to_markdown(index=False, disable_numparse=True)
        # Cells as long as the longest remark would be three quarters of the file.
        text.append(re.sub(r"(?<=\|:---)-+", "", re.sub(r" +\|", " |", wide)))
    return "\n\n".join(text) + "\n"


RULE = """\
*reproduced*: the paper's value lies in the 95% prediction interval of a result like the paper's; else ours is *better*
or *worse*; a claimed maximum is compared with our maximum. Orderings and statements *hold*, *fail* or are *undecided* at 95%; for them the numbers are of the
comparison that decides, as a difference, at the level that decides. *cited*: the paper only quotes it. *theory*: the
remark names the test that checks it. *by*: the protocol; *preset*: a conventional method with the paper's settings,
else its toolbox's; *data*: counted in the file; *fresh rows*: measured on rows drawn anew. Accuracies are in percent unless the quantity says
otherwise."""


def shown(row: Mapping[str, Any]) -> dict[str, str]:
    """What a reader sees of a row of the ledger."""
    said = row["value"] if row["kind"] == "number" else row["expression"]
    if row["spread"]:
        said += f" ± {row['spread']}" + (f" ({row['spread_kind']})" if row["spread_kind"] else "")
    return {
        "claim": row["id"].partition(".")[2],
        "place": row["place"],
        "paper": said,
        "here": "" if np.isnan(row["measured"]) else f"{row['measured']:.4g}",
        "interval": "" if np.isnan(row["low"]) else f"[{row['low']:.4g}, {row['high']:.4g}]",
        "by": row["measured_by"],
        "verdict": row["verdict"],
        "remark": row["remark"],
    }
