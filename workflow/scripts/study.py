"""The table of a study, and its Markdown."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.papers.pulford2022 import tables
from skem.repro.tables import pages

with plain_errors(snakemake.log):
    params, histories = snakemake.params, map(read_table, snakemake.input.history)
    made = tables.study(
        snakemake.wildcards.study,
        params.experiment,
        pd.concat([history for history in histories if len(history)], ignore_index=True),
        pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False),
        params.settings,
    )
    known = pages.read(snakemake.input.pages)
    page = known.get(snakemake.wildcards.study, known["curves"])
    write_text(snakemake.output.md, pages.render(page, made))
    write_table(snakemake.output.csv, made["csv"])
