"""Draw the totals of the claims."""

from skem.repro import papers
from skem.repro.files import plain_errors
from skem.repro.ledger import bars

with plain_errors(snakemake.log):
    bars.write("results", papers.titles(), snakemake.params.columns)
