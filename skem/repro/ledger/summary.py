"""The ledger as a table: every claim beside what was measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.ledger import stated_claims
from skem.repro.ledger.estimates import NotRun
from skem.repro.ledger.links import DEFINITION, FACT, MEASUREMENT, Links
from skem.repro.ledger.readings import Found, Question, Reading, Survey, survey
from skem.repro.ledger.verdicts import VERDICTS, Judgement

NO_LINKS = Links(frozenset(), {}, {})


def ledger(
    claims: pd.DataFrame,
    judge: Callable[[Mapping[str, str], Reading], Judgement],
    links: Links = NO_LINKS,
    questions: Mapping[str, Sequence[Question]] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every claim beside what was measured.

    Parameters
    ----------
    claims : DataFrame
    judge : callable
        The verdict on a claim under a reading of its paper.
    links : Links
    questions : mapping
        By paper, what it leaves open.

    Returns
    -------
    ledger : DataFrame
        The columns of the claims up to the expression; measured, low, high (the interval the verdict was read
        from), difference (to the paper's value), n_runs, measured_by (a protocol, or a word of `RULE`), verdict,
        remark; half_width (of the interval), basis (see `Links.basis`; "theory" too), repeats (the claim whose measurement
        it states again), readings (how many were judged), agree (how many with the verdict), depends_on (in words).
    readings : DataFrame
        A row per claim and reading, of claims with more than one: id, paper_value, reading, default, a column per
        question, measured, low, high, n_runs, verdict.
    """
    rows, other = [], []
    for claim in claims.to_dict("records"):
        resolution = links.width(claim)

        def sharply(reading: Reading, claim=claim, resolution=resolution) -> Judgement:  # type: ignore[no-untyped-def]
            return judge(claim, reading).sharp_enough(resolution)

        try:
            surveyed = survey(claim, (questions or {}).get(claim["paper"], ()), sharply)
        except NotRun as error:
            surveyed = Survey((Found({}, "", Judgement("not run", note=str(error.args[0]))),), ())
        found = surveyed.found[0].judgement
        value = float(claim["value"]) if claim["kind"] == "number" else float("nan")
        rows.append(
            claim
            | {"measured": found.measured, "low": found.low, "high": found.high}
            | {"difference": found.measured - value, "n_runs": found.n, "measured_by": found.protocol}
            | {"verdict": found.verdict, "remark": found.note}
            | {"half_width": (found.high - found.low) / 2}
            | {"basis": "theory" if found.verdict == "theory" else links.basis(claim)}
            | {"repeats": links.repeats.get(claim["id"], ""), "readings": len(surveyed.found)}
            | {"agree": surveyed.agree, "depends_on": surveyed.words}
        )
        if len(surveyed.found) > 1:
            other += [
                {"id": claim["id"], "paper_value": value, "reading": one.label, "default": i == 0}
                | dict(one.options)
                | {"measured": one.judgement.measured, "low": one.judgement.low, "high": one.judgement.high}
                | {"n_runs": one.judgement.n, "verdict": one.judgement.verdict}
                for i, one in enumerate(surveyed.found)
            ]
    return pd.DataFrame(rows), pd.DataFrame(other)


def read(path: str | Path) -> pd.DataFrame:
    """A ledger that was written: values as printed, what was measured as numbers.

    Raises
    ------
    ValueError
        If another version wrote it.
    """
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    missing = [c for c in (*stated_claims.COLUMNS, "measured", "low", "high", "verdict") if c not in table]
    if missing:
        raise ValueError(
            f"{path} has no column {missing[0]!r}: another version wrote it; `snakemake --cores all` writes it anew"
        )
    for column in ("measured", "low", "high"):
        table[column] = pd.to_numeric(table[column])
    if "basis" not in table:  # an earlier version
        theory = table["verdict"] == "theory"
        basis = (
            pd.Series(MEASUREMENT, table.index).mask(theory, "theory").mask(table["external"] == "yes", "")
        )
        table = table.assign(basis=basis, repeats="", depends_on="")
    return table


def distinct(table: pd.DataFrame) -> pd.DataFrame:
    """What was to be measured, each measurement once.

    Returns
    -------
    DataFrame
        The rows of the ledger that are neither cited, facts, definitions nor theory, repeat no other and are built;
        told (how many claims state the measurement).
    """
    again = table["repeats"].value_counts()
    measured = table[
        (table["basis"] == MEASUREMENT) & (table["repeats"] == "") & (table["verdict"] != "not built")
    ]
    return measured.assign(told=measured["id"].map(again).fillna(0).astype(int) + 1)


KINDS = ("measured", "told again", FACT, DEFINITION, "theory", "cited", "not built")
"""What a claim of the ledger is."""


