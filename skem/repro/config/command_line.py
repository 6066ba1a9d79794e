"""What Snakemake reads before the Snakefile, read first: it would not say what is at fault, or end in a traceback."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from skem.repro.config.documents import (
    COMMAND_LINE,
    ConfigurationError,
    gathered,
    not_yaml,
    oversized,
    read_mapping,
    refuse,
    text_of,
)

SNAKEMAKES_OWN = ("__use_yte__", "__definitions__", "__variables__", "pathvars")
"""Keys of a configuration that Snakemake acts on."""

_NAME = re.compile(r"[A-Za-z_][\w-]*\w")
"""Of a key after ``--config``, as Snakemake takes it."""


def refuse_unreadable(arguments: Sequence[str]) -> None:
    """End the process with one line for each fault in the arguments ``--configfile`` and ``--config`` of Snakemake.

    Snakemake looks at both before the Snakefile; so the profile calls this.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="*", action="extend", default=[])
    parser.add_argument("--config", "-C", nargs="*", action="extend", default=[])
    given = parser.parse_known_args(arguments)[0]
    faults: list[str] = []
    for path in given.configfile:
        own: list[str] = []
        with gathered(own):
            loadable(path)
        is_target = own and Path(path).suffix not in (".yaml", ".yml", ".json")
        faults += [f"{fault}{_advice_on_targets(path)}" if is_target else fault for fault in own]
    for entry in given.config:
        advice = "" if "=" in entry else _advice_on_targets(entry)
        faults += [f"{COMMAND_LINE}: {fault}{advice}" for fault in _faults_of_entry(entry)]
    if faults:
        sys.exit("error: " + "\n       ".join(dict.fromkeys(faults)))


def _advice_on_targets(word: str) -> str:
    return f"; a target goes first, as in snakemake {word[:80]} --cores 2 --configfile FILE, or last after --"


def loadable(path: str | Path) -> None:
    """See that Snakemake can load a file, and finds nothing there that it would act on.

    Raises
    ------
    ConfigurationError
    """
    refuse([f"{path}: {_not_ours(key)}" for key in read_mapping(path) if key in SNAKEMAKES_OWN])
    text = text_of(path)
    try:
        json.loads(text)
    except ValueError:
        _scan(path, text)


def _scan(path: str | Path, text: str) -> None:
    """Scan as Snakemake does, without libyaml, which takes some tabs."""
    try:
        for _ in yaml.parse(text, Loader=yaml.SafeLoader):
            pass
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path}{not_yaml(error)}") from error


def _not_ours(key: str) -> str:
    return f"key {key!r} is one of Snakemake's own, which this pipeline does not use; leave it out"


def _faults_of_entry(entry: str) -> Iterator[str]:
    """What Snakemake would stumble over in ``name=value``."""
    name, equals, value = entry.partition("=")
    if not equals:
        yield f"{entry[:80]!r} is no name=value, as in --config seed=1"
    elif not _NAME.fullmatch(name):
        yield f"{name[:80]!r} is no name; write name=value, as in --config seed=1"
    elif name in SNAKEMAKES_OWN:
        yield _not_ours(name)
    else:
        text = value.strip("'\"")
        try:
            faults = oversized(text)
            yield from (f"{name}: {fault}" for _, fault in faults)
            if text and not faults and yaml.compose(text, Loader=yaml.SafeLoader) is None:
                yield f"{name} is {value[:80]!r}, which is no value"
        except yaml.YAMLError:
            return  # To Snakemake, a text.
