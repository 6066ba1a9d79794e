"""Reading YAML files strictly: what cannot be read, or says what nobody means, is told with its file, line and key."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml


class ConfigurationError(ValueError):
    """Says which file, which key, what stands there and what is allowed."""


@contextmanager
def gathered(faults: list[str]) -> Iterator[None]:
    """Add what a check refuses to ``faults``, to tell it together with what others refuse."""
    try:
        yield
    except ConfigurationError as error:
        faults.append(str(error))


def refuse(faults: Sequence[str]) -> None:
    """Raise one error that lists all faults found, if there are any.

    Raises
    ------
    ConfigurationError
    """
    if faults:
        raise ConfigurationError("\n       ".join(dict.fromkeys(faults)))


COMMAND_LINE = "--config"
"""What a message calls the command line, where it was given there."""

MOST_BYTES = 1_000_000
"""Of a file."""

MOST_LEVELS = 100
"""Of lists and mappings in one another."""

MOST_VALUES = 100_000
"""Of a file, when what its aliases stand for is counted each time."""

MOST_DIGITS = 30
"""Of an integer."""

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Ten times faster where PyYAML was built with libyaml, as its wheels are; building the DAG reads some twenty files."""

_UNUSUAL_NUMBER = re.compile(r"[-+]?(0[0-9xXbBoO]|[0-9.]*[_:])")
"""Octal, hexadecimal, binary and sexagesimal numbers, and digits in groups."""

_STANDARD = "tag:yaml.org,2002:"
_TYPES = {_STANDARD + name for name in ("str", "int", "float", "bool", "null", "seq", "map")}


def read(path: str | Path) -> Any:
    """The content of a YAML file.

    Raises
    ------
    ConfigurationError
        If it is no regular file, too large or no YAML, or if it has what YAML takes and nobody means: a key twice, a key
        that is no text, a date, a part that contains itself, or aliases of aliases that would fill the memory.
    """
    try:
        document, faults = _parsed(text_of(path))
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path}{not_yaml(error)}") from error
    except ValueError as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f"{path}: {error}") from error
    refuse([f"{path}, line {line}: {fault}" for line, fault in faults])
    return copy.deepcopy(document)


def read_mapping(path: str | Path) -> dict[str, Any]:
    """The content of a YAML file that is a mapping.

    Raises
    ------
    ConfigurationError
        As `read`, and if it is something else.
    """
    document = read(path)
    if not isinstance(document, dict):
        what = "empty" if document is None else f"a {type(document).__name__}"
        raise ConfigurationError(f"{path}: is {what}; a mapping from keys to values is needed")
    return document


def text_of(path: str | Path) -> str:
    """The text of a regular file.

    Raises
    ------
    ConfigurationError
    """
    file, name = Path(path), str(path)[:200]
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise ConfigurationError(
                f"{name}: is a pipe or a device, and is read more than once; write it to a file and name that"
            )
        if file.is_file() and (size := file.stat().st_size) > MOST_BYTES:
            raise ConfigurationError(f"{name}: has {size} bytes; at most {MOST_BYTES} are allowed")
        return file.read_text(encoding="utf-8")
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else f"{error.strerror}"
        raise ConfigurationError(f"{name}: {reason}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{name}: not a text in UTF-8") from error


def not_yaml(error: yaml.YAMLError) -> str:
    """Line and problem, as they follow the name of a file."""
    where = getattr(error, "problem_mark", None)
    line = f", line {where.line + 1}" if where else ""
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"{line}: not valid YAML: {problem}"


def oversized(text: str) -> list[tuple[int, str]]:
    """Lines of a text in YAML, and what stands there that nests too deeply or, written out, is too large.

    Raises
    ------
    yaml.YAMLError
    """
    if faults := list(_too_deep(text)):
        return faults
    node = yaml.compose(text, Loader=LOADER)
    return [] if node is None else list(_too_many(node))


@lru_cache(maxsize=64)
def _parsed(text: str) -> tuple[Any, list[tuple[int, str]]]:
    """The document in a text, and what is wrong with it; a message about a file may read it often."""
    if faults := list(_too_deep(text)):
        return None, faults
    loader = LOADER(text)
    node = loader.get_single_node()
    if node is None:
        return None, []
    faults = list(_ambiguities(node, loader))
    if not faults and "*" in text:  # Without an alias, a file has no more than what is written there.
        faults = list(_too_many(node))
    return (None if faults else loader.construct_document(node)), faults


def _too_deep(text: str) -> Iterator[tuple[int, str]]:
    """Where lists and mappings stand in one another so deeply that composing them would end the process."""
    level, fault = 0, f"nested too deeply; at most {MOST_LEVELS} levels are allowed"
    try:
        for event in yaml.parse(text, Loader=LOADER):
            if isinstance(event, yaml.CollectionStartEvent):
                level += 1
                if level > MOST_LEVELS:
                    yield event.start_mark.line + 1, fault
                    return
            elif isinstance(event, yaml.CollectionEndEvent):
                level -= 1
    except yaml.MarkedYAMLError as error:
        # PyYAML has a limit of its own since 6.0.4, and reads ahead.
        if "nesting depth" not in str(error.problem):
            raise
        yield (error.problem_mark.line if error.problem_mark else 0) + 1, fault


