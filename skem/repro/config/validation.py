"""Documents checked against pydantic models: one plain line for each unknown key, missing key and wrong value."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterable
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from skem.repro.config.documents import COMMAND_LINE, ConfigurationError, Files, file_with, refuse

Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
Fraction = Annotated[float, Field(gt=0, lt=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=100)]
"""A part of a path."""

Text = Annotated[str, Field(min_length=1)]
DataSetName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=100)]
T = TypeVar("T")


def _distinct(values: list[Any]) -> list[Any]:
    if repeated := [value for value in values if values.count(value) > 1]:
        raise ValueError(f"{repeated[0]!r} occurs twice; keep one of them")
    return values


Distinct = Annotated[list[T], Field(min_length=1), AfterValidator(_distinct)]


class Strict(BaseModel):
    """A model without unknown keys and without conversions; so are the typed dictionaries in it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


M = TypeVar("M", bound=BaseModel)


def parsed(model: type[M], document: Any, files: Files) -> M:
    """Check a document and return its typed content; `ConfigurationError` with all faults.

    ``files`` are the sources of the document, overlays last. A message names the last one with the key in question.
    """
    try:
        # In JSON, lists are tuples and dictionaries are models, and nothing else is converted.
        return model.model_validate_json(json.dumps(document, default=str))
    except ValidationError as error:
        refuse([_line(fault, document, model, files) for fault in error.errors(include_url=False)])
        raise
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{files[0]}: {error}") from error


def suggestion(word: str, known: Iterable[str]) -> str:
    """Name the known word that was probably meant, and list all, unless they are too many to read."""
    known = list(known)
    close = difflib.get_close_matches(word, known, n=1)
    allowed = ", ".join(known) if len(known) < 40 else f"one of {len(known)}"
    return (f"did you mean {close[0]}? " if close else "") + f"allowed: {allowed}"


def unknown(words: Iterable[str], known: Collection[str], where: str) -> list[str]:
    """One fault for each word that is not known."""
    return [f"{where} names {word!r}; {suggestion(word, known)}" for word in words if word not in known]


def _line(fault: Any, document: Any, model: type[BaseModel], files: Files) -> str:
    kind, value, context = fault["type"], fault["input"], fault.get("ctx", {})
    path = _path(fault["loc"], document)
    key = ".".join(map(str, path)) or "the file"
    file = file_with(path, files)
    if kind == "missing":
        return f"{file_with(path, files)}: {'.'.join([*map(str, path), str(fault['loc'][-1])])} is missing"
    if kind == "extra_forbidden":
        schema = model.model_json_schema()
        known = {
            name
            for node in (schema, *schema.get("$defs", {}).values())
            for name in node.get("properties", ())
        }
        close = difflib.get_close_matches(str(path[-1]), sorted(known), n=1)
        return f"{file}: unknown key {key}" + (f"; did you mean {close[0]}?" if close else "")
    if kind == "value_error":
        return f"{file}: {f'{key}: ' if path else ''}{context['error']}"
    if kind.startswith("union_tag"):
        received = f"is {_shown(context['tag'])}" if "tag" in context else "is missing"
        allowed = f"; allowed: {context['expected_tags']}" if "tag" in context else ""
        return f"{file}: {key}.{context['discriminator'].strip(chr(39))} {received}{allowed}"
    message = re.sub(r"^(Input|String|Value|List|Dictionary|Tuple) ", "", fault["msg"])
    message = message.replace("valid array", "list").replace("an object", "a mapping")
    message = message.replace(" after validation", "")
    if kind == "literal_error":
        message = suggestion(str(value), re.findall(r"[^\s',]+", context["expected"].replace(" or ", " ")))
    return f"{file}: {key} is {_shown(value)}; {message}{_advice(value, kind, file, path)}"


def _path(place: tuple[Any, ...], document: Any) -> list[Any]:
    """The keys of a place, without pydantic's names for members of unions."""
    path: list[Any] = []
    for part in place:
        if (
            part in document
            if isinstance(document, dict)
            else isinstance(document, list) and isinstance(part, int)
        ):
            path.append(part)
            document = document[part]
    return path


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def _advice(value: Any, kind: str, file: str, path: list[Any]) -> str:
    """The fix for a list or a mapping that was given as text, or a number that was read as text."""
    is_argument = file == COMMAND_LINE
    if kind == "list_type" and isinstance(value, (str, dict)):
        names = value.strip("[]{} ") if isinstance(value, str) else ", ".join(map(str, value))
        key = f"--config '{path[-1]}=[{names}]'" if is_argument else f"{path[-1]}: [{names}]"
        return f"; write {key}"
    if kind in ("dict_type", "model_type") and is_argument:
        return "; write it to a file for --configfile"
    if kind not in ("int_type", "float_type") or not isinstance(value, str):
        return ""
    if is_argument and len(path) > 1:
        return "; values in braces or brackets are text to --config, so write them to a file for --configfile"
    if re.fullmatch(r"[-+]?\d+[eE][-+]?\d+", value):
        return f"; write {value} with a point, as 1.0e-6"
    return "; leave out the quotes" if re.fullmatch(r"[-+\d.eE]+", value) else ""
