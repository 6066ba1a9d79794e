"""Reading files and holding them against a schema: one clear message for a wrong key, type or value, before any job."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, by_relevance
from jsonschema.validators import extend


class ConfigurationError(ValueError):
    """Says which file, which key, what stands there and what is allowed."""


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Ten times faster where PyYAML was built with libyaml, as its wheels are; building the DAG reads some twenty files."""


def read(path: str | Path) -> Any:
    """The content of a YAML file.

    Raises
    ------
    ConfigurationError
        If it is not there or is no YAML.
    """
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), LOADER)
    except FileNotFoundError as error:
        raise ConfigurationError(f"{path}: there is no such file") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not a text in UTF-8") from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        raise ConfigurationError(
            f"{path}{line}: not valid YAML: {getattr(error, 'problem', error)}"
        ) from error


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
    faults = []
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
        return f"{key} is {error.instance!r}; allowed: {', '.join(map(repr, error.validator_value))}"
    if error.validator == "type":
        message = f"{key} is {error.instance!r}; a value of type {error.validator_value} is needed"
        return f"{message}; write 1e-6 as 1.0e-6" if _looks_like_a_number(error.instance) else message
    return f"{key}: {error.message}"


def _looks_like_a_number(value: object) -> bool:
    """YAML 1.1 reads 1e-6, without a point, as text."""
    try:
        return isinstance(value, str) and math.isfinite(float(value))
    except ValueError:
        return False


def file_with(path: list[Any], files: Sequence[str | Path]) -> str:
    """The last of several files that has a key; the first, if none does."""
    for file in reversed(files):
        node = read(file)
        try:
            for key in path:
                node = node[key]
        except (KeyError, IndexError, TypeError):
            continue
        return str(file)
    return str(files[0]) if files else "the command line"
