"""Draw the figures of the claims."""

from skem.repro.files import plain_errors
from skem.repro.papers import claims_figures

with plain_errors(snakemake.log):
    claims_figures.draw("results", columns=snakemake.params.columns)
