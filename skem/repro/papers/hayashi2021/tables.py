"""Tables 1 and 2 and appendix B of Hayashi and Uchida (2021), beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from skem.repro.papers.hayashi2021.settings import METHODS, NETWORKS, Settings
from skem.repro.papers.measured import Tables, select, stated_value, summary, without_times
from skem.repro.render.format import document, number, spread, table

MEASURES = ("error", "log_loss", "calibration_error", "weights", "n_components")


def values(tables: Tables, *_: Any) -> dict[str, pd.DataFrame]:
    """Return results and times of Table 1 and appendix B."""
    found = without_times(tables, errors=("dataset", "run", "method"))
    return found | {"timing": found["errors_timing"]}


def image_values(tables: Tables, *_: Any) -> dict[str, pd.DataFrame]:
    """Return results, times and chosen hyperparameters of Table 2."""
    return without_times(tables, images=("dataset", "method", "run"))


def table1(tables: Tables, stated: pd.DataFrame, paper: Settings) -> dict[str, Any]:
    """Return Table 1 and, as Markdown, appendix B too."""

    def printed(quantity: str) -> Callable[[str, str], float]:
        return lambda dataset, method: stated_value(
            stated,
            paper="hayashi2021",
            dataset=dataset,
            method=method.removesuffix("_files"),
            quantity=quantity,
        )

    errors = tables["errors"]
    cells = [(name, method) for name in paper.data_sets for method in METHODS]
    of_paper = {"error": printed("error_pct"), "weights": printed("n_nonzero_weights")}
    found = summary(errors, cells, MEASURES, of_paper)
    own = [select(errors, dataset=dataset, method=method) for dataset, method in cells]
    found.insert(3, "benchmark", [bool(len(rows) and rows["benchmark"].all()) for rows in own])
    curves = {
        "Features as generated": by_components(tables["components_raw"]),
        "Features divided by sqrt(D) standard deviations": by_components(tables["components"]),
    }
    return {"csv": found, "md": _table1_markdown(found, curves, paper)}


def by_components(components: pd.DataFrame) -> pd.DataFrame:
    """Return means and standard deviations over repetitions, by the initial number of components."""
    runs = components.assign(reduction=100 * (1 - components["weights"] / components["initial_weights"]))
    measures = ["error", "train_error", "n_components", "weights", "reduction"]
    grouped = runs.groupby("n_components_init")[measures]
    found = grouped.mean().join(grouped.std(ddof=1).add_suffix("_sd"))
    return found.assign(n_runs=grouped.size()).reset_index()


def _table1_markdown(found: pd.DataFrame, curves: dict[str, pd.DataFrame], paper: Settings) -> str:
    drawn = found["dataset"].isin([name for name, entry in paper.data_sets.items() if "n_train" in entry])
    known = found.loc[drawn & (found["n_runs"] > 0), "benchmark"]
    origin = (
        "of the benchmark" if len(known) and known.all() else "of our own; no package has the benchmark's 100"
    )

    most = found["n_runs"].max()

    def line(row: dict[str, Any]) -> dict[str, str]:
        fewer = f" ({row['n_runs']} splits)" if 0 < row["n_runs"] < most else ""
        return {
            "method": METHODS[row["method"]] + fewer,
            "error, paper": number(row["paper_error"], 1),
            "error, ours": spread(row["error"], row["error_sd"], 1),
            "weights, paper": number(row["paper_weights"], 1),
            "weights, ours": spread(row["weights"], row["weights_sd"], 1),
            "components": number(row["n_components"], 1),
            "log-loss": number(row["log_loss"], 3),
            "calibration error": number(row["calibration_error"], 1),
        }

    def by_size(row: dict[str, Any]) -> dict[str, str]:
        return {
            "initial components per class": number(row["n_components_init"], 0),
            "repetitions": str(row["n_runs"]),
            "final": spread(row["n_components"], row["n_components_sd"], 1),
            "test error": spread(row["error"], row["error_sd"], 1),
            "training error": spread(row["train_error"], row["train_error_sd"], 1),
            "weights": spread(row["weights"], row["weights_sd"], 1),
            "weights removed, %": number(row["reduction"], 2),
        }

    return document(
        "Table 1 of Hayashi and Uchida (2021)",
        f"Error in % and non-zero weights: mean ± standard deviation over {most} splits {origin}. "
        "Ripley's data have a published split; there the initialisation varies. The paper quotes RVM from Tipping (2001). "
        "Its MGP has no public code; ours is the dual form with one precision per component.",
        *_by_data_set(found, paper.data_sets, line),
        "## Appendix B",
        f"Two classes of eight Gaussians each on a checkerboard of our own; {paper.synthetic['n_train']} training samples.",
        {title: pd.DataFrame(map(by_size, curve.to_dict("records"))) for title, curve in curves.items()},
    )


def _by_data_set(found: pd.DataFrame, entries: dict[str, Any], line: Any) -> Iterable[str]:
    """Yield a table per data set, or a statement that it is not available."""
    for name, entry in entries.items():
        own = found[found["dataset"] == name]
        yield f"**{entry['title']}**"
        measured = own["n_runs"].sum() > 0
        yield table(pd.DataFrame(map(line, own.to_dict("records")))) if measured else "not available"


def table2(tables: Tables, stated: pd.DataFrame, paper: Settings) -> dict[str, Any]:
    """Return Table 2 and, as Markdown, the chosen hyperparameters too."""
    images: Any = paper.images
    columns, network, choice = images["data_sets"], images["network"], images["choice"]
    found = summary(
        tables["images"],
        [(name, method) for name in columns for method in NETWORKS],
        (*MEASURES[:4], "initial_weights", "n_components"),
        {"error": lambda column, method: stated_value(stated, id=f"hayashi.table2.{column}.{method}")},
    )

    def line(row: dict[str, Any]) -> dict[str, str]:
        return {
            "last layer": NETWORKS[row["method"]],
            "error, paper": number(row["paper_error"]),
            "error, ours": spread(row["error"], row["error_sd"]),
            "log-loss": number(row["log_loss"], 3),
            "calibration error": number(row["calibration_error"]),
            "weights": f"{row['weights']:.0f} of {row['initial_weights']:.0f}",
            "components": number(row["n_components"], 1),
            "seeds": str(row["n_runs"]),
        }

    candidates = [
        {
            "data set": columns[row["dataset"]]["title"],
            "last layer": NETWORKS[row["method"]],
            "value": number(row["value"], "g"),
            "error": number(row["error"]),
        }
        for row in tables["images_choice"].to_dict("records")
    ]
    text = document(
        "Table 2 of Hayashi and Uchida (2021)",
        "Error in % on test images ± standard deviation over seeds, and weights of the last layer. "
        f"Five convolutions of {', '.join(map(str, network['widths']))} channels with batch norm, four poolings and a linear "
        f"layer of D outputs; Adam, {network['epochs']} epochs. Widths, batches and learning rate are ours; the paper gives none. "
        f"Mixtures have {network['n_components']} components per class.",
        *_by_data_set(found, columns, line),
        "## Hyperparameters chosen on validation samples",
        f"Error in % on {choice['n_validation']} held-out training images after {choice['epochs']} epochs: for the L1 penalty by "
        "strength, for SDGM by the share of training in which the divergence rises to its full part of the loss.",
        pd.DataFrame(candidates),
        "Not run: " + "; ".join(f"{name}, {reason}" for name, reason in images["left_out"].items()) + ".",
    )
    return {"csv": found, "md": text}
