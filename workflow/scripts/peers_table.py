"""All times as one CSV and as Markdown, and the figure of their scaling."""

from skem import plots
from skem.engine import threads
from skem.repro.drawing import save, style
from skem.repro.files import plain_errors, read_table, write_table, write_text
from skem.repro.peers import tables

threads.limit_process(1)
with plain_errors(), style():
    table = tables.collect([read_table(path) for path in snakemake.input])
    csv, pdf, md, svg = snakemake.output
    write_table(csv, table)
    write_text(md, tables.to_markdown(table))
    save(plots.engine_scaling(table), [svg, pdf])
