"""Evaluate the claims of some papers."""

from skem.repro.files import plain_errors
from skem.repro.papers import ledgers

with plain_errors(snakemake.log):
    params = snakemake.params
    ledger = ledgers.evaluate(params.papers, params.evidence, params.settings)
    ledgers.write(ledger, dict(snakemake.output.items()), params.title)
