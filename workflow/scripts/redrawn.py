"""Draw the tables of papers in their own layout, from a claims table."""

from pathlib import Path

from skem.engine import threads
from skem.repro.drawing import style
from skem.repro.files import plain_errors
from skem.repro.tables import redrawn

threads.limit_process(1)
with plain_errors(), style():
    for paper in snakemake.params.papers:
        redrawn.write(paper, Path(snakemake.params.results))
