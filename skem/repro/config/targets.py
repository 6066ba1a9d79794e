"""Targets of the command line that no rule makes, and what was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from skem.repro.config.documents import refuse


def check(targets: Collection[str], rules: Collection[Any], absent: Collection[str]) -> None:
    """Refuse targets that none of Snakemake's rules makes; ``absent`` are experiments left out of this run.

    Messages suggest rules without wildcards, their outputs and their inputs.
    """
    named = sorted(rule.name for rule in rules if not rule.has_wildcards())
    patterns = {rule.name: str(rule.output[0]) for rule in rules if rule.has_wildcards() and rule.output}
    unknown = [
        target
        for target in targets
        if target not in named
        and not Path(target).exists()
        and not any(_makes(rule, target) for rule in rules)
    ]
    if unknown:
        plain = [file for rule in rules if rule.name in named for file in (*rule.output, *rule.input)]
        files = sorted({str(file) for file in plain if not callable(file)})
        refuse(
            [
                f"{target}: this rule makes a file for each name; name the file, {_without_constraints(patterns[target])}"
                if target in patterns
                else _message(target, named, files, absent)
                for target in unknown
            ]
        )


def _without_constraints(pattern: str) -> str:
    return re.sub(r"\{(\w+),[^{}]*\}", r"{\1}", pattern)


def _makes(rule: Any, target: str) -> bool:
    """True if a rule makes a target, and its inputs and parameters know all names in the path."""
    if not rule.is_producer(target):
        return False
    wildcards = rule.get_wildcards(target)
    try:
        rule.expand_input(wildcards)
        for value in filter(callable, rule.params):
            value(SimpleNamespace(**wildcards))
    except Exception as error:  # Snakemake wraps that of an input function
        return not isinstance(error.__context__ or error, LookupError)
    return True


def _message(target: str, named: list[str], files: list[str], absent: Collection[str]) -> str:
    for name in sorted(absent, key=len, reverse=True):
        if re.fullmatch(rf"results/\w+/{re.escape(name)}(_\w+)?\.\w+", target):
            return (
                f"{target}: the experiment {name} is not part of this configuration; "
                f"add --config 'experiments=[{name}]' after the target"
            )
    close = difflib.get_close_matches(target, [*named, *files], n=3, cutoff=0.75)
    hint = f"did you mean {', '.join(close)}? " if close else ""
    return f"{target}: no rule makes this target; {hint}targets are {', '.join(named)}, and files"
