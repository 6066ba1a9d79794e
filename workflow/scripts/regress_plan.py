"""Check the reference and check out the base revision, before anything is measured."""

from skem import regress, revisions
from skem.files import plain_errors, write_json

with plain_errors():
    reference = regress.read_reference(snakemake.params.reference)
    plan = {"reference_commit": reference["commit"]}
    if snakemake.params.base:
        plan["base"] = revisions.check_out(snakemake.params.base, "results/regress")
    write_json(snakemake.output[0], plan)
