"""Tables I to V beside the paper's."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.papers.titsias2001 import tables

with plain_errors():
    paper = snakemake.params.settings
    stated = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)
    errors = tables.gathered(map(read_table, snakemake.input.errors))
    write_table(snakemake.output.errors, errors)
    write_table(snakemake.output.seconds, tables.gathered(map(read_table, snakemake.input.seconds)))
    table = tables.summary(errors, tables.cells(stated), paper)
    write_text(snakemake.output.md, tables.to_markdown(table, paper))
    write_table(snakemake.output.csv, table)
