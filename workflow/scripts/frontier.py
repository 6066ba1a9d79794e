"""Tables and figures of the classifier beside others."""

from pathlib import Path

import pandas as pd

from skem.engine import threads
from skem.repro.drawing import save, style
from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.frontier import figures, summary

threads.limit_process(1)


with plain_errors():
    settings = snakemake.params.settings
    outputs = {"/".join(Path(path).parts[-2:]): path for path in snakemake.output}
    names, images, tables = settings["names"], settings["images"], settings["tables"]
    titles = {name: entry["title"] for name, entry in images["data_sets"].items()}

    inputs = snakemake.input
    table, times = (
        summary.of_images(read_table(inputs.images)),
        summary.of_seconds(read_table(inputs.images_timing)),
    )
    means = summary.of_tables(read_table(inputs.tables))
    placed = {
        "accuracy": summary.ranks(means, "accuracy", larger_is_better=True),
        "log_loss": summary.ranks(means, "log_loss", larger_is_better=False),
    }
    write_table(outputs["tables/frontier_images.csv"], table)
    write_text(
        outputs["tables/frontier_images.md"], summary.images_markdown(table, names, titles, images["notes"])
    )
    write_table(outputs["tables/frontier_images_timing.csv"], times)
    write_text(
        outputs["tables/frontier_images_timing.md"],
        summary.seconds_markdown(times, names, titles, images["timing_notes"]),
    )
    write_table(outputs["tables/frontier_tables.csv"], means)
    write_text(
        outputs["tables/frontier_tables.md"], summary.tables_markdown(means, placed, names, tables["notes"])
    )
    together_placed = [part.assign(measure=measure) for measure, part in placed.items()]
    write_table(outputs["tables/frontier_ranks.csv"], pd.concat(together_placed, ignore_index=True))

    with style():
        steps = {name: entry["steps"] for name, entry in images["data_sets"].items()}
        # One method alone is no comparison.
        both = (
            table.merge(times, on=["dataset", "method"]).groupby("dataset").filter(lambda own: len(own) > 1)
        )
        drawn = {
            "frontier_timing": figures.error_by_seconds(both, steps, names, titles),
            "frontier_ranks": figures.critical_differences(
                placed, names, {"accuracy": "by accuracy", "log_loss": "by log-loss"}
            ),
        }
        for name, axes in drawn.items():
            save(axes, [outputs[f"figures/{name}.{suffix}"] for suffix in ("svg", "pdf", "png")])
