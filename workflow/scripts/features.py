"""Make the features of some runs; without data, a file that holds no arrays."""

import json
from pathlib import Path

from skem.engine import threads
from skem.repro.files import plain_errors
from skem.repro.training import feature_store
from skem.repro.training.features import prepare

threads.limit_process(1)
with plain_errors():
    features = {}
    if json.loads(Path(snakemake.input[0]).read_text(encoding="utf-8"))["available"]:
        names = feature_store.names_in(snakemake.wildcards.file)
        features = prepare(snakemake.wildcards.dataset, snakemake.params.spec, names, snakemake.params.seed)
    feature_store.write(snakemake.output[0], features)
