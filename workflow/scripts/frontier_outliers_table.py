"""The table of what finds the rows of another data set."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.frontier import outliers

with plain_errors():
    settings = snakemake.params.settings
    tables = [table for table in map(read_table, snakemake.input) if len(table)]
    table = (
        pd.concat(tables, ignore_index=True)
        if tables
        else pd.DataFrame(columns=["method", "score", "dataset", "auroc"])
    )
    titles = {name: entry["title"] for name, entry in settings["data_sets"].items()}
    write_table(snakemake.output.csv, table)
    write_text(
        snakemake.output.md, outliers.to_markdown(table, snakemake.params.names, titles, settings["notes"])
    )
