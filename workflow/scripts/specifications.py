"""The headline accuracies under every reading, as a figure and the table that it is drawn from."""

from skem.repro.drawing import save, style
from skem.repro.files import plain_errors, read_table, write_table
from skem.repro.papers.pulford2022 import specifications

with plain_errors(), style():
    table = specifications.rows(read_table(snakemake.input[0]), snakemake.params.settings)
    save(specifications.draw(table), [path for path in snakemake.output if path != snakemake.output.csv])
    write_table(snakemake.output.csv, table)
