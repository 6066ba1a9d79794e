"""Tables of the comparison as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from skem.repro.comparison.configuration import SCORES, Comparison, Part
from skem.repro.comparison.summary import DIGITS, SIZES, ranks_of
from skem.repro.render.format import Block, document, interval, number

SIZE_TITLES = {"n_train": "training samples", "n_features": "features"}
COMPARED_TITLES = {"svm": "the SVM", "lightgbm": "LightGBM", "search": "DiscriminativePSKEMClassifierCV"}
"""Titles of `summary.COMPARED`."""

MEASURES = {"accuracy": ("accuracy", "%"), "log_loss": ("log-loss", "nats")}
"""Titles and units of the measures of ranks."""

NOT_RUN = "The comparison on these tables has not been run."
UNAVAILABLE = "Not available."

GROUP_TITLES = {"tables": "development tables", "test": "test tables", "categories": "tables with categories"}
"""Titles of the groups of tables."""


def markdown(part: Part, tables: Mapping[str, pd.DataFrame], settings: Comparison) -> dict[str, str]:
    """The tables of a part as Markdown, by name; the ranks stand above those of the tables, and most of the notes below."""
    names, own, table = settings.titles(), getattr(settings, part), tables[part]
    if part in GROUP_TITLES:
        blocks: list[Block] = [NOT_RUN]
        if len(table):
            blocks = [*rank_blocks(part, tables[ranks_of(part)], names), _by_data_set(table, names)]
        chosen, *others = own["group_notes"]
        blocks += [*failures(table, names), *_below("How the tables were chosen", others)]
        return {part: _page(GROUP_TITLES[part], own["notes"], chosen, *blocks)}
    if part == "left_out":
        return {
            part: _page("classes left out", own["notes"], left_out(table, names), *failures(table, names))
        }
    titles = {name: entry["title"] for name, entry in own["data_sets"].items()}
    if part == "outliers":
        blocks = [_outliers(table, names, titles), *failures(table, names, titles)]
        return {part: _page("outliers", own["notes"], *blocks)}
    found = {}
    for name, title, notes, text in (
        ("images", "images", own["notes"], _images),
        ("images_timing", "seconds", own["timing_notes"], _seconds),
    ):
        groups = tables[name].groupby("dataset", sort=False)
        shown = {titles[str(dataset)]: text(rows, names) for dataset, rows in groups}
        found[name] = _page(title, notes, shown)
    return found


def _page(title: str, notes: Sequence[str], *blocks: Block) -> str:
    """A page with the first of the notes above, and the others below."""
    first, *others = notes
    return document(f"Classifier comparison: {title}", first, *blocks, *_below("How it was measured", others))


def _below(title: str, notes: Sequence[str]) -> list[str]:
    return [f"## {title}", "\n".join(f"- {note}" for note in notes)] if notes else []


def outcomes(ranked: pd.DataFrame) -> pd.DataFrame:
    """Wins-ties-losses against each of `COMPARED` that took part, one column each."""
    found = {}
    for name, title in COMPARED_TITLES.items():
        columns = [f"{name}_{outcome}" for outcome in ("wins", "ties", "losses")]
        if set(columns) <= set(ranked):
            counts = ranked[columns].apply(pd.to_numeric, errors="coerce")
            found[f"wins-ties-losses against {title}"] = [
                "-" if np.isnan(row).any() else "-".join(f"{count:.0f}" for count in row)
                for row in counts.to_numpy(dtype=float, na_value=np.nan)
            ]
    return pd.DataFrame(found, ranked.index)


def left_out(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame | str:
    """Mean area under the ROC curve of each detector, over tables and by table, the best first."""
    if "auroc" not in table:
        return UNAVAILABLE
    wide = table.dropna(subset="auroc").pivot_table(
        index=["method", "score"], columns="dataset", values="auroc", sort=False
    )
    wide.insert(0, f"mean of {wide.shape[1]} tables", wide.mean(axis=1, skipna=False))
    wide = wide.sort_values(wide.columns[0], ascending=False, kind="stable")
    # Only some of these scores are log p(x).
    scores = SCORES | {"density": "score_samples"}
    wide = wide.rename(index=names, level="method").rename(index=scores, level="score")
    return _rounded(wide, dict.fromkeys(wide, 3)).reset_index()


def failures(
    table: pd.DataFrame, names: Mapping[str, str], titles: Mapping[str, str] | None = None
) -> list[str]:
    """A line for each method and error, with the data sets if there are others."""
    if "error" not in table or table["error"].isna().all():
        return []
    lines = []
    for (method, error), failed in table[table["error"].notna()].groupby(["method", "error"], sort=False):
        where = ""
        if "dataset" in table:
            shown = [(titles or {}).get(name, name) for name in dict.fromkeys(failed["dataset"])]
            everywhere = len(shown) > 1 and len(shown) == table["dataset"].nunique()
            where = " on all data sets" if everywhere else f" on {', '.join(shown)}"
        lines.append(f"{names[method]} failed{where}: {error}")
    return lines


def rank_blocks(part: Part, ranked: pd.DataFrame, names: Mapping[str, str]) -> list[Block]:
    """Average ranks on the tables of a part by each of `MEASURES`, with `outcomes`, below a line on the critical difference."""
    blocks: list[Block] = []
    for measure, (label, _) in MEASURES.items():
        own = ranked[ranked["measure"] == measure]
        n_datasets, critical_difference = own.iloc[0][["n_datasets", "critical_difference"]].astype(float)
        shown = [number(rank, 1) for rank in own["rank"]]
        lines = pd.DataFrame({"method": own["method"].map(names), "average rank": shown})
        blocks += [
            f"Average rank by {label} on {n_datasets:.0f} {GROUP_TITLES[part]}; differences below "
            f"{critical_difference:.1f}, the critical difference (Nemenyi, 5%), are not significant:",
            lines.join(outcomes(own)),
        ]
    return blocks


def _by_data_set(means: pd.DataFrame, names: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    sizes = means.groupby("dataset", sort=False)[SIZES].first()
    found = {}
    for measure, (label, unit) in MEASURES.items():
        wide = means.pivot_table(index="dataset", columns="method", values=measure, sort=False)
        digits = dict.fromkeys(SIZES, 0) | dict.fromkeys(wide, DIGITS[measure])
        found[f"By data set, {label}, {unit}"] = _rounded(sizes.join(wide), digits, SIZE_TITLES | dict(names))
    return found


def _seconds(own: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    lines = own.assign(method=own["method"].map(names))[["method", "fit", "predict"]]
    return _rounded(lines, {"fit": 1, "predict": 2})


def _images(own: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    lines = [
        {
            "method": names[row["method"]],
            **{title: row[size] for size, title in SIZE_TITLES.items()},
            "accuracy, %": f"failed: {row['error']}"
            if isinstance(row.get("error"), str)
            else interval(row["accuracy"], row["low"], row["high"]),
            "against the SVM": number(row["gain"], "+.2f", "")
            + ("" if np.isnan(row["p"]) else f" (p = {row['p']:.2g})"),
            "log-loss": row["log_loss"],
            "calibration error, %": row["calibration_error"],
            "runs": row["n_runs"],
        }
        for row in own.to_dict("records")
    ]
    digits = dict.fromkeys(SIZE_TITLES.values(), 0) | {"log-loss": 3, "calibration error, %": 1, "runs": 0}
    return _rounded(pd.DataFrame(lines), digits)


def _outliers(table: pd.DataFrame, names: Mapping[str, str], titles: Mapping[str, str]) -> pd.DataFrame | str:
    if "auroc" not in table:
        return UNAVAILABLE
    by = ["method", *SIZES, "score"]
    wide = table.pivot_table(index=by, columns="dataset", values="auroc", sort=False)
    wide = wide.rename(index=names, level="method").rename(index=SCORES, level="score")
    return _rounded(wide, dict.fromkeys(wide, 3), SIZE_TITLES | dict(titles))


def _rounded(
    table: pd.DataFrame, digits: Mapping[str, int], titles: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """A table with so many digits in each column, and its index as columns."""
    cells = {name: [number(value, n, "") for value in table[name]] for name, n in digits.items()}
    shown = table.assign(**cells)
    return (shown.reset_index() if titles else shown).rename(columns=titles or {})
