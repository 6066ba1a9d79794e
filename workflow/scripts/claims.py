"""Evaluate the claims of one paper."""

from skem.repro.files import plain_errors
from skem.repro.papers import ledgers

with plain_errors():
    params = snakemake.params
    ledger = ledgers.evaluate(params.paper, params.evidence, params.settings)
    ledgers.write(ledger, [params.paper], dict(snakemake.output.items()), params.title)
