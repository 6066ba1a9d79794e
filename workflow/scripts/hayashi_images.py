"""Networks of Hayashi and Uchida (2021), and the choice of their hyperparameters."""

from skem.repro import jobs
from skem.repro.papers.hayashi2021 import images

RULES = {"hayashi_images_choice": images.choices, "hayashi_images_train": images.errors}
jobs.run(snakemake, RULES[snakemake.rule])
