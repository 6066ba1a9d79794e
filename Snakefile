# Reproduces the papers on shared-kernel mixtures: snakemake --cores all
from snakemake.utils import min_version

min_version("9.20")


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/features.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"


rule all:
    default_target: True
    input:
        TABLES,
        FIGURES,
        "results/environment.json",


onsuccess:
    show_results()
