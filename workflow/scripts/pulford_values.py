"""What the claims of Pulford (2022) are judged by, from histories and times."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.papers.pulford2022 import values

with plain_errors():
    datasets, given = snakemake.params.datasets, snakemake.input
    histories = {name: read_table(path) for name, path in zip(datasets, given.history, strict=True)}
    fits = {name: read_table(path) for name, path in zip(datasets, given.seconds, strict=True)}
    timed = [table for table in map(read_table, given.timed) if len(table)]
    passes = pd.concat(timed, ignore_index=True) if timed else pd.DataFrame()
    write_table(snakemake.output.values, values.values(histories))
    write_table(snakemake.output.timing, values.seconds(fits, passes))
