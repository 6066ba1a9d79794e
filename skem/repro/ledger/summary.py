"""The claims table: every claim beside our measurement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.ledger import stated_claims
from skem.repro.ledger.answers import answer
from skem.repro.ledger.estimates import Claim, NotRun
from skem.repro.ledger.interpretations import Ambiguities, Found, Interpretation, survey
from skem.repro.ledger.links import DEFINITION, MEASUREMENT, PROPERTY, Links
from skem.repro.ledger.verdicts import OPEN, QUOTED, VERDICTS, VERIFIED, Evaluation
from skem.repro.protocols import LABELS
from skem.repro.render import format as render

DIGITS = 10
"""Significant digits of the numbers, fewer than processors and versions of libraries change."""


EVALUATED = ("id", "paper_value", "interpretation", "default", "measured", "low", "high", "n_runs", "verdict")


def ledger(
    claims: pd.DataFrame,
    evaluate: Callable[[Claim, Interpretation], Evaluation],
    links: Links | None = None,
    ambiguities: Mapping[str, Ambiguities] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Evaluate every claim, under every interpretation.

    Parameters
    ----------
    claims : DataFrame
    evaluate : callable
        From a claim and an interpretation to the evaluation.
    links : Links, optional
    ambiguities : mapping, optional
        Ambiguities by paper.

    Returns
    -------
    ledger : DataFrame
        The columns of the claims; measured, low, high (the interval that decided), difference (to the paper's value), n_runs,
        measured_by (a protocol, or a word of `RULE`), verdict, answer (see `answers`), remark; half_width (of the interval), basis (see `Links.basis`),
        repeats (the first claim of the same measurement), interpretations (number evaluated), agree (number with the verdict),
        depends_on (in words).
    interpretations : DataFrame
        A row per claim and interpretation, for claims with more than one: id, paper_value, interpretation, default, a column
        per ambiguity, measured, low, high, n_runs, verdict.
    """
    links, rows, other = links or Links(), [], []
    for claim in claims.to_dict("records"):
        own = (ambiguities or {}).get(claim["paper"], {})
        try:
            surveyed, depends_on = survey(claim, own, partial(evaluate, claim), links.width(claim))
        except NotRun as error:
            surveyed, depends_on = [Found({}, "", Evaluation("not run", note=str(error.args[0])))], ""
        found, agree = surveyed[0].evaluation, [one.evaluation.verdict for one in surveyed]
        value = float(claim["value"]) if claim["kind"] == "number" else float("nan")
        rows.append(
            claim
            | {"measured": found.measured, "low": found.low, "high": found.high}
            | {"difference": found.measured - value, "n_runs": found.n, "measured_by": found.protocol}
            | {
                "verdict": found.verdict,
                "answer": answer(agree),
                "remark": found.note,
                "half_width": (found.high - found.low) / 2,
            }
            | {"basis": links.basis(claim, found.verdict), "repeats": links.repeats.get(claim["id"], "")}
            | {
                "interpretations": len(surveyed),
                "agree": agree.count(found.verdict),
                "depends_on": depends_on,
            }
        )
        if len(surveyed) > 1:
            other += [
                {"id": claim["id"], "paper_value": value, "interpretation": one.label, "default": i == 0}
                | dict(one.choices)
                | {"measured": one.evaluation.measured, "low": one.evaluation.low}
                | {"high": one.evaluation.high, "n_runs": one.evaluation.n}
                | {"verdict": one.evaluation.verdict}
                for i, one in enumerate(surveyed)
            ]
    # Without rows, its columns are those that every paper has.
    return _rounded(pd.DataFrame(rows)), _rounded(pd.DataFrame(other, columns=None if other else EVALUATED))


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    numbers = table.select_dtypes(np.floating).columns
    return table.assign(**{c: table[c].map(lambda value: float(f"{value:.{DIGITS}g}")) for c in numbers})


def read(path: str | Path) -> pd.DataFrame:
    """Read a claims table: values as printed, measurements as numbers.

    Raises
    ------
    ValueError
        If another version wrote it.
    """
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    needed = (*stated_claims.COLUMNS, "measured", "low", "high", "verdict", "basis", "interpretations")
    if missing := [column for column in needed if column not in table]:
        raise ValueError(
            f"{path} has no column {missing[0]!r}: another version wrote it; `snakemake --cores all` writes it again"
        )
    return table.assign(**{column: pd.to_numeric(table[column]) for column in ("measured", "low", "high")})


KINDS = ("measured", "repeated claim", PROPERTY, DEFINITION, VERIFIED, QUOTED, "not built")
"""Kinds of claims."""


def kinds(table: pd.DataFrame) -> pd.Series:
    """Return the kind of each claim, one of `KINDS`."""
    kind = table["basis"].replace({MEASUREMENT: "measured", "": QUOTED})
    kind = kind.mask((kind == "measured") & (table["repeats"] != ""), "repeated claim")
    return kind.mask((table["verdict"] == "not built") & (table["external"] != "yes"), "not built")


