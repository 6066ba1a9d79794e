"""Render the table of an experiment as CSV and Markdown."""

from pathlib import Path

import pandas as pd

from skem.repro.files import plain_errors, read_arrays, read_table, read_tables, write_table, write_text
from skem.repro.protocols import summarise
from skem.repro.tables import accuracy, pages
from skem.repro.training.classifiers import baselines

with plain_errors(snakemake.log):
    experiment = snakemake.params.experiment
    history = dict(zip(snakemake.params.datasets, map(read_table, snakemake.input.history), strict=True))
    for dataset, rows in history.items():
        # A history also contains the methods of other experiments.
        own = [*experiment["data_sets"][dataset]["methods"], *baselines.REPORTED]
        history[dataset] = rows[rows["method"].isin(own)] if len(rows) else rows
    claims = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)

    def predictions(dataset, method, configuration):
        folder, found = Path("results/runs", dataset), {}
        for path in map(Path, snakemake.input.predictions):
            if path.parent == folder / method / configuration:
                found |= read_arrays(path)
            elif path.parent == folder / "baselines" and method in baselines.REPORTED:
                arrays = read_arrays(path, [f"{method}:", "y-"])
                found |= {name.removeprefix(f"{method}:"): array for name, array in arrays.items()}
        return found

    failures = read_tables(snakemake.input.failed).reindex(columns=["dataset", "method", "setting", "error"])
    table = accuracy.accuracy_table(experiment, history, predictions, claims)
    baseline_table = accuracy.baselines_table(history, failures)
    measured = [summarise(rows) for rows in history.values() if len(rows)]
    remarks = accuracy.remarks(snakemake.params.baselines, failures)
    made = accuracy.layout(experiment, table, baseline_table, remarks)
    write_table(snakemake.output.summary, pd.concat(measured, ignore_index=True) if measured else [])
    page = pages.read(snakemake.input.pages)["accuracy"]
    write_text(snakemake.output.md, pages.render(page, made))
    write_table(snakemake.output.csv, table)
