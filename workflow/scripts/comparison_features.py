"""Principal components of all training images of a data set."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.comparison import images
from skem.repro.files import plain_errors, read_json, write_arrays

threads.limit_process(1)
with plain_errors(snakemake.log):
    available = all(read_json(path)["available"] for path in snakemake.input)
    write_arrays(snakemake.output[0], images.features(snakemake.params.spec) if available else {})
    environment.record(snakemake.output)
