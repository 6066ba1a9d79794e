"""What each way to settle lambda is worth."""

from skem import titsias_tables
from skem.files import plain_errors, read_table, write_table, write_text

with plain_errors():
    errors = titsias_tables.gathered(map(read_table, snakemake.input))
    table = titsias_tables.choice_table(errors)
    write_text(snakemake.output.md, titsias_tables.choice_markdown(table))
    write_table(snakemake.output.csv, table)
