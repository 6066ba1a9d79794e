"""Error and weights of every method on some splits of a data set."""

from itertools import islice
from pathlib import Path

import pandas as pd

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_table
from skem.repro.papers.hayashi2021 import benchmark, errors
from skem.repro.training import splits

threads.limit_process(1)
with plain_errors():
    entry, name = snakemake.params.entry, snakemake.wildcards.dataset
    rows = []
    available = read_json(snakemake.input.data)["available"]
    if available or snakemake.input.benchmark:
        begin, end = int(snakemake.wildcards.begin), snakemake.params.end
        if snakemake.input.benchmark:
            drawn = benchmark.splits(Path(snakemake.input.benchmark[0]), name, end)
        else:
            drawn = errors.splits(entry["source"], entry, end, splits.seed(snakemake.params.seed, name))
        for run, split in islice(enumerate(drawn), begin, None):
            found = errors.fit_errors(
                split, snakemake.params.model, splits.seed(snakemake.params.seed, name, run)
            )
            which = {"dataset": name, "run": run, "benchmark": bool(snakemake.input.benchmark)}
            rows += [which | row for row in found]
    write_table(snakemake.output[0], pd.DataFrame(rows))
    environment.record(snakemake.output)
