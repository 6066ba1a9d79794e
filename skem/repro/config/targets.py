"""Targets of the command line that no rule makes, and what was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable
from typing import Any

_names: set[str] = set()
_absent: set[str] = set()


def known(rules: Iterable[Any], absent: Collection[str]) -> None:
    """Remember the targets of this run: Snakemake's rules without wildcards and their files.

    ``absent`` are the experiments that are not part of it.
    """
    _names.clear()
    _absent.clear()
    _absent.update(absent)
    for rule in rules:
        files = (file for file in (*rule.output, *rule.input) if not callable(file))
        _names.update([rule.name, *map(str, files)])


def explained(message: str) -> str:
    """Explain Snakemake's message about a target that no rule makes, with the nearest target."""
    found = re.search(r"No rule to produce (\S+)", message)
    if not found:
        return message
    target = found[1]
    for name in sorted(_absent, key=len, reverse=True):
        if re.fullmatch(rf"results/\w+/{re.escape(name)}(_\w+)?\.\w+", target):
            return (
                f"{target}: the experiment {name} is not part of this configuration; "
                f"add --config 'experiments=[{name}]' after the target"
            )
    if target == "own_table" or target.startswith("results/own/"):
        return f"{target}: a table of your own is compared by snakemake --cores 2 --config table=FILE.csv"
    close = difflib.get_close_matches(target, _names, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}?" if close else "snakemake --list-rules has all rules"
    return f"{target}: no rule makes this target; {hint}"
