"""Draw a figure, and write the tidy table that it is drawn from."""

from pathlib import Path

from skem.repro import papers
from skem.repro.drawing import save, style
from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.tables import iterations

with plain_errors(snakemake.log), style(snakemake.params.columns):
    figures = papers.figures(snakemake.params.paper)
    figure = figures.get(snakemake.wildcards.figure, iterations.FIGURE)
    tables = {Path(path).stem: read_table(path) for path in snakemake.input}
    rows, axes = figure.drawn(tables, snakemake.params.settings)
    save(axes, [path for path in snakemake.output if path != snakemake.output.csv])
    write_table(snakemake.output.csv, rows)
