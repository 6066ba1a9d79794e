"""Write down the machine, the versions and the BLAS kernel that results were made with."""

import sys

from skem.repro import environment
from skem.repro.files import plain_errors, write_json

with plain_errors(snakemake.log):
    found = environment.of_results()
    if not found["commit"]:
        print("warning: no commit is recorded, as this is no git checkout", file=sys.stderr)
    write_json(snakemake.output[0], found)
