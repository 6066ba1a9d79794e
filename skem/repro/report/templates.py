"""Pages rendered from the templates in ``docs/templates``.

A template is Markdown with names of values in Jinja's syntax, such as ``{{ table1.rice.nested }}`` or
``{{ ours["pulford.sec3-2.rice.margin"] }}``. `values` computes the values and decides their digits.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, StrictUndefined, TemplateError

from skem.repro.config.documents import refuse
from skem.repro.report import values
from skem.repro.report.reference import Reference

FOLDER = "docs/templates"
SUFFIX = ".j2"
NOTE = "<!-- Rendered from {} by `snakemake pages`: edit the template. -->\n"
"""First line of every page, behind the front matter if it has one."""

_ENVIRONMENT = Environment(undefined=StrictUndefined, keep_trailing_newline=True)


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
