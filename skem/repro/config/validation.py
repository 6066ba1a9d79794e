"""Documents checked against pydantic models: one plain line for each unknown key, missing key and wrong value."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterable
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from skem.repro.config.documents import COMMAND_LINE, ConfigurationError, Files, file_with, refuse

Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
Fraction = Annotated[float, Field(gt=0, lt=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=100)]
"""A part of a path."""

Text = Annotated[str, Field(min_length=1)]
DataSetName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=100)]
T = TypeVar("T")


def _distinct(values: list[Any]) -> list[Any]:
    twice = [value for value in values if values.count(value) > 1]
    if twice:
        raise ValueError(f"{twice[0]!r} occurs twice; keep one of them")
    return values


Distinct = Annotated[list[T], Field(min_length=1), AfterValidator(_distinct)]


class Strict(BaseModel):
    """A model without unknown keys and without conversions; so are the typed dictionaries in it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


M = TypeVar("M", bound=BaseModel)


def parsed(model: type[M], document: Any, files: Files) -> M:
    """Check a document and return its typed content.

    Parameters
    ----------
    model : pydantic model
    document : object
        Content of the files, overlays merged.
    files : sequence of path or dict
        Sources of the document. A message names the last one with the key in question.

    Raises
    ------
    ConfigurationError
        With all faults.
    """
    try:
        # In JSON, lists are tuples and dictionaries are models, and nothing else is converted.
        return model.model_validate_json(json.dumps(document))
    except ValidationError as error:
        schema = TypeAdapter(model).json_schema()
        refuse([_line(fault, document, schema, files) for fault in error.errors(include_url=False)])
        raise
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{files[0]}: {error}") from error


def suggestion(word: str, known: Iterable[str]) -> str:
    """Name the known word that was probably meant, and list all."""
    known = list(known)
    close = difflib.get_close_matches(word, known, n=1)
    return (f"did you mean {close[0]}? " if close else "") + f"allowed: {', '.join(known)}"


def unknown(words: Iterable[str], known: Collection[str], where: str) -> list[str]:
    """One fault for each word that is not known."""
    return [f"{where} names {word!r}; {suggestion(word, known)}" for word in words if word not in known]


def _line(fault: Any, document: Any, schema: dict[str, Any], files: Files) -> str:
    kind, value, context = fault["type"], fault["input"], fault.get("ctx", {})
    path = _path(fault["loc"], document, kind == "missing")
    key = ".".join(map(str, path)) or "the file"
    if kind == "missing":
        return f"{file_with(path[:-1], files)}: {key} is missing"
    file = file_with(path, files)
    if kind == "extra_forbidden":
        tags = [part for part in fault["loc"] if part not in path]
        return f"{file}: unknown key {key}; {suggestion(str(path[-1]), _keys(schema, path[:-1], tags))}"
    if kind == "value_error":
        return f"{file}: {key}: {context['error']}"
    if kind.startswith("union_tag"):
        tag = context["discriminator"].strip("'")
        received = f"is {_shown(context['tag'])}" if "tag" in context else "is missing"
        allowed = f"; allowed: {context['expected_tags']}" if "tag" in context else ""
        return f"{file}: {key}.{tag} {received}{allowed}"
    message = re.sub(r"^(Input|String|Value|List|Dictionary|Tuple) ", "", fault["msg"])
    if kind == "literal_error":
        message = suggestion(str(value), re.findall(r"'([^']*)'", context["expected"]))
    return f"{file}: {key} is {_shown(value)}; {message}{_advice(value, kind, file, path)}"


def _path(place: tuple[Any, ...], document: Any, missing: bool) -> list[Any]:
    """The keys of a place, without pydantic's names for members of unions."""
    path: list[Any] = []
    for part in place:
        known = part in document if isinstance(document, dict) else isinstance(document, list)
        if known and (isinstance(document, dict) or isinstance(part, int)):
            document = document[part]
            path.append(part)
    return [*path, place[-1]] if missing else path


def _keys(schema: dict[str, Any], path: list[Any], tags: list[Any]) -> list[str]:
    """The keys that a JSON schema allows at a path, with the tags of the unions on the way."""
    nodes = _alternatives(schema, schema, tags)
    for part in path:
        inner: list[Any] = []
        for node in nodes:
            inner += [
                node.get("properties", {}).get(part),
                node.get("additionalProperties"),
                node.get("items"),
            ]
            inner += node.get("patternProperties", {}).values()
        nodes = [n for node in inner if isinstance(node, dict) for n in _alternatives(node, schema, tags)]
    return list(dict.fromkeys(key for node in nodes for key in node.get("properties", {})))


def _alternatives(node: dict[str, Any], schema: dict[str, Any], tags: list[Any]) -> list[dict[str, Any]]:
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    tagged = node.get("discriminator", {}).get("mapping", {})
    members = [{"$ref": tagged[tag]} for tag in tags if tag in tagged]
    members = members or [*node.get("anyOf", []), *node.get("oneOf", [])]
    return [n for member in members for n in _alternatives(member, schema, tags)] or [node]


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def _advice(value: Any, kind: str, file: str, path: list[Any]) -> str:
    """The fix for a number that was read as text."""
    if not isinstance(value, str) or kind not in ("int_type", "float_type", "int_parsing", "float_parsing"):
        return ""
    if file == COMMAND_LINE and len(path) > 1:
        return "; values in braces or brackets are text to --config, so write them to a file for --configfile"
    if re.fullmatch(r"[-+]?\d+[eE][-+]?\d+", value):
        return f"; write {value} with a point, as 1.0e-6"
    return "; leave out the quotes" if re.fullmatch(r"[-+\d.eE]+", value) else ""
