"""Compare with the reference, or with the base revision; tell, keep the history, and fail where something got worse."""

import datetime
import json
import sys
from pathlib import Path

import pandas as pd

from skem import plots
from skem.repro import environment
from skem.repro.drawing import style
from skem.repro.files import plain_errors, read_table, write, write_table, write_text
from skem.repro.gate import comparison, revisions, verdicts

with plain_errors():
    reference = comparison.read_reference(snakemake.params.reference)
    plan = json.loads(Path(snakemake.input.plan).read_text(encoding="utf-8"))
    machine = environment.describe()
    platform, processor = comparison.platform_of(machine), machine["machine"]["processor"]
    same_platform = platform == reference["platform"]
    tables = []
    if snakemake.input.accuracy:
        measured = {}
        for path in snakemake.input.accuracy:
            measured |= json.loads(Path(path).read_text(encoding="utf-8"))
        tables.append(comparison.compare_accuracy(reference["accuracy"], measured, same_platform))
    if snakemake.input.times:
        times = pd.concat(map(read_table, snakemake.input.times), ignore_index=True)
        if "base" in plan:
            tables.append(comparison.compare_times(times, (comparison.IMPORT, comparison.DAG)))
        else:
            same_machine = same_platform and processor == reference["processor"]
            tables.append(
                comparison.compare_rates(reference["timing"], comparison.rates(times), same_machine)
            )
    if "base" in plan:
        revisions.remove(plan["base"]["path"])
    table = pd.concat(tables, ignore_index=True)
    title = f"This checkout ({machine['commit']}) beside the reference of {reference['commit']}"
    if "base" in plan and plan["base"]["revision"] != reference["commit"]:
        title += f", times beside {plan['base']['revision']} ({plan['base']['commit'][:12]})"
    if str(machine["commit"]).endswith("-dirty"):
        title += ". Uncommitted changes are part of what was measured"
    if not same_platform:
        title += ". Another platform than the reference's: accuracies are judged by its spread"
    told = verdicts.summary(table)
    write_table(snakemake.params.table, table)
    write_text(
        snakemake.params.md, f"# Regression gate\n\n{title}.\n\n{told}\n\n{verdicts.to_markdown(table)}\n"
    )
    labels = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": machine["commit"],
        "base": plan.get("base", {}).get("commit", ""),
        "processor": processor,
        "blas": "; ".join(platform["blas"]),
        "versions": ", ".join(f"{name} {version}" for name, version in platform["packages"].items()),
    }
    history = verdicts.append_history(snakemake.params.history, table, labels)
    with style():
        figure = plots.regression_history(history).figure
        write(snakemake.params.figure, lambda file: figure.savefig(file, format="svg"))
    print(
        f"\n{title}.\n\n{told}\n\n{snakemake.params.md}\n{snakemake.params.history}\n{snakemake.params.figure}"
    )
    if verdicts.failed(table):
        sys.exit(1)
