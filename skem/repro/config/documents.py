"""Reading files and holding them against a schema: one clear message for a wrong key, type or value, before any job."""

from __future__ import annotations

import argparse
import copy
import difflib
import math
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, by_relevance
from jsonschema.validators import extend


class ConfigurationError(ValueError):
    """Says which file, which key, what stands there and what is allowed."""


MOST_DIGITS = 30
"""Of an integer."""

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Ten times faster where PyYAML was built with libyaml, as its wheels are; building the DAG reads some twenty files."""


def read(path: str | Path) -> Any:
    """The content of a YAML file.

    Raises
    ------
    ConfigurationError
        If it is not there, is no YAML, or has a key twice, one that is no text, or a part that contains itself.
    """
    try:
        document, faults = _parsed(Path(path).read_text(encoding="utf-8"))
        refuse([f"{path}, line {line}: {fault}" for line, fault in faults])
        return copy.deepcopy(document)
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else f"{error.strerror}"
        raise ConfigurationError(f"{str(path)[:200]}: {reason}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not a text in UTF-8") from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigurationError(f"{path}{line}: not valid YAML: {problem}") from error
    except RecursionError as error:
        raise ConfigurationError(f"{path}: nested too deeply") from error
    except ValueError as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f"{path}: {error}") from error


@lru_cache(maxsize=64)
def _parsed(text: str) -> tuple[Any, list[tuple[int, str]]]:
    """The document in a text, and what `_ambiguities` finds in it; a message about a file may read it often."""
    loader = LOADER(text)
    node = loader.get_single_node()
    faults = list(_ambiguities(node)) if node is not None else []
    return (loader.construct_document(node) if node is not None and not faults else None), faults


def _ambiguities(node: yaml.Node) -> Iterator[tuple[int, str]]:
    """Lines, and what stands there that YAML takes and nobody means."""
    seen: set[int] = set()

    def walk(
        node: yaml.Node, path: tuple[str, ...], above: tuple[yaml.Node, ...]
    ) -> Iterator[tuple[int, str]]:
        line, name = node.start_mark.line + 1, ".".join(path) or "the file"
        if any(node is other for other in above):
            yield line, f"{name} contains itself"
        elif isinstance(node, yaml.ScalarNode):
            if node.tag.endswith(":int") and len(node.value) > MOST_DIGITS:
                yield (
                    line,
                    f"{name} is a number of {len(node.value)} digits; at most {MOST_DIGITS} are allowed",
                )
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
                    inner.append((str(text), value))
            else:
                inner = [(str(place), item) for place, item in enumerate(node.value)]
            for key, value in inner:
                yield from walk(value, (*path, key), (*above, node))

    yield from walk(node, (), ())


def refuse_unreadable(arguments: Sequence[str]) -> None:
    """End the process with one line where a file after ``--configfile`` cannot be read or is no mapping.

    Snakemake reads these files before the Snakefile, and would not say which one is at fault; so the profile calls this.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", action="extend", default=[])
    faults: list[str] = []
    for path in parser.parse_known_args(arguments)[0].configfile:
        with gathered(faults):
            if not isinstance(document := read(path), dict):
                what = "empty" if document is None else f"a {type(document).__name__}"
                raise ConfigurationError(f"{path}: is {what}; a mapping from keys to values is needed")
    if faults:
        sys.exit("error: " + "\n       ".join(faults))


def check(document: Any, schema: str | Path, files: Sequence[str | Path]) -> None:
    """Hold a document against a JSON schema.

    Parameters
    ----------
    document : object
        What was read, overlays merged.
    schema : path
    files : sequence of path
        Where it was read from; the message names the last one that has the key in question.

    Raises
    ------
    ConfigurationError
    """
    refuse(examined(document, schema, files)[1])


def examined(document: Any, schema: str | Path, files: Sequence[str | Path]) -> tuple[Any, list[str]]:
    """What is left of a document without the values that the schema refuses, and all that it refuses."""
    document, faults = _with_names(document, files)
    places: dict[tuple[Any, ...], list[ValidationError]] = {}
    wrong = set()
    for error in _Validator(read(schema)).iter_errors(document):
        place = tuple(error.absolute_path)
        places.setdefault(place, []).append(error)
        # A mapping with a key too many or too few can still be looked at, and so can one with a bad name.
        scalar = (
            not isinstance(error.instance, dict | list) and "propertyNames" not in error.absolute_schema_path
        )
        if scalar or error.validator in ("type", "enum"):
            wrong.add(place)
    relevance: Callable[[Any], Any] = by_relevance()
    for errors in places.values():
        keys = [error for error in errors if error.validator in ("additionalProperties", "required")]
        others = [error for error in errors if error not in keys]
        # What else is wrong with the same value follows from one fault; each of its keys is one of its own.
        for error in [*keys, *([max(others, key=relevance)] if others else [])]:
            while error.context:
                error = _meant(error.context)
            path = list(error.absolute_path)
            for key in _unknown_keys(error) or [None]:
                file = file_with([*path, key] if key is not None else path, files)
                faults.append(f"{file}: {_message(error, path, key)}")
    return _without(document, wrong), list(dict.fromkeys(faults))


