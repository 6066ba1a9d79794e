"""Write the reference that the gate compares with."""

import json
from pathlib import Path

from skem import environment, regress
from skem.files import plain_errors, read_table, write_json

with plain_errors():
    machine = environment.describe()
    accuracy = {}
    for path in snakemake.input.accuracy:
        accuracy |= json.loads(Path(path).read_text(encoding="utf-8"))
    reference = {
        "schema": regress.SCHEMA,
        "commit": machine["commit"],
        "platform": regress.platform_of(machine),
        "processor": machine["machine"]["processor"],
        "accuracy": accuracy,
        "timing": regress.rates(read_table(snakemake.input.times)),
    }
    write_json(snakemake.params.reference, reference)
    print(f"{snakemake.params.reference}: review it with git diff, and commit it with the reason")
