"""Join the measurements of all jobs of a part of the classifier comparison."""

from skem.repro.comparison import summary
from skem.repro.files import plain_errors, write_table

with plain_errors(snakemake.log):
    values = summary.joined(snakemake.params.part, snakemake.input)
    for name, path in snakemake.output.items():
        write_table(path, values[name])
