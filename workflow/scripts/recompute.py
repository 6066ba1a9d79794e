"""Evaluate all claims from the committed values of the reference."""

from skem.repro.files import plain_errors
from skem.repro.papers import ledgers

with plain_errors(snakemake.log):
    different = ledgers.recompute("results/reference", "results/recomputed")
    if different:
        raise ValueError(f"not as in results/reference: {', '.join(different)}; see results/recomputed")
    print("the claims of results/reference follow from its values, byte for byte")
