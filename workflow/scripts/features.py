"""Make the features of some runs; without data, a file that holds no arrays."""

import json
from pathlib import Path

from skem import splits, threads
from skem.files import plain_errors

threads.limit_process(1)
with plain_errors():
    features = {}
    if json.loads(Path(snakemake.input[0]).read_text(encoding="utf-8"))["available"]:
        dataset, spec, root = snakemake.wildcards.dataset, snakemake.params.spec, snakemake.params.seed
        for name in splits.names_in(snakemake.wildcards.file):
            features[name] = splits.prepare(dataset, spec, name, root)
    splits.write(snakemake.output[0], features)
