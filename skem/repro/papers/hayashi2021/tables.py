"""Table 1 of Hayashi and Uchida (2021) and its appendix B, to be read beside the paper's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from skem.repro.papers.hayashi2021.settings import METHODS, Settings

MEASURES = ("error", "log_loss", "calibration_error", "weights", "n_components")


def printed(stated: pd.DataFrame) -> dict[tuple[str, str, str], float]:
    """What Table 1 of the paper prints, by data set, method and "error" or "weights"."""
    quantities = {"error_pct": "error", "n_nonzero_weights": "weights"}
    own = stated[stated["id"].str.startswith("hayashi.table1.") & stated["quantity"].isin(quantities)]
    return {(row.dataset, row.method, quantities[row.quantity]): float(row.value) for row in own.itertuples()}


def summary(errors: pd.DataFrame, stated: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    """One row per data set and method.

    Returns
    -------
    DataFrame
        dataset, method, n_runs, benchmark (whether all its splits are the paper's); error (%), log_loss (nats), calibration_error (%), weights, n_components: means over splits;
        error_sd, weights_sd; paper_error, paper_weights.
    """
    said, rows = printed(stated), []
    for name in paper.data_sets:
        for method in METHODS:
            row: dict[str, Any] = {"dataset": name, "method": method}
            own = errors
            if len(errors):
                own = errors[(errors["dataset"] == name) & (errors["method"] == method)]
            row |= {"n_runs": len(own), "benchmark": bool(len(own) and own["benchmark"].all())}
            for measure in MEASURES:
                row[measure] = own[measure].mean() if len(own) else np.nan
            for measure in ("error", "weights"):
                row[f"{measure}_sd"] = own[measure].std(ddof=1) if len(own) else np.nan
                row[f"paper_{measure}"] = said.get((name, method.removesuffix("_raw"), measure), np.nan)
            rows.append(row)
    return pd.DataFrame(rows)


def by_components(components: pd.DataFrame) -> pd.DataFrame:
    """Means and standard deviations over repetitions, by the number of components at first."""
    table = components.assign(reduction=100 * (1 - components["weights"] / components["initial_weights"]))
    measures = ["error", "train_error", "n_components", "weights", "reduction"]
    grouped = table.groupby("n_components_init")[measures]
    return grouped.mean().join(grouped.std(ddof=1).add_suffix("_sd")).reset_index()


def to_markdown(table: pd.DataFrame, components: pd.DataFrame, raw: pd.DataFrame, paper: Settings) -> str:
    """Table 1, a part per data set, and appendix B, with features standardised and as they are."""
    text = ["# Table 1 of Hayashi and Uchida (2021)"]
    drawn = table["dataset"].isin([name for name, entry in paper.data_sets.items() if "n_train" in entry])
    whose = "of our own; the benchmark's 100 are in no package"
    known = table.loc[drawn & (table["n_runs"] > 0), "benchmark"]
    if len(known) and known.all():
        whose = "of the benchmark"
    text.append(
        "Error in % and weights that are not zero, means and standard deviations over "
        f"{table['n_runs'].max()} splits {whose}. On Ripley's data the split is published, and it is the start that "
        "varies. The paper took its column of RVM from Tipping (2001); there is no public code of its MGP, here it is the dual form "
        "with one precision per component."
    )
    for name, entry in paper.data_sets.items():
        own = table[table["dataset"] == name]
        text.append(f"**{entry['title']}**")
        if not own["n_runs"].sum():
            text.append("not available")
            continue
        lines = [
            {
                "method": METHODS[row["method"]],
                "the paper": cell(row["paper_error"]),
                "error": cell(row["error"], row["error_sd"]),
                "weights, the paper": cell(row["paper_weights"]),
                "weights": cell(row["weights"], row["weights_sd"]),
                "components": cell(row["n_components"]),
                "log-loss": cell(row["log_loss"], digits=3),
                "calibration error": cell(row["calibration_error"]),
            }
            for row in own.to_dict("records")
        ]
        text.append(pd.DataFrame(lines).to_markdown(index=False, disable_numparse=True))
    text.append("## Appendix B")
    text.append(
        f"Two classes, eight Gaussians each on a checkerboard of our own; {paper.synthetic['n_train']} training rows, "
        f"{paper.synthetic['repetitions']} repetitions."
    )
    for title, by_size in (("Features standardised", components), ("Features as they are", raw)):
        lines = [
            {
                "components per class at first": f"{row['n_components_init']:.0f}",
                "left": cell(row["n_components"], row["n_components_sd"]),
                "error": cell(row["error"], row["error_sd"]),
                "on training rows": cell(row["train_error"], row["train_error_sd"]),
                "weights": cell(row["weights"], row["weights_sd"]),
                "weights removed, %": cell(row["reduction"], digits=2),
            }
            for row in by_size.to_dict("records")
        ]
        text += [f"**{title}**", pd.DataFrame(lines).to_markdown(index=False, disable_numparse=True)]
    return "\n\n".join(text) + "\n"


def cell(mean: float, sd: float = float("nan"), digits: int = 1) -> str:
    """A mean with its standard deviation, nothing where there is none."""
    if np.isnan(mean):
        return ""
    return f"{mean:.{digits}f}" + ("" if np.isnan(sd) else f" ± {sd:.{digits}f}")