def kinds(table: pd.DataFrame) -> pd.Series:
    """Which of `KINDS` each claim is."""
    kind = pd.Series("measured", table.index)
    kind[table["verdict"] == "not built"] = "not built"
    kind[table["external"] == "yes"] = "cited"
    for basis in ("theory", DEFINITION, FACT):
        kind[(table["basis"] == basis) & (kind == "measured")] = basis
    kind[(kind == "measured") & (table["repeats"] != "")] = "told again"
    return kind


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """How many measurements of each paper have which verdict, each once; and how many claims are something else."""
    once, kind = distinct(table), kinds(table)
    papers = sorted(set(table["paper"]))
    verdicts = pd.crosstab(once["paper"], once["verdict"]).reindex(papers, fill_value=0)
    others = pd.crosstab(table["paper"], kind).reindex(papers, fill_value=0)
    verdicts = verdicts[[v for v in VERDICTS if v in verdicts]]
    depending = once[once["depends_on"] != ""].groupby("paper").size().reindex(papers, fill_value=0)
    others = others[[k for k in KINDS if k in others]]
    joined = others.join(verdicts).assign(**{"depend on a reading": depending})
    return joined.rename_axis("paper").reset_index()


OVERVIEW = {
    **{"told again": "repeated claims", FACT: "data-set property"},
    **{"theory": "verified analytically", "cited": "quoted result"},
    **dict.fromkeys(("reproduced", "holds"), "agrees"),
    **dict.fromkeys(("better", "worse", "higher", "lower", "fails"), "differs"),
    **dict.fromkeys(("undecided", "too few runs", "not testable"), "open"),
    "depend on a reading": "depends on interpretation",
}
"""Words of the summary in the terminal for columns of `counts`."""


def overview(path: str | Path) -> pd.DataFrame:
    """Summarise a claims table on disk: the columns of `counts`, those with the same word added up."""
    table = counts(read(path)).set_index("paper").rename(columns=OVERVIEW)
    return table.T.groupby(level=0, sort=False).sum().T.reset_index()


def measured_to_markdown(table: pd.DataFrame, papers: Sequence[str]) -> str:
    """`distinct` to be read: departures first, then what depends on a reading."""
    once = distinct(table)
    text = ["# What was measured, each thing once", counts(table).to_markdown(index=False)]
    for paper in papers:
        own = once[once["paper"] == paper]
        if not len(own):
            continue
        order = own["verdict"].map({v: i for i, v in enumerate(VERDICTS)})
        own = own.iloc[order.argsort(kind="stable")]
        lines = [
            {key: cell.replace("|", "\\|") for key, cell in shown(row).items() if key not in ("by", "remark")}
            | {"readings that agree": f"{row['agree']} of {row['readings']}" if row["readings"] > 1 else ""}
            | {"times told": row["told"]}
            for row in own.to_dict("records")
        ]
        text += [f"## {paper}", _narrow(pd.DataFrame(lines))]
    return "\n\n".join(text) + "\n"


def _narrow(lines: pd.DataFrame) -> str:
    """A table in Markdown; cells as long as the longest remark would be three quarters of the file."""
    wide = lines.to_markdown(index=False, disable_numparse=True)
    return re.sub(r"(?<=\|:---)-+", "", re.sub(r" +\|", " |", wide))


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
        text.append(_narrow(pd.DataFrame(lines)))
    return "\n\n".join(text) + "\n"


RULE = """\
*reproduced*: the paper's value lies in the 95% prediction interval of a result like the paper's; else ours is *better*
or *worse*, or *higher* or *lower* where neither is a merit; a claimed maximum is compared with our maximum. *too few
runs*: the interval is wider than all that the paper claims to be different there; *not testable*: no number of runs would
decide. *depends on*: another way to read what the paper leaves open turns the verdict. Orderings and statements *hold*, *fail* or are *undecided* at 95%; for them the numbers are of the
comparison that decides, as a difference, at the level that decides. *cited*: the paper only quotes it. *theory*: the
remark names the test that checks it. *by*: the protocol; *preset*: a conventional method with the paper's settings,
else its toolbox's; *data*: counted in the file; *fresh rows*: measured on rows drawn anew. Accuracies are in percent unless the quantity says
otherwise."""


def shown(row: Mapping[str, Any]) -> dict[str, str]:
    """What a reader sees of a row of the ledger."""
    said = row["value"] if row["kind"] == "number" else row["expression"]
    if row["spread"]:
        said += f" ± {row['spread']}" + (f" ({row['spread_kind']})" if row["spread_kind"] else "")
    depends, half = row.get("depends_on"), (row["high"] - row["low"]) / 2
    return {
        "claim": row["id"].partition(".")[2],
        "place": row["place"],
        "paper": said,
        "here": "" if np.isnan(row["measured"]) else f"{row['measured']:.4g}",
        "half-width": "" if np.isnan(half) else f"{half:.2g}",
        "interval": "" if np.isnan(row["low"]) else f"[{row['low']:.4g}, {row['high']:.4g}]",
        "by": row["measured_by"],
        "verdict": row["verdict"],
        "depends on": depends if isinstance(depends, str) else "",
        "remark": row["remark"],
    }
