"""Evaluate the claims of some papers, or select them from those of all papers."""

from skem.repro.files import plain_errors
from skem.repro.papers import ledgers

with plain_errors(snakemake.log):
    params = snakemake.params
    if tables := snakemake.input.get("ledger"):
        ledger = ledgers.read(tables, params.papers)
    else:
        ledger = ledgers.evaluate(params.papers, params.evidence, params.settings)
    ledgers.write(ledger, dict(snakemake.output.items()), params.title)