def _too_many(root: yaml.Node) -> Iterator[tuple[int, str]]:
    """The first part, if there is one, that is too large once its aliases are replaced by what they stand for."""
    extents: dict[int, tuple[int, int]] = {}

    def extent(node: yaml.Node) -> tuple[int, int]:
        """How many values and levels a node has; an alias is the very node it stands for."""
        if id(node) not in extents:
            extents[id(node)] = MOST_VALUES, MOST_LEVELS  # should it contain itself
            inner: list[yaml.Node] = []
            if isinstance(node, yaml.MappingNode):
                inner = [part for pair in node.value for part in pair]
            elif isinstance(node, yaml.SequenceNode):
                inner = node.value
            parts = [extent(part) for part in inner]
            values, levels = 1 + sum(n for n, _ in parts), 1 + max((n for _, n in parts), default=0)
            if values > MOST_VALUES or levels > MOST_LEVELS:
                raise OverflowError(node.start_mark.line + 1)
            extents[id(node)] = values, levels
        return extents[id(node)]

    try:
        extent(root)
    except OverflowError as error:
        yield (
            error.args[0],
            f"written out, its aliases make more than {MOST_VALUES} values or {MOST_LEVELS} levels",
        )


def _ambiguities(root: yaml.Node, loader: Any) -> Iterator[tuple[int, str]]:
    """Lines, and what stands there that YAML takes and nobody means, or that is not what its tag says."""
    seen: set[int] = set()

    def walk(
        node: yaml.Node, path: tuple[str, ...], above: tuple[yaml.Node, ...]
    ) -> Iterator[tuple[int, str]]:
        line, name = node.start_mark.line + 1, ".".join(path) or "the file"
        if any(node is other for other in above):
            yield line, f"{name} contains itself"
        elif node.tag not in _TYPES:
            if node.tag.endswith(":timestamp"):
                yield (
                    line,
                    f"{name} is {str(node.value)[:80]!r}, which YAML takes for a date; put it in quotes",
                )
            else:
                yield line, f"{name} has the tag {_shown(node.tag)}; leave it out"
        elif isinstance(node, yaml.ScalarNode):
            if node.tag.endswith(":int") and len(node.value) > MOST_DIGITS:
                yield (
                    line,
                    f"{name} is a number of {len(node.value)} digits; at most {MOST_DIGITS} are allowed",
                )
            elif not node.tag.endswith(":str"):
                try:
                    value = loader.construct_object(node)
                    if node.tag.endswith((":int", ":float")) and _UNUSUAL_NUMBER.match(node.value):
                        yield (
                            line,
                            f"{name} is {node.value[:80]!r}, which YAML takes for {value}; write {value}, or put it in quotes",
                        )
                except (LookupError, ValueError, ArithmeticError, AttributeError, yaml.YAMLError):
                    yield line, f"{name} is {node.value[:80]!r}, which is no {_shown(node.tag)}"
        elif id(node) not in seen:
            seen.add(id(node))
            inner: list[tuple[str, yaml.Node]] = []
            if isinstance(node, yaml.MappingNode):
                first: dict[str, int] = {}
                for key, value in node.value:
                    at = key.start_mark.line + 1
                    text = key.value if isinstance(key, yaml.ScalarNode) else "a list or mapping"
                    full = ".".join((*path, str(text)[:80]))
                    if not key.tag.endswith((":str", ":merge")):
                        yield (
                            at,
                            f"key {full!r} is no text; allowed are names, or numbers and the like in quotes",
                        )
                    elif text in first:
                        yield (
                            at,
                            f"key {full!r} stands there twice, first in line {first[text]}; keep one of them",
                        )
                    first.setdefault(text, at)
                    inner.append((str(text)[:80], value))
            elif isinstance(node, yaml.SequenceNode):
                inner = [(str(place), item) for place, item in enumerate(node.value)]
            for key, value in inner:
                yield from walk(value, (*path, key), (*above, node))

    yield from walk(root, (), ())


def _shown(tag: str) -> str:
    return tag.replace(_STANDARD, "!!")[:80]


def file_with(path: Sequence[Any], files: Sequence[str | Path | Mapping[str, Any]]) -> str:
    """The last of several files that has a key; the first, if none does. A mapping is what ``--config`` gave."""
    for file in reversed(files):
        try:
            node = file if isinstance(file, Mapping) else read(file)
            for key in path:
                node = node[key]
        except (KeyError, IndexError, TypeError, ConfigurationError):
            continue
        return _named(file)
    return _named(files[0]) if files else COMMAND_LINE


def _named(file: str | Path | Mapping[str, Any]) -> str:
    return COMMAND_LINE if isinstance(file, Mapping) else str(file)
