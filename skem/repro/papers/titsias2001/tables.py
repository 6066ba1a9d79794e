"""Tables I to V of Titsias and Likas (2001), to be read beside the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from skem.repro.ledger.stated_claims import setting_of
from skem.repro.papers.titsias2001.settings import Settings, name_of

METHODS = {"rbf_two_stage": "rbf", "prbf_average": "averaging"}
"""From the methods of the ledger without a lambda to those of a run."""


def cells(claims: pd.DataFrame) -> pd.DataFrame:
    """What the paper's tables print.

    Returns
    -------
    DataFrame
        id, dataset, method, n_components, paper, paper_std (over folds), in the order of the ledger.
    """
    rows = []
    for claim in claims.to_dict("records"):
        setting = setting_of(claim)
        if (
            claim["paper"] != "titsias2001"
            or claim["quantity"] != "error_pct"
            or "n_components" not in setting
        ):
            continue
        method = METHODS.get(claim["method"]) or name_of(float(setting["lambda"]))
        cell = {"id": claim["id"], "dataset": claim["dataset"], "method": method}
        cell |= {"n_components": int(setting["n_components"]), "paper": float(claim["value"])}
        rows.append(cell | {"paper_std": float(claim["spread"])})
    return pd.DataFrame(rows)


def summary(errors: pd.DataFrame, printed: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    """One row per cell: the paper's, ours, and whether they agree.

    Returns
    -------
    DataFrame
        table, dataset (of the configuration), method, n_components, paper, paper_std, error (mean over folds and
        repetitions), std (over the folds of a repetition, mean of repetitions), se (of the mean, from the spread of
        repetitions), n_runs, combined_se (with the paper's, its std / sqrt(folds)), within (|difference| at most twice
        that), counting_std (what counting errors p in the n test rows of a fold alone gives, sqrt(p (1 - p) / n), with
        the paper's p), within_counting (as within, with no std of the paper smaller than that), not_available (why;
        empty where it is not).
    """
    rows = []
    for name, entry in paper.tables.items():
        own = errors[errors["dataset"] == name]
        cells_of = printed[printed["dataset"] == entry.get("source", name)]
        for cell in cells_of.drop(columns="id").to_dict("records"):
            row = {"table": entry["table"], **cell, "dataset": name}
            found = own[(own["method"] == cell["method"]) & (own["n_components"] == cell["n_components"])]
            if not len(found):
                rows.append(row | {"not_available": entry.get("not_available", "not part of this run")})
                continue
            by_run = found.groupby("run")["error"]
            runs = by_run.mean()
            se = float(runs.std(ddof=1) / np.sqrt(len(runs)))
            combined = float(np.hypot(se, cell["paper_std"] / np.sqrt(paper.n_folds)))
            row |= {"error": runs.mean(), "std": by_run.std(ddof=1).mean(), "se": se, "n_runs": len(runs)}
            difference = abs(runs.mean() - cell["paper"])
            row |= {"combined_se": combined, "within": difference <= 2 * combined}
            share = cell["paper"] / 100
            counting = 100 * float(np.sqrt(share * (1 - share) / found["n_test"].mean()))
            wider = np.hypot(se, max(counting, cell["paper_std"]) / np.sqrt(paper.n_folds))
            row |= {"counting_std": counting, "within_counting": difference <= 2 * wider}
            rows.append(row | {"not_available": ""})
    return pd.DataFrame(rows)


def agreement(table: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    """In how many cells ours and the paper's are within two combined standard errors, by table and kind of method.

    Returns
    -------
    DataFrame
        dataset, methods, cells, within and within_counting (as of `summary`), below_counting (cells whose std in the
        paper is below counting_std), mean_difference.
    """
    there = table[table["not_available"] == ""]
    there = there.assign(
        below_counting=there["paper_std"] < there["counting_std"],
        **{name: there[name].astype(bool) for name in ("within", "within_counting")},
    )
    kind = there["method"].map(paper.methods | dict.fromkeys(paper.lambdas, "each lambda"))
    grouped = there.assign(methods=kind).groupby(["dataset", "methods"], sort=False)
    counts = grouped[["within", "within_counting", "below_counting"]].sum()
    result = grouped.size().to_frame("cells").join(counts)
    mean = grouped.apply(lambda g: (g["error"] - g["paper"]).mean(), include_groups=False)
    return result.assign(mean_difference=mean).reset_index()


NOTE = """\
Test error in %, five-fold stratified cross-validation: *here* ± standard deviation over the folds of a repetition,
mean of {runs} repetitions | the paper's ± its own over five folds. A star: the two differ by more than twice their
combined standard error (the paper's is its deviation over the root of five; ours is of the mean over repetitions)."""

AGREEMENT_NOTE = """\
*below counting*: cells whose deviation in the paper is smaller than what counting errors in the test rows of a fold gives
on its own, sqrt(p (1 - p) / n). Deviations of five folds are uncertain, and so small ones come about by chance; but a cell
judged by one hardly agrees with any repetition of it. *within, allowing for counting*: with no deviation of the paper
smaller than that."""


def to_markdown(table: pd.DataFrame, paper: Settings) -> str:
    """The five tables to be read, ours beside the paper's."""
    text = ["# Tables I to V of Titsias and Likas (2001)", NOTE.format(runs=paper.repetitions)]
    counted = agreement(table, paper)
    titles = {name: entry["title"] for name, entry in paper.tables.items()}
    counted["dataset"] = counted["dataset"].map(titles)
    counted["mean_difference"] = counted["mean_difference"].map("{:+.2f}".format)
    text += [
        "**Cells that agree**",
        _markdown(
            counted.rename(
                columns={
                    "within_counting": "within, allowing for counting",
                    "below_counting": "below counting",
                    "mean_difference": "here less paper",
                }
            )
        ),
        AGREEMENT_NOTE,
    ]
    for (number, dataset), own in table.groupby(["table", "dataset"], sort=False):
        text.append(f"## Table {number}: {titles[str(dataset)]}")
        missing = own.loc[own["not_available"] != "", "not_available"]
        if len(missing):
            text.append(f"Not available: {missing.iloc[0]}.")
        lines = []
        for method, row in own.groupby("method", sort=False):
            line = {"method": paper.methods[str(method)]}
            for cell in row.to_dict("records"):
                line[f"M = {cell['n_components']}"] = _cell(cell)
            lines.append(line)
        text.append(_markdown(pd.DataFrame(lines)))
    return "\n\n".join(text) + "\n"


def _markdown(table: pd.DataFrame) -> str:
    return table.to_markdown(index=False, disable_numparse=True)


def _cell(cell: Mapping[str, Any]) -> str:
    printed = f"{cell['paper']:.2f} ± {cell['paper_std']:.2f}"
    if cell["not_available"]:
        return f"not available \\| {printed}"
    star = "" if cell["within"] else " *"
    return f"{cell['error']:.2f} ± {cell['std']:.2f}{star} \\| {printed}"


def choice_table(errors: pd.DataFrame) -> pd.DataFrame:
    """Errors of each way to settle lambda, and their difference to the average over lambda in the same folds.

    Returns
    -------
    DataFrame
        dataset, n_components, method, error, against (less the average's, by run), against_se, chosen (mean).
    """
    rows = []
    for (dataset, m), own in errors.groupby(["dataset", "n_components"], sort=False):
        by_run = own.pivot_table(index="run", columns="method", values="error", sort=False)
        for method in by_run:
            difference = by_run[method] - by_run["averaging"]
            part = own[own["method"] == method]
            row = {"dataset": dataset, "n_components": m, "method": method, "error": by_run[method].mean()}
            row |= {"against": difference.mean(), "against_se": difference.sem()}
            chosen = part["chosen"].mean() if "chosen" in part else float("nan")
            rows.append(row | {"chosen": chosen})
    return pd.DataFrame(rows)


CHOICE_NOTE = """\
Test error in %, and in brackets its difference to the average over lambda in the same folds, ± its standard error over
repetitions of the cross-validation. *chosen*: the lambda of the best log posterior on validation rows, along one path of
warm starts, then all training rows; *by accuracy*: the same by validation accuracy; *per pair*: a lambda for the kernels
of each class in each other class, one pair after the other. Then the mean of the lambdas that were chosen."""


def choice_markdown(table: pd.DataFrame, paper: Settings) -> str:
    """The ways to settle lambda to be read: methods as rows, data sets as columns."""
    lines: dict[str, dict[str, str]] = {}
    for row in table.to_dict("records"):
        method = row["method"]
        line = lines.setdefault(method, {"method": paper.methods.get(method, method)})
        cell = f"{row['error']:.2f}"
        if method != "averaging":
            cell += f" ({row['against']:+.2f} ± {row['against_se']:.2f})"
        if not np.isnan(row["chosen"]):
            cell += f", {row['chosen']:.2f}"
        line[f"{row['dataset']}, M = {row['n_components']}"] = cell
    shown = pd.DataFrame(list(lines.values())).fillna("")
    return "\n\n".join(["# Does it pay to choose lambda?", CHOICE_NOTE, _markdown(shown)]) + "\n"


def gathered(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """All tables that have rows, one below the other."""
    found = [part for part in parts if len(part)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()
