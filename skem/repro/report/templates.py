"""Pages rendered from the templates in ``docs/templates``.

A template is Markdown with names of values in Jinja's syntax, such as ``{{ table1.rice.nested }}`` or
``{{ ours["pulford.sec3-2.rice.margin"] }}``. `values` computes the values and decides their digits. A conclusion in words has its
condition beside it: ``{% require table1.mnist.nested < table1.mnist.svm_rbf %}``.
"""

from __future__ import annotations

import operator
from itertools import product
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

from skem.repro.config.documents import refuse
from skem.repro.report import values
from skem.repro.report.reference import Reference

FOLDER = "docs/templates"
SUFFIX = ".j2"
NOTE = "<!-- Rendered from {} by `snakemake pages`: edit the template. -->\n"
"""First line of every page, behind the front matter if it has one."""

COMPARISONS = {"lt": "<", "gt": ">", "eq": "==", "ne": "!="}
"""Comparisons of `Require`, by the name that `operator` and Jinja share."""


class Name:
    """A name of a template; its text is the value."""

    def __init__(self, reference: Reference, *parts: str) -> None:
        self._reference, self._parts = reference, parts

    def __getattr__(self, part: str) -> Name:
        return Name(self._reference, *self._parts, part)

    __getitem__ = __getattr__

    def __str__(self) -> str:
        try:
            return values.resolve(self._reference, self._parts)
        except (LookupError, TypeError, ValueError) as error:
            raise TemplateError(f"{'.'.join(self._parts)}: {error.args[0]}") from error

    def __sub__(self, other: Name) -> float:
        return float(str(self)) - float(str(other))

    def __repr__(self) -> str:
        return f"{'.'.join(self._parts)} ({self})"


class Require(Extension):
    """``{% require a < b %}`` adds nothing to a page, and is an error if the values, as they are printed, do not compare so."""

    tags = {"require"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        """Turn the statement into a call of `check`."""
        line = next(parser.stream).lineno
        test = parser.parse_expression()
        if not isinstance(test, nodes.Compare) or any(part.op not in COMPARISONS for part in test.ops):
            parser.fail("require needs a comparison such as a < b", line)
        values = nodes.List([test.expr, *(part.expr for part in test.ops)])
        names = nodes.Const([part.op for part in test.ops])
        return nodes.ExprStmt(self.call_method("check", [nodes.Const(line), values, names]), lineno=line)

    def check(self, line: int, values: list[Any], names: list[str]) -> None:
        """Compare each value, or each of a list, with the next."""
        lists = [value if isinstance(value, list) else [value] for value in values]
        for name, *sides in zip(names, lists, lists[1:], strict=False):
            for left, right in product(*sides):
                if not getattr(operator, name)(_comparable(left), _comparable(right)):
                    raise TemplateError(f"line {line} requires {left!r} {COMPARISONS[name]} {right!r}")


def _comparable(value: Any) -> float | str:
    try:
        return float(str(value))
    except ValueError:
        return str(value)


_ENVIRONMENT = Environment(
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
    extensions=[Require],
)


def pages(project: str | Path = ".") -> dict[Path, Path]:
    """Paths of the templates, each with the path of its page."""
    project = Path(project)
    found = {}
    for template in sorted((project / FOLDER).rglob(f"*{SUFFIX}")):
        page = template.relative_to(project / FOLDER).with_suffix("")
        found[template] = project / page if page.name == "README.md" else project / "docs" / page
    return found


def _with_note(text: str, note: str) -> str:
    """Put the note above a page, or behind its front matter, which must come first."""
    front, end, body = text.partition("\n---\n") if text.startswith("---\n") else ("", "", text)
    return front + end + note + body


def changed(project: str | Path = ".") -> dict[Path, str]:
    """Pages that differ from their rendered templates, with their new text; one error has a fault of each template."""
    reference = Reference(Path(project) / "results/reference", Path(project) / "config")
    reference.table("claims")  # a claims table of another version is one fault, not one per name
    names = {head: Name(reference, head) for head in values.heads(reference)}
    different: dict[Path, str] = {}
    faults: list[str] = []
    for template, page in pages(project).items():
        where = template.relative_to(project).as_posix()
        try:
            text = _ENVIRONMENT.from_string(template.read_text(encoding="utf-8")).render(names)
        except TemplateError as error:
            faults.append(f"{where}: {error}")
            continue
        text = _with_note(text, NOTE.format(where))
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            different[page] = text
    refuse(faults)
    return different
