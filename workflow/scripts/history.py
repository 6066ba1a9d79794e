"""Gather the histories of all methods on a data set into one table."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.protocols import COLUMNS

with plain_errors():
    for kind in ("history", "seconds"):
        tables = [table for table in map(read_table, snakemake.input[kind]) if len(table)]
        gathered = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(COLUMNS))
        write_table(snakemake.output[kind], gathered)
