"""Make the features of one split; without data, a file that holds no arrays."""

import json
from pathlib import Path

from skem import splits, threads
from skem.files import plain_errors, write_arrays

threads.limit_process(1)
with plain_errors():
    arrays = {}
    if json.loads(Path(snakemake.input[0]).read_text(encoding="utf-8"))["available"]:
        dataset, name = snakemake.wildcards.dataset, snakemake.wildcards.name
        arrays = splits.prepare(dataset, snakemake.params.spec, name, snakemake.params.seed)
    write_arrays(snakemake.output[0], arrays)