def _with_names(node: Any, files: Sequence[str | Path]) -> tuple[Any, list[str]]:
    """A document without the keys that are no text, and a fault for each."""
    faults = []

    def walk(node: Any, path: list[Any]) -> Any:
        if isinstance(node, list):
            return [walk(item, [*path, place]) for place, item in enumerate(node)]
        if not isinstance(node, dict):
            return node
        for key in node:
            if not isinstance(key, str):
                name = ".".join(map(str, [*path, key]))
                faults.append(f"{file_with([*path, key], files)}: key {name!r} is no text; put it in quotes")
        return {key: walk(value, [*path, key]) for key, value in node.items() if isinstance(key, str)}

    return walk(node, []), faults


def _without(node: Any, wrong: Collection[tuple[Any, ...]], path: tuple[Any, ...] = ()) -> Any:
    if path in wrong:
        return {}
    if isinstance(node, dict):
        return {k: _without(v, wrong, (*path, k)) for k, v in node.items() if (*path, k) not in wrong}
    if isinstance(node, list):
        return [_without(v, wrong, (*path, i)) for i, v in enumerate(node) if (*path, i) not in wrong]
    return node


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


def _is_integer(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_: object, value: object) -> bool:
    return _is_integer(_, value) or (isinstance(value, float) and math.isfinite(value))


# JSON's 3.0 is an integer and YAML's .nan a number; neither is one for us.
_Validator = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer).redefine(
        "number", _is_number
    ),
)


def _meant(errors: Sequence[ValidationError]) -> ValidationError:
    """Of the alternatives that all failed, the one that was meant: whose tag fits, or the nearest one."""
    branches: dict[Any, list[ValidationError]] = {}
    for error in errors:
        branches.setdefault(error.schema_path[0], []).append(error)
    names = {error.path[-1] for error in errors if error.validator == "const"}
    tags = {
        index: [e for e in branch if e.validator in ("const", "enum") and e.path and e.path[-1] in names]
        for index, branch in branches.items()
    }
    fitting = [branch for index, branch in branches.items() if not tags[index]]
    if fitting:
        relevance: Callable[[Any], Any] = by_relevance()
        nearest: list[ValidationError] = min(fitting, key=len)
        return max(nearest, key=relevance)
    wrong = [tag for branch in tags.values() for tag in branch]
    allowed: list[Any] = []
    for tag in wrong:
        allowed += tag.validator_value if tag.validator == "enum" else [tag.validator_value]
    first = wrong[0]
    return ValidationError(
        first.message,
        "enum",
        first.path,
        validator_value=list(dict.fromkeys(allowed)),
        instance=first.instance,
        parent=first.parent,
    )


def _unknown_keys(error: ValidationError) -> list[Any]:
    if error.validator != "additionalProperties":
        return []
    patterns = error.schema.get("patternProperties", {})
    known = error.schema.get("properties", {})
    return [
        key
        for key in error.instance
        if key not in known and not any(re.search(p, str(key)) for p in patterns)
    ]


def _message(error: ValidationError, path: list[Any], wrong: str | None) -> str:
    key = ".".join(map(str, path)) or "the file"
    if wrong is not None:
        allowed = [*sorted(error.schema.get("properties", {})), *error.schema.get("patternProperties", {})]
        close = difflib.get_close_matches(str(wrong), allowed, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        where = ".".join(map(str, [*path, wrong]))
        return f"unknown key {where!r}; {hint}allowed: {', '.join(allowed)}"
    if error.validator == "enum":
        return f"{key} is {_shown(error.instance)}; allowed: {', '.join(map(repr, error.validator_value))}"
    if error.validator == "type":
        message = f"{key} is {_shown(error.instance)}; a value of type {error.validator_value} is needed"
        return message + _advice(error.instance)
    if error.validator == "pattern":
        return f"{key}: {_shown(error.instance)} is no name; allowed: what matches {error.validator_value}"
    if error.validator == "maxLength":
        return f"{key}: {_shown(error.instance)} is too long; allowed: {error.validator_value} characters"
    message = error.message
    if len(message) > 400:
        message = message.replace(repr(error.instance), _shown(error.instance))[:400]
    return f"{key}: {message}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:60]}... ({len(text)} characters)"


def _advice(value: object) -> str:
    """For a number that YAML 1.1 reads as text: 1e-6, since it has no point, and what stands in quotes."""
    try:
        if not isinstance(value, str) or not math.isfinite(float(value)):
            return ""
    except ValueError:
        return ""
    if re.fullmatch(r"[-+]?\d+[eE][-+]?\d+", value):
        return f"; write {value} with a point, as 1.0e-6"
    return "; leave out the quotes"


def file_with(path: list[Any], files: Sequence[str | Path]) -> str:
    """The last of several files that has a key; the first, if none does."""
    for file in reversed(files):
        try:
            node = read(file)
            for key in path:
                node = node[key]
        except (KeyError, IndexError, TypeError, ConfigurationError):
            continue
        return str(file)
    return str(files[0]) if files else "the command line"
