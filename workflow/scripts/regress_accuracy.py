"""Fit the configurations of one data set, or, without configurations, every estimator in small."""

from skem.engine import threads
from skem.repro.files import plain_errors, read_json, write_json
from skem.repro.gate import cases, estimators

threads.limit_process(1)
with plain_errors(snakemake.log):
    work = snakemake.params.work
    if work is None:
        record = estimators.measure()
    else:
        available = read_json(snakemake.input[0])["available"]
        record = cases.measure(snakemake.wildcards.dataset, work) if available else {}
    write_json(snakemake.output[0], record)
