"""Principal components of all training images of a data set."""

from skem.repro.comparison import images
from skem.repro.files import read_json, write_arrays
from skem.repro.jobs import recorded

with recorded(snakemake):
    available = all(read_json(path)["available"] for path in snakemake.input)
    write_arrays(snakemake.output[0], images.features(snakemake.params.spec) if available else {})
