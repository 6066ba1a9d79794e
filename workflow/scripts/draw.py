"""A figure of a paper, and the tidy table it is drawn from."""

from pathlib import Path

from skem.engine import threads
from skem.repro import papers
from skem.repro.drawing import save, style
from skem.repro.files import plain_errors, read_table, write_table

threads.limit_process(1)
with plain_errors(), style():
    settings = snakemake.params.settings
    figure = papers.load(snakemake.params.paper).FIGURES[snakemake.wildcards.figure]
    rows = figure.rows({Path(path).stem: read_table(path) for path in snakemake.input}, settings)
    axes = figure.draw(rows, settings)
    save(axes, [path for path in snakemake.output if path != snakemake.output.csv])
    write_table(snakemake.output.csv, rows)
