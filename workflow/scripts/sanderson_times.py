"""Times of fits in Table 1 and in Figure 2 of Sanderson and Curtin (2017)."""

from skem.repro import jobs
from skem.repro.papers.sanderson2017 import times

RULES = {"sanderson_times": times.table1, "sanderson_figure2": times.figure2}
jobs.run(snakemake, RULES[snakemake.rule], n_threads=None)
