"""Every accuracy of the papers against ours, as a figure and the table that it is drawn from."""

from skem.repro import papers
from skem.repro.drawing import save, style
from skem.repro.files import plain_errors, write_table
from skem.repro.ledger import dots, sentences, summary

with plain_errors(), style():
    table = dots.rows(summary.read(snakemake.input.claims), sentences.read("config"))
    paths = [path for path in snakemake.output if path != snakemake.output.csv]
    save(dots.draw(table, papers.titles("config")), paths)
    write_table(snakemake.output.csv, table)
