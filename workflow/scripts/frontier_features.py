"""Principal components of all training images of a data set, for the classifier beside others."""

import json
from pathlib import Path

from skem.engine import threads
from skem.repro.files import plain_errors, write_arrays
from skem.repro.frontier import images

threads.limit_process(1)
with plain_errors():
    arrays = {}
    if json.loads(Path(snakemake.input[0]).read_text(encoding="utf-8"))["available"]:
        arrays = images.features(snakemake.params.spec)
    write_arrays(snakemake.output[0], arrays)
