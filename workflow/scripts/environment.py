"""Write down the machine, the versions and the BLAS kernel of this run."""

from skem import environment
from skem.files import write_json

write_json(snakemake.output[0], environment.describe())
