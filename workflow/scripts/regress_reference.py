"""Write the reference of the regression test."""

from skem.repro.files import plain_errors
from skem.repro.gate import report

with plain_errors(snakemake.log):
    report.write_reference(snakemake.params.reference, snakemake.input)
