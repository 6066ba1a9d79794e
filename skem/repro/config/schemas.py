"""Holding documents against JSON schemas: one clear message for each wrong key, type or value."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, by_relevance
from jsonschema.validators import extend

from skem.repro.config.documents import COMMAND_LINE, file_with, read, refuse, text_of

Files = Sequence[str | Path | Mapping[str, Any]]
"""Where a document was read from, overlays last; a mapping is what ``--config`` gave."""


def check(document: Any, schema: str | Path, files: Files) -> None:
    """Hold a document against a JSON schema.

    Parameters
    ----------
    document : object
        What was read, overlays merged.
    schema : path
    files : sequence of path or dict
        Where it was read from; the message names the last one that has the key in question. A dict is what
        ``--config`` gave.

    Raises
    ------
    ConfigurationError
    """
    refuse(examined(document, schema, files)[1])


def examined(document: Any, schema: str | Path, files: Files) -> tuple[Any, list[str]]:
    """What is left of a document without the values that the schema refuses, and all that it refuses."""
    document, faults = _with_names(document, files)
    places: dict[tuple[Any, ...], list[ValidationError]] = {}
    wrong = set()
    for error in _validator(str(schema), text_of(schema)).iter_errors(document):
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
                advice = _advice(error, file) if key is None else ""
                faults.append(f"{file}: {_message(error, path, key)}{advice}")
    return _without(document, wrong), list(dict.fromkeys(faults))


@lru_cache(maxsize=16)
def _validator(schema: str, _text: str) -> Any:
    """Kept as long as the file has the same text: where its references lead is found once."""
    return _Validator(read(schema))


def _with_names(node: Any, files: Files) -> tuple[Any, list[str]]:
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


def _is_integer(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_: object, value: object) -> bool:
    return _is_integer(_, value) or (isinstance(value, float) and math.isfinite(value))


def _pattern(_: object, pattern: str, instance: object, __: object) -> Iterator[ValidationError]:
    """As JSON schemas mean it: for Python alone, ``$`` also stands before a newline at the end."""
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


# JSON's 3.0 is an integer and YAML's .nan a number; neither is one for us.
_Validator = extend(
    Draft202012Validator,
    validators={"pattern": _pattern},
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
    return [key for key in error.instance if key not in error.schema.get("properties", {})]


def _message(error: ValidationError, path: list[Any], wrong: str | None) -> str:
    key = ".".join(map(str, path)) or "the file"
    if wrong is not None:
        allowed = sorted(error.schema.get("properties", {}))
        close = difflib.get_close_matches(str(wrong), allowed, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        where = ".".join(map(str, [*path, wrong]))
        return f"unknown key {where!r}; {hint}allowed: {', '.join(allowed)}"
    if error.validator == "enum":
        return f"{key} is {_shown(error.instance)}; allowed: {', '.join(map(repr, error.validator_value))}"
    if error.validator == "type":
        return f"{key} is {_shown(error.instance)}; a value of type {error.validator_value} is needed"
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


def _advice(error: ValidationError, file: str) -> str:
    """The way out for a text that was meant as something else."""
    value = error.instance
    if error.validator != "type" or not isinstance(value, str):
        return ""
    if file == COMMAND_LINE and len(error.absolute_path) > 1:
        return (
            "; what stands in braces or brackets is text to --config, so write it to a file for --configfile"
        )
    try:
        if not math.isfinite(float(value)):
            return ""
    except ValueError:
        return ""
    # YAML 1.1 reads 1e-6 as text, since it has no point.
    if re.fullmatch(r"[-+]?\d+[eE][-+]?\d+", value):
        return f"; write {value} with a point, as 1.0e-6"
    return "; leave out the quotes"
