"""Make the features of some runs; without data, a file that holds no arrays."""

from skem.repro.files import read_json
from skem.repro.jobs import recorded
from skem.repro.training import feature_store
from skem.repro.training.features import prepare

with recorded(snakemake):
    features = {}
    if read_json(snakemake.input[0])["available"]:
        names = feature_store.names_in(snakemake.wildcards.file)
        features = prepare(snakemake.wildcards.dataset, snakemake.params.spec, names, snakemake.params.seed)
    feature_store.write(snakemake.output[0], features)
