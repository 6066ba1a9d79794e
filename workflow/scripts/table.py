"""Render the table of an experiment as CSV, Markdown and LaTeX."""

from pathlib import Path

import pandas as pd

from skem.repro.files import plain_errors, read_arrays, read_table, write_table, write_text
from skem.repro.protocols import summarise
from skem.repro.tables import accuracy
from skem.repro.training.classifiers import baselines

with plain_errors():
    experiment, datasets = snakemake.params.experiment, snakemake.params.datasets
    history = {}
    for dataset, path in zip(datasets, snakemake.input.history, strict=True):
        rows = read_table(path)
        # A history also has what other experiments tried.
        own = [*experiment["data_sets"][dataset]["methods"], *baselines.REPORTED]
        history[dataset] = rows[rows["method"].isin(own)] if len(rows) else rows
    claims = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)

    def predictions(dataset, method, setting):
        folder, found = Path("results/runs", dataset), {}
        for path in map(Path, snakemake.input.predictions):
            if path.parent == folder / method / setting:
                found |= read_arrays(path)
            elif path.parent == folder / "baselines" and method in baselines.REPORTED:
                arrays = read_arrays(path, [f"{method}:", "y-"])
                found |= {name.removeprefix(f"{method}:"): array for name, array in arrays.items()}
        return found

    failures = pd.concat(map(read_table, snakemake.input.failed), ignore_index=True)
    table = accuracy.accuracy_table(experiment, history, predictions, claims)
    rivals = accuracy.rivals_table(history, failures)
    left_out = sorted(set(baselines.ENTRIES) - set(snakemake.params.baselines))
    remarks = ""
    if left_out:
        missing = ", ".join(accuracy.NAMES.get(name, name) for name in left_out)
        remarks = f"Left out to save time: {missing}; config/paper.yaml has them."
    remarks = "\n\n".join(filter(None, [remarks, accuracy.failures_in_words(failures)]))
    measured = [summarise(table) for table in history.values() if len(table)]
    write_table(snakemake.output.summary, pd.concat(measured, ignore_index=True) if measured else [])
    parts = accuracy.parts(table, rivals)
    write_text(snakemake.output.tex, accuracy.to_latex(experiment["title"], parts))
    write_text(snakemake.output.md, accuracy.to_markdown(experiment["title"], parts, accuracy.NOTES, remarks))
    write_table(snakemake.output.csv, table)
