"""Write the reference of the regression test, or add the rounding of this platform to it."""

from skem.repro.files import plain_errors
from skem.repro.gate import report

RULES = {"regress_update": report.write_reference, "regress_rounding": report.add_rounding}
with plain_errors(snakemake.log):
    RULES[snakemake.rule](snakemake.params.reference, snakemake.input)
