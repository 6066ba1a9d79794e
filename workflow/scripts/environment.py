"""Write down the machine, the versions and the BLAS kernel of this run."""

from skem.repro import environment
from skem.repro.files import plain_errors, write_json

with plain_errors():
    write_json(snakemake.output[0], environment.describe())
