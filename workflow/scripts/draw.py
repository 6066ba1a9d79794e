"""A figure of the trade-offs, and the tidy table it is drawn from."""

from pathlib import Path

import matplotlib

from skem.engine import threads
from skem.repro.drawing import STYLE, save
from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.papers.pulford2022.figures import FIGURES

matplotlib.use("Agg")
threads.limit_process(1)
with plain_errors(), matplotlib.rc_context(STYLE):
    figure = FIGURES[snakemake.wildcards.figure]
    rows = figure.rows({Path(path).stem: read_table(path) for path in snakemake.input})
    save(figure.draw(rows), [path for path in snakemake.output if path != snakemake.output.csv])
    write_table(snakemake.output.csv, rows)
