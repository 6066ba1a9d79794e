"""The headline accuracies under every reading, as a figure and the table that it is drawn from."""

import matplotlib

from skem.repro.drawing import STYLE, save
from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.papers.pulford2022 import specifications

matplotlib.use("Agg")
with plain_errors(), matplotlib.rc_context(STYLE):
    table = specifications.rows(read_table(snakemake.input[0]), snakemake.params.settings)
    save(specifications.draw(table), [path for path in snakemake.output if path != snakemake.output.csv])
    write_table(snakemake.output.csv, table)
