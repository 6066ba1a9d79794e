"""Put a data set into the cache, and record its origin, or the reason why it is unavailable."""

import sys

from skem import datasets
from skem.repro.files import plain_errors, write_json

with plain_errors(snakemake.log):
    try:
        record = datasets.load(snakemake.wildcards.source).record
    except datasets.DatasetNotAvailable as error:
        record = error.record
        print(f"warning: {error}", file=sys.stderr)
    attempt = snakemake.params.attempt
    write_json(snakemake.output[0], record | ({"attempt": attempt} if attempt else {}))
