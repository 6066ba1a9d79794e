"""Principal components of all training images of a data set, for the classifier beside others."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_arrays
from skem.repro.frontier import images

threads.limit_process(1)
with plain_errors():
    arrays = {}
    if read_json(snakemake.input[0])["available"]:
        arrays = images.features(snakemake.params.spec)
    write_arrays(snakemake.output[0], arrays)
    environment.record(snakemake.output)
