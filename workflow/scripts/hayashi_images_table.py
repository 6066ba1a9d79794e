"""Table 2 beside the paper's."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.papers.hayashi2021 import image_tables

with plain_errors():
    stated = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)
    settings, choices = snakemake.params.settings, read_table(snakemake.input.choices)
    table = image_tables.summary(read_table(snakemake.input.errors), stated, settings)
    write_text(snakemake.output.md, image_tables.to_markdown(table, choices, settings))
    write_table(snakemake.output.csv, table)
