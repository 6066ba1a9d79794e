"""Check the reference and check out the base revision, before anything is measured."""

from skem import regress, revisions
from skem.files import plain_errors, write_json

with plain_errors():
    reference = regress.read_reference(snakemake.params.reference)
    plan = {"reference_commit": reference["commit"]}
    base = snakemake.params.base
    if not base and revisions.is_here(reference["commit"]):
        base = reference["commit"]
    if base:
        plan["base"] = revisions.check_out(base, "results/regress")
    write_json(snakemake.output[0], plan)
