"""Advice of Sanderson and Curtin (2017): iterations and samples, variance floor, spread seeds, initialisations."""

from skem.repro import jobs
from skem.repro.papers.sanderson2017 import advice

RULES = {
    "sanderson_advice": advice.advice,
    "sanderson_floors": advice.floors,
    "sanderson_seeds": advice.seeds,
    "sanderson_starts": advice.starts,
}
jobs.run(snakemake, RULES[snakemake.rule])
