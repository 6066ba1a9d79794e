"""Put a data set into the cache, and write down where it came from or why it could not be had."""

import sys

from skem import datasets
from skem.repro.files import plain_errors, write_json

with plain_errors():
    record = datasets.fetch(snakemake.wildcards.source)
    if not record["available"]:
        try:
            datasets.load(snakemake.wildcards.source)
        except datasets.DatasetNotAvailable as error:
            print(f"warning: {error}", file=sys.stderr)
    write_json(snakemake.output[0], record)
