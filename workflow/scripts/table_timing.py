"""Render the seconds per EM iteration of an experiment beside the paper's, as CSV, Markdown and LaTeX."""

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.render.format import document
from skem.repro.tables import accuracy

with plain_errors():
    experiment = snakemake.params.experiment
    seconds = dict(zip(snakemake.params.datasets, map(read_table, snakemake.input.seconds), strict=True))
    claims = pd.read_csv(snakemake.input.claims, dtype=str, keep_default_na=False)
    table = accuracy.timing_table(experiment, seconds, claims)
    title, parts = f"{experiment['title']}: times", accuracy.timing_parts(table)
    write_text(snakemake.output.tex, accuracy.to_latex(title, parts))
    write_text(snakemake.output.md, document(title, parts, accuracy.TIMING_NOTES, level=2))
    write_table(snakemake.output.csv, table)
