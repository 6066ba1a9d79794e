"""Call a function of a paper with the arguments of a rule, and write the tables that it returns."""

from pkgutil import resolve_name

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_json, write_table

if not snakemake.params.get("timed"):
    threads.limit_process(1)
with plain_errors(snakemake.log):
    outputs, records = snakemake.output, snakemake.input.get("data", [])
    tables = {}
    if all(read_json(path)["available"] for path in ([records] if isinstance(records, str) else records)):
        made = resolve_name(snakemake.params.function)(**snakemake.params.arguments)
        tables = made if isinstance(made, dict) else dict.fromkeys(outputs.keys(), made)
    for name, path in outputs.items():
        write_table(path, tables.get(name, []))
    environment.record(outputs)
