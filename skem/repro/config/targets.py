"""Targets of the command line that no rule makes, and what was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from skem.repro.config.documents import refuse

_WILDCARD = re.compile(r"\{(\w+)[^}]*\}")


def check(
    targets: Iterable[str],
    rules: Collection[Any],
    makes: Callable[[Any, str], bool],
    values: Mapping[str, Collection[str]],
    absent: Collection[str] = (),
) -> None:
    """Refuse targets that no rule makes.

    Parameters
    ----------
    targets : iterable of str
        Names of rules, and paths.
    rules : collection of Snakemake's rules
    makes : callable
        True if a rule makes a target.
    values : mapping
        By wildcard, the values that a message may suggest.
    absent : collection of str
        Experiments that the configuration leaves out.

    Raises
    ------
    ConfigurationError
    """
    names = {rule.name for rule in rules if not rule.has_wildcards()}
    unknown = [
        target
        for target in targets
        if target not in names
        and not Path(target).exists()
        and not any(makes(rule, target) for rule in rules)
    ]
    if unknown:
        outputs = {rule.name: list(_outputs(rule, values)) for rule in rules}
        refuse([_message(target, names, outputs, absent) for target in unknown])


def _outputs(rule: Any, values: Mapping[str, Collection[str]]) -> Iterator[str]:
    """The paths that a rule makes, for the wildcards that have values."""
    for pattern in map(str, rule.output):
        wildcards = list(dict.fromkeys(_WILDCARD.findall(pattern)))
        for chosen in product(*(values.get(name, ()) for name in wildcards)):
            path = _WILDCARD.sub(r"{\1}", pattern).format(**dict(zip(wildcards, chosen, strict=True)))
            if rule.is_producer(path):
                yield path


def _message(
    target: str, names: Collection[str], outputs: Mapping[str, list[str]], absent: Collection[str]
) -> str:
    if outputs.get(target):
        return f"{target}: makes several files; name one, such as {outputs[target][0]}"
    for name in sorted(absent, key=len, reverse=True):
        if re.fullmatch(rf"results/\w+/{re.escape(name)}(_\w+)?\.\w+", target):
            return (
                f"{target}: the experiment {name} is not part of this configuration; "
                f"add --config 'experiments=[{name}]' after the target"
            )
    known = sorted({*names, *(path for paths in outputs.values() for path in paths)})
    close = difflib.get_close_matches(target, known, n=3, cutoff=0.75)
    hint = (
        f"did you mean {', '.join(close)}?" if close else f"targets are {', '.join(sorted(names))}, and files"
    )
    return f"{target}: no rule makes this target; {hint}"
