"""The table of a study, and its Markdown."""

import pandas as pd

from skem.repro.files import plain_errors, read_tables, write_table, write_text
from skem.repro.papers.pulford2022 import tables
from skem.repro.tables import pages

with plain_errors(snakemake.log):
    params = snakemake.params
    made = tables.study(
        snakemake.wildcards.study,
        params.experiment,
        read_tables(snakemake.input.history),
        pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False),
        params.settings,
    )
    known = pages.read(snakemake.input.pages)
    page = known.get(snakemake.wildcards.study, known["curves"])
    write_text(snakemake.output.md, pages.render(page, made))
    write_table(snakemake.output.csv, made["csv"])