def distinct(table: pd.DataFrame) -> pd.DataFrame:
    """Select the claims that were to be measured, each measurement once.

    Returns
    -------
    DataFrame
        Rows of the claims table, and stated (number of claims of the measurement).
    """
    repeated = table["repeats"].value_counts()
    once = table[kinds(table) == "measured"]
    return once.assign(stated=once["id"].map(repeated).fillna(0).astype(int) + 1)


DEPENDS = "depends on interpretation"


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """Count, per paper, claims by kind, measurements by verdict, and measurements that depend on interpretation."""
    once, papers = distinct(table), sorted(set(table["paper"]))
    by_kind, by_verdict = (
        pd.crosstab(rows["paper"], column).reindex(papers, fill_value=0).filter(order)
        for rows, column, order in ((table, kinds(table), KINDS), (once, once["verdict"], VERDICTS))
    )
    depending = once[once["depends_on"] != ""].groupby("paper").size().reindex(papers, fill_value=0)
    return by_kind.join(by_verdict).assign(**{DEPENDS: depending}).rename_axis("paper").reset_index()


OVERVIEW = {
    "repeated claim": "repeated claims",
    **dict.fromkeys(("reproduced", "holds"), "agrees"),
    **dict.fromkeys(("better", "worse", "higher", "lower", "fails"), "differs"),
    **dict.fromkeys(OPEN, "open"),
}
"""Words of the overview for columns of `counts`."""


def overview(path: str | Path) -> pd.DataFrame:
    """Summarise a claims table on disk: the columns of `counts`, those with the same word added up."""
    table = counts(read(path)).set_index("paper").rename(columns=OVERVIEW)
    return table.T.groupby(level=0, sort=False).sum().T.reset_index()


RULE = f"""\
*reproduced*: the paper's value lies in the 95% prediction interval of a result like the paper's; else ours is *better*
or *worse*, or *higher* or *lower* if neither is a merit; a claimed maximum is compared with our maximum. *too few
runs*: the interval is wider than all differences that the paper claims there; *not testable*: no number of runs would
decide. *depends on*: another interpretation of an ambiguity of the paper changes the verdict. Orderings and statements
*hold*, *fail* or are *undecided* at 95%; their numbers are of the comparison that decides, as a difference, at the level
that decides. *{QUOTED}*: of another paper. *{VERIFIED}*: the remark names the test. *by*: the protocol; *preset*: a
baseline with the paper's settings, else its toolbox's; *data*: counted in the file; *new samples*: measured on newly drawn
samples. Accuracies are in percent unless the quantity says otherwise."""


def shown(row: Mapping[str, Any]) -> dict[str, str]:
    """Format a row of the claims table."""
    stated = row["value"] if row["kind"] == "number" else row["expression"]
    if row["spread"]:
        stated += f" ± {row['spread']}" + (f" ({row['spread_kind']})" if row["spread_kind"] else "")
    half = (row["high"] - row["low"]) / 2
    return {
        "claim": row["id"].partition(".")[2],
        "place": row["place"],
        "paper": stated,
        "ours": "" if np.isnan(row["measured"]) else f"{row['measured']:.4g}",
        "half-width": "" if np.isnan(half) else f"{half:.2g}",
        "interval": "" if np.isnan(row["low"]) else f"[{row['low']:.4g}, {row['high']:.4g}]",
        "by": LABELS.get(row["measured_by"], row["measured_by"]),
        "verdict": row["verdict"],
        "depends on": row["depends_on"],
        "remark": row["remark"],
    }


def to_markdown(title: str, table: pd.DataFrame, papers: Sequence[str]) -> str:
    """Format a claims table: counts for all papers, and the claims of some."""
    return render.document(title, RULE, counts(table), *_sections(table, papers, shown), padded=False)


def measured_to_markdown(table: pd.DataFrame, papers: Sequence[str]) -> str:
    """Format `distinct`, sorted by verdict."""

    def line(row: Mapping[str, Any]) -> dict[str, Any]:
        cells = {key: cell for key, cell in shown(row).items() if key not in ("by", "remark")}
        n = int(row["interpretations"])
        cells["interpretations that agree"] = f"{row['agree']} of {n}" if n > 1 else ""
        return cells | {"times stated": str(row["stated"])}

    once = distinct(table).sort_values("verdict", key=lambda c: c.map(VERDICTS.index), kind="stable")
    sections = _sections(once, papers, line)
    return render.document("Measurements, each once", counts(table), *sections, padded=False)


def _sections(
    table: pd.DataFrame, papers: Sequence[str], line: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> Iterator[str | pd.DataFrame]:
    """Yield a heading and a table of lines per paper."""
    for paper in papers:
        rows = table[table["paper"] == paper].to_dict("records")
        if rows:
            yield from (f"## {paper}", pd.DataFrame(map(line, rows)))
