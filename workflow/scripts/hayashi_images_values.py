"""What the claims of Table 2 are judged by: results, what was chosen, and seconds apart."""

from pathlib import Path

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table

with plain_errors():
    tables = [read_table(path) for path in snakemake.input.errors]
    errors = pd.concat(tables, ignore_index=True).drop(columns="seconds", errors="ignore")
    write_table(snakemake.output.images, errors)
    timed = [table[["dataset", "method", "run", "seconds"]] for table in tables if len(table)]
    write_table(snakemake.output.images_timing, pd.concat(timed, ignore_index=True) if timed else [])
    choices = []
    for path in snakemake.input.choices:
        table = read_table(path).drop(columns="seconds", errors="ignore")
        if len(table):
            table.insert(0, "dataset", Path(path).parent.name)
        choices.append(table)
    write_table(snakemake.output.images_choice, pd.concat(choices, ignore_index=True))
