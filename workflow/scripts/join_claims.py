"""Join the claims tables of the papers."""

from skem.repro.files import plain_errors
from skem.repro.papers import ledgers

with plain_errors():
    given, params = snakemake.input, snakemake.params
    paths = zip(given.csv, given.timing_csv, given.interpretations, strict=True)
    written = dict(zip(params.asked, paths, strict=True))
    ledger = ledgers.join(written, params.evidence, params.settings)
    ledgers.write(ledger, list(params.evidence), dict(snakemake.output.items()))
