"""Write down the machine, the versions and the BLAS kernel that results were made with."""

import sys

from skem.repro import environment
from skem.repro.files import plain_errors, write_json

with plain_errors(snakemake.log):
    found = environment.of_results()
    if not found["commit"]:
        print(f"warning: no commit is recorded: {found.get('no_commit')}", file=sys.stderr)
    write_json(snakemake.output[0], found)
