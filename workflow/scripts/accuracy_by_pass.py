"""Draw accuracy against pass, a panel for each data set."""

from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from skem import plots, tables
from skem.files import plain_errors, read_table, write

# The same file for the same numbers.
matplotlib.rcParams["svg.hashsalt"] = "skem"

with plain_errors():
    experiment, datasets = snakemake.params.experiment, snakemake.params.datasets
    claims = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)
    columns = min(3, len(datasets))
    lines = -(-len(datasets) // columns)
    figure = Figure(figsize=(3.6 * columns, 3.0 * lines + 0.5), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False)
    for ax, dataset, path in zip(axes.flat, datasets, snakemake.input.history, strict=False):
        entry = experiment["data_sets"][dataset]
        setting = entry["paper"]["setting"]
        history = read_table(path)
        title = f"{tables.NAMES.get(dataset, dataset)}, {setting.replace('-K', ', K = ')}"
        if not len(history):
            ax.set_title(title)
            ax.text(0.5, 0.5, "data not available", ha="center", va="center", transform=ax.transAxes)
            ax.set_axis_off()
            continue
        method = next(name for name, how in entry["methods"].items() if setting in how.get("settings", {}))
        own = history[(history["method"] == method) & (history["setting"] == setting)]
        plots.accuracy_by_pass(
            own, paper=tables.claim(claims, entry["paper"]["accuracy"]), title=title, ax=ax
        )
    for ax in axes.flat[len(datasets) :]:
        ax.set_axis_off()
    labels = {}
    for ax in axes.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            if label.startswith("paper"):
                label = "paper"
            labels.setdefault(label, handle)
    figure.legend(labels.values(), labels.keys(), loc="outside lower center", ncols=4, frameon=False)
    for path in snakemake.output:
        kind = Path(path).suffix[1:]
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        write(
            path,
            lambda file, kind=kind, metadata=metadata: figure.savefig(
                file, format=kind, dpi=150, metadata=metadata
            ),
        )
