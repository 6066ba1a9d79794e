"""Time this checkout and the base revision in turns."""

from skem.repro.files import plain_errors, write_table
from skem.repro.gate import timing

with plain_errors(snakemake.log):
    # Cases may stay undecided: no round is added for them.
    minutes = 0 if snakemake.params.undecided else timing.MINUTES
    write_table(snakemake.output[0], timing.measure(snakemake.params.base, minutes=minutes))
