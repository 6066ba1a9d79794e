"""YAML files, read strictly, and the arguments by which Snakemake is given more of them."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

COMMAND_LINE = "--config"
"""Name of the command line in messages."""

Files = Sequence[str | Path | Mapping[str, Any]]
"""Sources of a document, overlays last; a mapping holds the values of ``--config``."""


class ConfigurationError(ValueError):
    """Faults of the configuration, one per line: file, key, value received, values allowed."""

    def __init__(self, *faults: str) -> None:
        self.faults = list(dict.fromkeys(faults))
        super().__init__("\n       ".join(self.faults))  # aligned behind "error: "


@contextmanager
def gathered(faults: list[str]) -> Iterator[None]:
    """Add a `ConfigurationError` to ``faults``, to report it together with others."""
    try:
        yield
    except ConfigurationError as error:
        faults += error.faults


def refuse(faults: Sequence[str]) -> None:
    """Raise one `ConfigurationError` that lists all faults, if there are any."""
    if faults:
        raise ConfigurationError(*faults)


def read(path: str | Path) -> Any:
    """Read a YAML file; `ConfigurationError` if it is missing or invalid, or has a key twice."""
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(Path(path).read_text(encoding="utf-8"))
        node = loader.get_single_node()
        faults = [f"{path}, line {line}: {fault}" for line, fault in _repeated_keys(node)]
        document = loader.construct_document(node) if node else None
    except FileNotFoundError as error:
        known = [str(file) for file in Path(path).parent.glob("*.yaml")]
        close = difflib.get_close_matches(str(path), known, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ConfigurationError(f"{path}: there is no such file{hint}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not a text in UTF-8") from error
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or f"{error}".partition("\n")[0]
        raise ConfigurationError(f"{path}{line}: cannot be read: {problem}") from error
    refuse(faults)
    return document


def read_mapping(path: str | Path) -> dict[str, Any]:
    """Read a YAML file that is a mapping; `ConfigurationError` if it is something else."""
    document = read(path)
    if not isinstance(document, dict):
        kind = "empty" if document is None else f"{document!r:.60}"
        raise ConfigurationError(
            f"{path}: is {kind}; a mapping from keys to values is needed, as in seed: 1 (with a blank)"
        )
    return document


def _repeated_keys(node: yaml.Node | None) -> Iterator[tuple[int, str]]:
    """Yield lines and faults: YAML silently keeps the last value of a repeated key."""
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in first and name != "<<":
                yield line, f"key {name!r} occurs twice, first in line {first[name]}; keep one of them"
            first.setdefault(name, line)
            yield from _repeated_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated_keys(item)


def merged(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two mappings as Snakemake merges configurations: mappings key by key, everything else replaced."""
    both = dict(document)
    for key, value in changes.items():
        old = both.get(key)
        is_mapping = isinstance(value, Mapping)
        both[key] = merged(old if isinstance(old, Mapping) else {}, value) if is_mapping else value
    return both


def file_with(path: Sequence[Any], files: Files) -> str:
    """Name the last of several files that has a key; the first, if none does."""
    for file in reversed(files):
        try:
            node = file if isinstance(file, Mapping) else read(file)
            for key in path:
                node = node[key]
        except (KeyError, IndexError, TypeError, ConfigurationError):
            continue
        return COMMAND_LINE if isinstance(file, Mapping) else str(file)
    return str(files[0])


def refuse_unreadable(arguments: Sequence[str]) -> None:
    """End the process with one line per fault in Snakemake's ``--configfile`` and ``--config``.

    Snakemake reads both before the Snakefile and ends in a traceback, so the profile calls this.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="*", action="extend", default=[])
    parser.add_argument("--config", "-C", nargs="*", action="extend", default=[])
    given = parser.parse_known_args(arguments)[0]
    advice = "; a target goes first, as in snakemake {} --cores 2 --configfile FILE, or last after --"
    faults: list[str] = []
    for path in given.configfile:
        try:
            read_mapping(path)
        except ConfigurationError as error:
            is_target = Path(path).suffix not in (".yaml", ".yml", ".json")
            faults += [f"{fault}{advice.format(path) if is_target else ''}" for fault in error.faults]
    for entry in given.config:
        name, equals, _ = entry.partition("=")
        if not equals:
            blank = any(part.startswith("=") for part in given.config)
            fix = "; leave out the blanks around =" if blank else advice.format(entry)
            faults.append(f"{COMMAND_LINE}: {entry!r} is no name=value, as seed=1 is{fix}")
        elif not re.fullmatch(r"[A-Za-z_][\w-]*\w", name):
            nested = ", and nested keys to a file for --configfile" if "." in name else ""
            faults.append(f"{COMMAND_LINE}: {name!r} is no name; write name=value, as in seed=1{nested}")
    if faults:
        sys.exit(f"error: {ConfigurationError(*faults)}")
