"""Hold every claim of some papers, or all of them, against what was measured."""

from skem.repro.files import plain_errors
from skem.repro.papers import ledgers

with plain_errors():
    params = snakemake.params
    table, readings = ledgers.ledgers(params.evidence, params.settings, alone=bool(params.get("alone")))
    ledgers.write(table, readings, list(params.evidence), dict(snakemake.output.items()), params.title)
