"""Time this checkout and the base revision in turns."""

from skem.repro.files import plain_errors, write_table
from skem.repro.gate import timing

with plain_errors(snakemake.log):
    params = snakemake.params
    write_table(snakemake.output[0], timing.measure(params.base, params.rounds, params.pairs, params.minutes))
