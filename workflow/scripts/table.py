"""Render the table of an experiment as CSV, Markdown and LaTeX."""

from pathlib import Path

import pandas as pd

from skem import baselines, tables
from skem.files import plain_errors, read_arrays, read_table, write_table, write_text
from skem.protocols import summarise

with plain_errors():
    experiment, datasets = snakemake.params.experiment, snakemake.params.datasets
    history = dict(zip(datasets, map(read_table, snakemake.input.history), strict=True))
    seconds = dict(zip(datasets, map(read_table, snakemake.input.passes), strict=True))
    claims = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)

    def predictions(dataset, method, setting):
        paths = [Path(path) for path in snakemake.input.predictions]
        folder = Path("results/runs", dataset)
        names = (folder / method / setting, folder / "baselines")
        found = {}
        for path in paths:
            if path.parent == names[0] or (path.parent == names[1] and path.name.startswith(f"{method}.")):
                found |= read_arrays(path)
        return found

    table = tables.accuracy_table(experiment, history, seconds, predictions, claims)
    rivals = tables.rivals_table(history)
    left_out = sorted(set(baselines.names()) - set(snakemake.params.baselines["names"]))
    remarks = ""
    if left_out:
        missing = ", ".join(tables.NAMES.get(name, name) for name in left_out)
        remarks = f"Left out to save time: {missing}; config/paper.yaml has them."
    measured = [summarise(table) for table in history.values() if len(table)]
    write_table(snakemake.output.summary, pd.concat(measured, ignore_index=True) if measured else [])
    write_text(snakemake.output.tex, tables.to_latex(experiment["title"], table, rivals))
    write_text(snakemake.output.md, tables.to_markdown(experiment["title"], table, rivals, remarks))
    write_table(snakemake.output.csv, table)
