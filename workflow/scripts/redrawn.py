"""Draw the tables of papers in their own layout, and if asked the totals of all papers, from a claims table."""

from pathlib import Path

from skem.repro import papers
from skem.repro.drawing import style
from skem.repro.files import plain_errors
from skem.repro.ledger import bars
from skem.repro.tables import redrawn

with plain_errors(snakemake.log), style(snakemake.params.get("columns")):
    for paper in snakemake.params.papers:
        redrawn.write(paper, Path(snakemake.params.results))
    if snakemake.params.get("totals"):
        bars.write(snakemake.params.results, papers.titles(), snakemake.params.get("columns"))
