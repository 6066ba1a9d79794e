"""Write down the configuration of this run, overlays and options merged in."""

import yaml

from skem.repro.files import plain_errors, write_text

with plain_errors(snakemake.log):
    text = yaml.safe_dump(
        snakemake.params.config, sort_keys=False, default_flow_style=None, allow_unicode=True, width=100
    )
    write_text(snakemake.output[0], text)
