"""Appendix B: error, components and weights against the number of components at first."""

import pandas as pd

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, write_table
from skem.repro.papers.hayashi2021 import errors
from skem.repro.training import splits

threads.limit_process(1)
with plain_errors():
    seed = splits.seed(snakemake.params.seed, "hayashi2021", "components")
    rows = errors.components(
        snakemake.params.setup, snakemake.params.model, int(snakemake.wildcards.run), seed
    )
    write_table(snakemake.output[0], pd.DataFrame(rows))
    environment.record(snakemake.output)
