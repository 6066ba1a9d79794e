"""Operations and seconds of each partition, for the figure of what a training costs."""

from skem.repro.files import plain_errors, read_tables, write_table
from skem.repro.papers.pulford2022 import tables

with plain_errors(snakemake.log):
    timed, params = read_tables(snakemake.input), snakemake.params
    write_table(snakemake.output[0], tables.costs(timed, params.n_train, params.iterations))
