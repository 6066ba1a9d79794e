"""Table 1 beside the paper's, and appendix B."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.papers.hayashi2021 import tables

with plain_errors():
    stated = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)
    table = tables.summary(read_table(snakemake.input.errors), stated, snakemake.params.settings)
    components, raw = (
        tables.by_components(read_table(snakemake.input[name])) for name in ("components", "components_raw")
    )
    write_text(snakemake.output.md, tables.to_markdown(table, components, raw, snakemake.params.settings))
    write_table(snakemake.output.csv, table)
