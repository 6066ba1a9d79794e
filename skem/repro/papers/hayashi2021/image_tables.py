"""Table 2 of Hayashi and Uchida (2021), to be read beside the paper's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from skem.repro.papers.hayashi2021.settings import NETWORKS, Settings
from skem.repro.papers.hayashi2021.tables import cell

MEASURES = ("error", "log_loss", "calibration_error", "weights", "initial_weights", "n_components")


def summary(errors: pd.DataFrame, stated: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    """One row per column of Table 2 and last layer.

    Returns
    -------
    DataFrame
        dataset, method, n_runs; error (%), log_loss (nats), calibration_error (%), weights, initial_weights, n_components:
        means over seeds; error_sd; paper_error.
    """
    said = stated.set_index("id")["value"]
    rows = []
    for name in paper.images["data_sets"]:
        for method in NETWORKS:
            own = errors
            if len(errors):
                own = errors[(errors["dataset"] == name) & (errors["method"] == method)]
            row: dict[str, Any] = {"dataset": name, "method": method, "n_runs": len(own)}
            row |= {measure: own[measure].mean() if measure in own else np.nan for measure in MEASURES}
            row["error_sd"] = own["error"].std(ddof=1) if len(own) else np.nan
            rows.append(row | {"paper_error": float(said[f"hayashi.table2.{name}.{method}"])})
    return pd.DataFrame(rows)


def to_markdown(table: pd.DataFrame, choices: pd.DataFrame, paper: Settings) -> str:
    """The table, a part per data set, and what was chosen on validation rows."""
    network, choice = paper.images["network"], paper.images["choice"]
    text = ["# Table 2 of Hayashi and Uchida (2021)"]
    text.append(
        "Error in % on test images with its standard deviation over seeds, and the weights of the last layer. "
        f"Five convolutions of {', '.join(map(str, network['widths']))} channels with batch norm, four poolings and a linear "
        f"layer of D numbers; Adam, {network['epochs']} epochs. Widths, batches and learning rate are ours, as the paper gives none. "
        f"Mixtures have {network['n_components']} components per class."
    )
    for name, entry in paper.images["data_sets"].items():
        own = table[table["dataset"] == name]
        text.append(f"**{entry['title']}**")
        if not own["n_runs"].sum():
            text.append("not available")
            continue
        lines = [
            {
                "last layer": NETWORKS[row["method"]],
                "the paper": cell(row["paper_error"], digits=2),
                "error": cell(row["error"], row["error_sd"], digits=2),
                "log-loss": cell(row["log_loss"], digits=3),
                "calibration error": cell(row["calibration_error"], digits=2),
                "weights": f"{row['weights']:.0f} of {row['initial_weights']:.0f}",
                "components": cell(row["n_components"]),
                "seeds": row["n_runs"],
            }
            for row in own.to_dict("records")
        ]
        text.append(pd.DataFrame(lines).to_markdown(index=False, disable_numparse=True))
    text.append("## What was chosen on validation rows")
    text.append(
        f"Error in % on {choice['n_validation']} training images that were set aside, after {choice['epochs']} epochs: of the L1 penalty "
        "the strength, of SDGM the share of training in which the divergence rises to its full part of the loss."
    )
    titles = {name: entry["title"] for name, entry in paper.images["data_sets"].items()}
    lines = [
        {
            "data set": titles[row["dataset"]],
            "last layer": NETWORKS[row["method"]],
            "value": f"{row['value']:g}",
            "error": cell(row["error"], digits=2),
        }
        for row in choices.to_dict("records")
    ]
    text.append(pd.DataFrame(lines).to_markdown(index=False, disable_numparse=True))
    text.append(
        "Not run: " + "; ".join(f"{name}, {why}" for name, why in paper.images["left_out"].items()) + "."
    )
    return "\n\n".join(text) + "\n"
