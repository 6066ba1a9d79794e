"""What the claims are judged by: likelihoods, and seconds apart."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table

with plain_errors():
    for name, path in snakemake.output.items():
        tables = [table for table in map(read_table, snakemake.input[name]) if len(table)]
        write_table(path, pd.concat(tables, ignore_index=True) if tables else pd.DataFrame())
