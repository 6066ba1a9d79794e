"""The synthetic examples of figures 3 to 5, or accuracy against lambda on images, and the table each is drawn from."""

import matplotlib
import pandas as pd

from skem import plots, splits, threads, titsias_examples, titsias_tables
from skem.figures import STYLE, save
from skem.files import plain_errors, read_table, write_table

matplotlib.use("Agg")
threads.limit_process(1)
with plain_errors(), matplotlib.rc_context(STYLE):
    if snakemake.wildcards.figure == "titsias_figures3to5":
        seeds = {name: splits.seed(snakemake.params.seed, name, 0) for name in titsias_examples.PANELS}
        table = pd.DataFrame(titsias_examples.panels(snakemake.params.setup["drawn_rows"], seeds))
        axes = plots.kernels(table)
    else:
        table = titsias_tables.gathered(map(read_table, snakemake.input))
        axes = plots.accuracy_by_sharing(table)
    save(axes, [path for path in snakemake.output if path != snakemake.output.csv])
    write_table(snakemake.output.csv, table)
