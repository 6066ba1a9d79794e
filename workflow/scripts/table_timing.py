"""Render the seconds per EM iteration of an experiment beside the paper's, as CSV and Markdown."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.names import NAMES
from skem.repro.tables import accuracy, pages

with plain_errors(snakemake.log):
    experiment = snakemake.params.experiment
    seconds = dict(zip(snakemake.params.datasets, map(read_table, snakemake.input.seconds), strict=True))
    claims = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)
    table = accuracy.timing_table(experiment, seconds, claims)
    made = {
        "names": {"title": experiment["title"]},
        "times": table.assign(data=table["dataset"].replace(NAMES)),
    }
    write_text(snakemake.output.md, pages.render(pages.read(snakemake.input.pages)["times"], made))
    write_table(snakemake.output.csv, table)
