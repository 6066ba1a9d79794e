"""The synthetic examples of figures 3 to 5, or accuracy against lambda on images, and the table each is drawn from."""

import matplotlib
import pandas as pd

from skem import plots
from skem.engine import threads
from skem.repro.drawing import STYLE, save
from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.papers.titsias2001 import figures, tables
from skem.repro.training import splits

matplotlib.use("Agg")
threads.limit_process(1)
with plain_errors(), matplotlib.rc_context(STYLE):
    if snakemake.wildcards.figure == "titsias_figures3to5":
        seeds = {name: splits.seed(snakemake.params.seed, name, 0) for name in figures.PANELS}
        table = pd.DataFrame(figures.panels(snakemake.params.setup["drawn_rows"], seeds))
        axes = plots.kernels(table)
    else:
        table = tables.gathered(map(read_table, snakemake.input))
        axes = figures.draw_sharing(table)
    save(axes, [path for path in snakemake.output if path != snakemake.output.csv])
    write_table(snakemake.output.csv, table)
