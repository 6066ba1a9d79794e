"""Tidy table of a study, and the same to be read."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.ledger.stated_claims import claim
from skem.repro.papers.pulford2022 import tables

CLAIMED = {
    "rice": "pulford.table1.rice.skem_accuracy",
    "ionosphere": "pulford.table1.ionosphere.pskem_accuracy",
}

with plain_errors():
    name, experiment = snakemake.wildcards.study, snakemake.params.experiment
    history = pd.concat([t for t in map(read_table, snakemake.input.history) if len(t)], ignore_index=True)
    if name == "audit":
        claims = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)
        table = tables.audit(history)
        text = tables.audit_markdown(table, {key: claim(claims, of) for key, of in CLAIMED.items()})
    elif name == "future":
        table = tables.future(history)
        text = tables.future_markdown(table)
    else:
        parts = [
            tables.curves(history[history["dataset"] == dataset], list(entry["methods"]))
            for dataset, entry in experiment["data_sets"].items()
        ]
        table = pd.concat(parts, ignore_index=True)
        text = tables.curves_markdown(experiment["title"], table)
    write_text(snakemake.output.md, text)
    write_table(snakemake.output.csv, table)
