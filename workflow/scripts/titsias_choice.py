"""What each way to settle lambda is worth."""

from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.papers.titsias2001 import tables

with plain_errors():
    errors = tables.gathered(map(read_table, snakemake.input))
    table = tables.choice_table(errors)
    write_text(snakemake.output.md, tables.choice_markdown(table, snakemake.params.settings))
    write_table(snakemake.output.csv, table)
