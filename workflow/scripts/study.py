"""Tidy table of a study, and the same to be read."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.ledger.stated_claims import claim
from skem.repro.papers.pulford2022 import tables

with plain_errors():
    name, experiment = snakemake.wildcards.study, snakemake.params.experiment
    paper, datasets = snakemake.params.settings, experiment["data_sets"]
    history = pd.concat([t for t in map(read_table, snakemake.input.history) if len(t)], ignore_index=True)
    if name == "audit":
        claims = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)
        printed = {dataset: claim(claims, paper.headlines[dataset].accuracy) for dataset in datasets}
        methods = [method for entry in datasets.values() for method in entry["methods"]]
        table = tables.audit(history, methods)
        text = tables.audit_markdown(table, printed, paper)
    elif name == "future":
        table = tables.future(history)
        text = tables.future_markdown(table)
    else:
        parts = [
            tables.curves(history[history["dataset"] == dataset], list(entry["methods"]))
            for dataset, entry in datasets.items()
        ]
        table = pd.concat(parts, ignore_index=True)
        text = tables.curves_markdown(experiment["title"], table)
    write_text(snakemake.output.md, text)
    write_table(snakemake.output.csv, table)
