"""Errors of every method of Hayashi and Uchida (2021) on some splits, and components that remain (appendix B)."""

from skem.repro import jobs
from skem.repro.papers.hayashi2021 import errors

RULES = {"hayashi_errors": errors.errors, "hayashi_components": errors.components}
jobs.run(snakemake, RULES[snakemake.rule])
