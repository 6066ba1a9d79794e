"""Principal components of all training images of a data set, for the classifier beside others."""

import json
from pathlib import Path

from skem.engine import threads
from skem.repro.files import plain_errors, write_arrays
from skem.repro.training import features

threads.limit_process(1)
with plain_errors():
    name, arrays = snakemake.wildcards.dataset, {}
    if json.loads(Path(snakemake.input[0]).read_text(encoding="utf-8"))["available"]:
        arrays = features.prepare(name, snakemake.params.spec, ["all"], snakemake.params.seed)["all"]
    write_arrays(snakemake.output[0], arrays)
