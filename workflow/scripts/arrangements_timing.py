"""Operations and seconds of each partition, for the figure of what a training costs."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.papers.pulford2022 import tables

with plain_errors(snakemake.log):
    timed = pd.concat(map(read_table, snakemake.input), ignore_index=True)
    table = tables.costs(timed, snakemake.params.n_train, snakemake.params.iterations)
    write_table(snakemake.output[0], table)
