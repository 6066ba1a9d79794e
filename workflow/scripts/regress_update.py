"""Write the reference that the gate compares with."""

import json
from pathlib import Path

from skem.repro import environment
from skem.repro.files import plain_errors, read_table, write_json
from skem.repro.gate import comparison

with plain_errors():
    machine = environment.describe()
    accuracy = {}
    for path in snakemake.input.accuracy:
        accuracy |= json.loads(Path(path).read_text(encoding="utf-8"))
    reference = {
        "schema": comparison.SCHEMA,
        "commit": machine["commit"],
        "platform": comparison.platform_of(machine),
        "processor": machine["machine"]["processor"],
        "accuracy": accuracy,
        "timing": comparison.rates(read_table(snakemake.input.times)),
    }
    write_json(snakemake.params.reference, reference)
    print(f"{snakemake.params.reference}: review it with git diff, and commit it with the reason")
