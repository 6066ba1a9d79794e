"""Tables and figures of the classifier beside others."""

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

from skem.engine import threads
from skem.repro.drawing import STYLE, save
from skem.repro.files import plain_errors, read_arrays, read_table, write_table, write_text
from skem.repro.frontier import figures, summary

matplotlib.use("Agg")
threads.limit_process(1)


def together(paths):
    """The tables of several files, those without rows left out."""
    tables = [table for table in map(read_table, paths) if len(table)]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


with plain_errors():
    settings = snakemake.params.settings
    outputs = {"/".join(Path(path).parts[-2:]): path for path in snakemake.output}
    names, images, tables = settings["names"], settings["images"], settings["tables"]
    titles = {name: entry["title"] for name, entry in images["data_sets"].items()}

    scores, seconds = together(snakemake.input.images), together(snakemake.input.seconds)
    predicted, y_test = {}, {}
    for path in map(Path, snakemake.input.predictions):
        arrays = read_arrays(path)
        if arrays:
            predicted[path.parent.name, path.stem] = arrays["predicted"]
            y_test[path.parent.name] = np.unique(arrays["y_test"], return_inverse=True)[1]
    table, times = summary.of_images(scores, predicted, y_test), summary.of_seconds(seconds)
    write_table(outputs["values/frontier_images.csv"], scores)
    write_table(outputs["values/frontier_images_timing.csv"], seconds)

    rows, rows_seconds = together(snakemake.input.tables), together(snakemake.input.tables_seconds)
    means = summary.of_tables(rows)
    placed = {
        "accuracy": summary.ranks(means, "accuracy", larger_is_better=True),
        "log_loss": summary.ranks(means, "log_loss", larger_is_better=False),
    }
    write_table(outputs["values/frontier_tables.csv"], rows)
    write_table(outputs["values/frontier_tables_timing.csv"], rows_seconds)

    write_table(outputs["tables/frontier_images.csv"], table)
    write_text(
        outputs["tables/frontier_images.md"], summary.images_markdown(table, names, titles, images["notes"])
    )
    write_table(outputs["tables/frontier_images_timing.csv"], times)
    write_text(outputs["tables/frontier_images_timing.md"], summary.seconds_markdown(times, names, titles))
    write_table(outputs["tables/frontier_tables.csv"], means)
    write_text(
        outputs["tables/frontier_tables.md"], summary.tables_markdown(means, placed, names, tables["notes"])
    )
    together_placed = [part.assign(measure=measure) for measure, part in placed.items()]
    write_table(outputs["tables/frontier_ranks.csv"], pd.concat(together_placed, ignore_index=True))

    with matplotlib.rc_context(STYLE):
        steps = {name: entry["steps"] for name, entry in images["data_sets"].items()}
        both = table.merge(times, on=["dataset", "method"])
        drawn = {
            "frontier_timing": figures.error_by_seconds(both, steps, names, titles),
            "frontier_ranks": figures.critical_differences(
                placed, names, {"accuracy": "by accuracy", "log_loss": "by log-loss"}
            ),
        }
        for name, axes in drawn.items():
            save(axes, [outputs[f"figures/{name}.{suffix}"] for suffix in ("svg", "pdf", "png")])
