"""YAML files, read strictly, and the arguments by which Snakemake is given more of them."""

from __future__ import annotations

import argparse
import copy
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

_BETWEEN = "\n       "
"""Separator of faults, which aligns them behind "error: "."""


class ConfigurationError(ValueError):
    """Faults of the configuration, one per line: file, key, value received, values allowed."""


@contextmanager
def gathered(faults: list[str]) -> Iterator[None]:
    """Add a `ConfigurationError` to ``faults``, to report it together with others."""
    try:
        yield
    except ConfigurationError as error:
        faults += str(error).split(_BETWEEN)


def refuse(faults: Sequence[str]) -> None:
    """Raise one `ConfigurationError` that lists all faults, if there are any."""
    if faults:
        raise ConfigurationError(_BETWEEN.join(dict.fromkeys(faults)))


COMMAND_LINE = "--config"
"""Name of the command line in messages."""

Files = Sequence[str | Path | Mapping[str, Any]]
"""Sources of a document, overlays last; a mapping holds the values of ``--config``."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_TYPES = {_TAG + name for name in ("str", "null", "int", "float", "bool", "seq", "map", "merge")}
_UNAMBIGUOUS = re.compile(r"(?i:true|false)|[-+]?(0|[1-9]\d*)?(\.\d*)?([eE][-+]?\d+)?|[-+]?\.(?i:nan|inf)")
"""Booleans and numbers that YAML 1.1 reads as people do; 010, 1:30, 1_0, 0x10, yes and no are not among them."""


def read(path: str | Path) -> Any:
    """Read a YAML file.

    Raises
    ------
    ConfigurationError
        If the file is missing or no YAML, has a key twice, or has a value that YAML 1.1 changes silently.
    """
    try:
        document, faults = _parsed(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigurationError(f"{path}: there is no such file") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not a text in UTF-8") from error
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or f"{error}".partition("\n")[0]
        raise ConfigurationError(f"{path}{line}: cannot be read: {problem}") from error
    refuse([f"{path}, line {line}: {fault}" for line, fault in faults])
    return copy.deepcopy(document)


def read_mapping(path: str | Path) -> dict[str, Any]:
    """Read a YAML file that is a mapping; `ConfigurationError` if it is something else."""
    document = read(path)
    if not isinstance(document, dict):
        what = "empty" if document is None else f"a {type(document).__name__}"
        raise ConfigurationError(f"{path}: is {what}; a mapping from keys to values is needed")
    return document


@lru_cache(maxsize=64)
def _parsed(text: str) -> tuple[Any, list[tuple[int, str]]]:
    loader = _LOADER(text)
    node = loader.get_single_node()
    faults = list(_ambiguities(node)) if node else []
    return (loader.construct_document(node) if node and not faults else None), faults


def _ambiguities(root: yaml.Node) -> Iterator[tuple[int, str]]:
    """Yield lines, and the keys or values there that YAML 1.1 reads as something else than people do."""
    seen: set[int] = set()

    def walk(node: yaml.Node, path: tuple[str, ...]) -> Iterator[tuple[int, str]]:
        line, name, text = node.start_mark.line + 1, ".".join(path), str(node.value)[:80]
        kind = node.tag.removeprefix(_TAG)
        if node.tag not in _TYPES and kind != "timestamp":
            yield line, f"{name} has the tag {kind[:80]}; leave it out"
        elif kind in ("timestamp", "bool", "int", "float") and not _UNAMBIGUOUS.fullmatch(node.value):
            meant = {"timestamp": "a date", "bool": "true or false"}.get(kind, "another number")
            yield (
                line,
                f"{name} is {text!r}, which YAML takes for {meant}; put it in quotes, or write it plainly",
            )
        elif isinstance(node, yaml.MappingNode) and id(node) not in seen:
            seen.add(id(node))
            first: dict[str, int] = {}
            for key, value in node.value:
                at, word = key.start_mark.line + 1, str(key.value)[:80]
                full = ".".join((*path, word))
                if key.tag not in (_TAG + "str", _TAG + "merge"):
                    yield at, f"key {full!r} is no text; put it in quotes"
                elif word in first:
                    yield at, f"key {full!r} occurs twice, first in line {first[word]}; keep one of them"
                first.setdefault(word, at)
                yield from walk(value, (*path, word))
        elif isinstance(node, yaml.SequenceNode) and id(node) not in seen:
            seen.add(id(node))
            for place, item in enumerate(node.value):
                yield from walk(item, (*path, str(place)))

    yield from walk(root, ())


def merged(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two mappings as Snakemake merges configurations: mappings key by key, everything else replaced."""
    both = dict(document)
    for key, value in changes.items():
        old = both.get(key)
        is_mapping = isinstance(value, Mapping)
        both[key] = merged(old if isinstance(old, Mapping) else {}, value) if is_mapping else value
    return both


def file_with(path: Sequence[Any], files: Files) -> str:
    """The last of several files that has a key; the first, if none does."""
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
        own: list[str] = []
        with gathered(own):
            read_mapping(path)
        is_target = Path(path).suffix not in (".yaml", ".yml", ".json")
        faults += [f"{fault}{advice.format(path) if is_target else ''}" for fault in own]
    for entry in given.config:
        if "=" not in entry:
            faults.append(f"{COMMAND_LINE}: {entry!r} is no name=value{advice.format(entry)}")
        elif not re.fullmatch(r"[A-Za-z_][\w-]*\w", name := entry.partition("=")[0]):
            faults.append(f"{COMMAND_LINE}: {name!r} is no name; write name=value, as in seed=1")
    if faults:
        sys.exit("error: " + _BETWEEN.join(dict.fromkeys(faults)))
