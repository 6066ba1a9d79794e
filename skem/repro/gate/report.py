"""Outcome of the regression test, and the reference for later runs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from skem.repro import environment
from skem.repro.files import read_json, read_table, write_json, write_table
from skem.repro.gate import comparison, revisions

UPDATE = "snakemake regress_update --cores all, and commit results/reference/regress.json with the reason."


def summary(table: pd.DataFrame, allowed: tuple[str, ...] = ()) -> str:
    """Count the outcomes, list the differences (changes of times as fractions), and name the next step.

    Outcomes in ``allowed`` do not fail.
    """
    counts = table.groupby(["kind", "outcome"]).size()
    text = [", ".join(f"{kind}: {count} {outcome}" for (kind, outcome), count in counts.items())]
    different = table[table["outcome"] != "same"]
    if len(different):
        text.append(different.to_markdown(index=False, floatfmt=".4g"))
    if comparison.failed(table, allowed):
        text.append(f"A quantity differs, is slower, or was not compared. If this is intended: {UPDATE}")
        if "not decided" in set(table["outcome"]) - set(allowed):
            text.append(
                "Times that are not decided need a quieter machine, more minutes (MINUTES in skem/repro/gate/timing.py), or undecided=allow."
            )
    else:
        text.append(
            "Nothing differs or is slower." + f" To keep the changes: {UPDATE}" * (len(different) > 0)
        )
    return "\n\n".join(text)


def compare(
    reference_path: str,
    accuracies: list[str],
    times: list[str],
    base: str | None,
    path: str,
    *,
    allowed: tuple[str, ...] = (),
) -> bool:
    """Print the comparison, write all quantities to ``path``, and return True if an outcome fails that is not ``allowed``."""
    reference, machine = revisions.read_reference(reference_path), environment.describe()
    platform = comparison.platform_of(machine)
    same_platform = platform == reference["platform"]
    tables, notes = [], [f"Checkout {machine['commit']}; reference {reference['commit']}."]
    if accuracies:
        known = reference["accuracy"], _joined(accuracies), same_platform, reference["rounding"]
        tables.append(comparison.compare_accuracies(*known))
        if not same_platform:
            other = ", ".join(name for name in platform if platform[name] != reference["platform"][name])
            notes.append(f"The reference is of another platform ({other}): accuracies have a tolerance.")
    if times:
        tables.append(comparison.compare_times(read_table(times[0])))
        notes.append(f"Times are compared with {str(base)[:12]}.")
    if not tables:
        raise ValueError("times have no base to compare with; name a revision: --config base=REVISION")
    table = pd.concat(tables, ignore_index=True)
    write_table(path, table)
    print("\n" + "\n\n".join([" ".join(notes), summary(table, allowed), path]))
    return comparison.failed(table, allowed)


def write_reference(path: str, accuracies: Iterable[str]) -> None:
    """Write the reference of later runs."""
    machine = environment.describe()
    reference = {
        "schema": revisions.SCHEMA,
        "commit": machine["commit"],
        "platform": comparison.platform_of(machine),
        "processor": machine["machine"]["processor"],
        "accuracy": _joined(accuracies),
        "rounding": {},
        "rounding measured on": [],
    }
    write_json(path, reference)
    print(f"{path}: review it with git diff, measure its rounding, and commit it with the reason")


def add_rounding(path: str, accuracies: Iterable[str]) -> None:
    """Enlarge the rounding of the reference by the differences that the same code has on this platform."""
    reference, platform = revisions.read_reference(path), comparison.platform_of(environment.describe())
    revisions.raise_if_code_differs(reference["commit"])
    measured, rounding = _joined(accuracies), reference["rounding"]
    for case, quantities in reference["accuracy"].items():
        for quantity, values in quantities.items():
            differences = np.subtract(measured[case][quantity], values)
            largest, size = float(np.abs(differences).max()), max(1, *map(abs, values))
            if quantity in comparison.CONTINUOUS:
                is_usual = largest <= comparison.LEAST_ROUNDING * size
            else:
                is_usual = comparison.is_seldom(differences)
            if not is_usual:
                of_case = rounding.setdefault(case, {})
                of_case[quantity] = max(largest, of_case.get(quantity, 0.0))
    reference["rounding measured on"].append(platform)
    write_json(path, reference)
    print(f"{path}: {sum(map(len, rounding.values()))} quantities have a rounding of their own")


def _joined(paths: Iterable[str]) -> comparison.Record:
    return {case: quantities for path in paths for case, quantities in read_json(path).items()}
