"""Values that the claims of Pulford (2022) are evaluated on, from histories and times."""

from skem.repro.files import plain_errors, read_table, read_tables, write_table
from skem.repro.papers.pulford2022 import values

with plain_errors(snakemake.log):
    datasets, given = snakemake.params.datasets, snakemake.input
    histories, fits = (
        dict(zip(datasets, map(read_table, paths), strict=True)) for paths in (given.history, given.seconds)
    )
    write_table(snakemake.output.values, values.values(histories))
    write_table(snakemake.output.timing, values.seconds(fits, read_tables(given.timed)))
