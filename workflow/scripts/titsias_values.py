"""What the claims of Titsias and Likas (2001) are judged by, from the errors in every fold."""

from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.papers.titsias2001 import values

with plain_errors():
    given, output = snakemake.input, snakemake.output
    write_table(output.measured, values.values(read_table(given.errors)))
    write_table(output.timing, values.seconds(read_table(given.errors_timing)))
    write_table(output.examples, read_table(given.examples))
