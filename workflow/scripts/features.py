"""Make the features of some runs; without data, a file that holds no arrays."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_json
from skem.repro.training import feature_store
from skem.repro.training.features import prepare

threads.limit_process(1)
with plain_errors(snakemake.log):
    features = {}
    if read_json(snakemake.input[0])["available"]:
        names = feature_store.names_in(snakemake.wildcards.file)
        features = prepare(snakemake.wildcards.dataset, snakemake.params.spec, names, snakemake.params.seed)
    feature_store.write(snakemake.output[0], features)
    environment.record(snakemake.output)
