"""Table 1 beside the paper's and all that goes with it, and the seconds apart."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.papers.sanderson2017 import tables

with plain_errors():
    stated = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)
    settings = snakemake.params.settings
    found = {name: read_table(path) for name, path in snakemake.params.found.items()}
    table = tables.summary(found["fits"], found["heldout"], stated, settings)
    write_table(snakemake.output.csv, table)
    write_text(snakemake.output.md, tables.to_markdown(table, found, settings))
    timing = tables.seconds(found["timing"], stated, settings)
    write_table(snakemake.output.timing_csv, timing)
    write_text(snakemake.output.timing_md, tables.timing_to_markdown(timing, found, settings))
