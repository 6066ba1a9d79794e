"""Gather the histories of all methods on a data set into one table."""

import pandas as pd

from skem.repro import protocols
from skem.repro.files import concatenated, plain_errors, read_table, write_table
from skem.repro.training import histories

with plain_errors(snakemake.log):
    history, seconds = (
        [table for table in map(read_table, snakemake.input[kind]) if len(table)]
        for kind in ("history", "seconds")
    )
    history, seconds, failures = histories.split_failures(history, seconds)
    write_table(snakemake.output.failed, failures)
    gathered = concatenated(history)
    # Columns of validation are empty if no fit has validation samples.
    columns = list(dict.fromkeys([*gathered, *protocols.COLUMNS]))
    write_table(snakemake.output.history, gathered.reindex(columns=columns))
    none = pd.DataFrame(columns=list(protocols.COLUMNS))
    write_table(snakemake.output.seconds, concatenated(seconds) if seconds else none)
