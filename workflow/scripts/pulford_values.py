"""Values that the claims of Pulford (2022) are evaluated on, from histories and times."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.papers.pulford2022 import values

with plain_errors(snakemake.log):
    datasets, given = snakemake.params.datasets, snakemake.input
    histories, fits = (
        dict(zip(datasets, map(read_table, paths), strict=True)) for paths in (given.history, given.seconds)
    )
    timed = pd.concat([pd.DataFrame(), *map(read_table, given.timed)], ignore_index=True)
    write_table(snakemake.output.values, values.values(histories))
    write_table(snakemake.output.timing, values.seconds(fits, timed))
