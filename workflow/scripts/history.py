"""Gather the histories of all methods on a data set into one table."""

import pandas as pd

from skem.repro import protocols
from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.training import histories

with plain_errors(snakemake.log):
    history, seconds = (
        [table for table in map(read_table, snakemake.input[kind]) if len(table)]
        for kind in ("history", "seconds")
    )
    history, seconds, failures = histories.split_failures(history, seconds)
    write_table(snakemake.output.failed, failures)
    write_table(snakemake.output.history, protocols.gather(history))
    none = pd.DataFrame(columns=list(protocols.COLUMNS))
    write_table(snakemake.output.seconds, pd.concat(seconds, ignore_index=True) if seconds else none)
