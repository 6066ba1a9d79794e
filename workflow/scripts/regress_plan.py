"""Check the reference and check out the base revision, before anything is measured."""

from skem.repro.files import plain_errors, write_json
from skem.repro.gate import comparison, revisions

with plain_errors():
    reference = comparison.read_reference(snakemake.params.reference)
    plan = {"reference_commit": reference["commit"]}
    base = snakemake.params.base
    if not base and revisions.is_here(reference["commit"]):
        base = reference["commit"]
    if base:
        plan["base"] = revisions.check_out(base, "results/regress")
    write_json(snakemake.output[0], plan)
