"""Pages rendered from the templates in ``docs/templates``.

A template is Markdown with names of values in Jinja's syntax, such as ``{{ table1.rice.nested }}`` or
``{{ ours["pulford.sec3-2.rice.margin"] }}``. `values` computes the values and decides their digits. A template has neither expressions
nor statements, so all faults of all templates are found at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from jinja2 import Environment, StrictUndefined, TemplateSyntaxError, nodes

from skem.repro.config.documents import refuse
from skem.repro.report.values import Values

FOLDER = "docs/templates"
SUFFIX = ".j2"
NOTE = "<!-- Rendered from {} by `snakemake pages`: edit the template. -->\n"
"""First line of every page, behind the front matter if it has one."""

Resolve = Callable[[tuple[str, ...]], str]

_ENVIRONMENT = Environment(undefined=StrictUndefined, keep_trailing_newline=True)


def rendered(text: str, where: str, resolve: Resolve) -> tuple[str, list[str]]:
    """Replace every name of a template by its value; return the page and the faults, which call the template ``where``.

    ``resolve`` maps the parts of a name to its value; `LookupError` if there is none.
    """
    try:
        tree = _ENVIRONMENT.parse(text)
    except TemplateSyntaxError as error:
        return text, [f"{where}, line {error.lineno}: {error.message}"]
    shown, faults = [], []
    for node in _parts(tree):
        if isinstance(node, nodes.TemplateData):
            shown.append(node.data)
            continue
        name = _name(node)
        if not name:
            faults.append(
                f"{where}, line {node.lineno}: a template has names only, as {{{{ table1.rice.nested }}}}; "
                "skem/repro/report/values.py computes values"
            )
            continue
        try:
            shown.append(resolve(name))
        except (LookupError, TypeError, ValueError) as error:
            faults.append(f"{where}, line {node.lineno}: {'.'.join(name)}: {error.args[0]}")
    return "".join(shown), faults


def _parts(tree: nodes.Template) -> Iterator[nodes.Node]:
    for statement in tree.body:
        yield from statement.nodes if isinstance(statement, nodes.Output) else [statement]


def _name(node: nodes.Node) -> tuple[str, ...]:
    """The parts of a name, empty for any other expression."""
    if isinstance(node, nodes.Name):
        return (node.name,)
    if isinstance(node, nodes.Getattr):
        head, last = _name(node.node), node.attr
    elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
        head, last = _name(node.node), str(node.arg.value)
    else:
        return ()
    return (*head, last) if head else ()


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
    """Pages that differ from their rendered templates, with their new text; one error lists the faults of all templates."""
    resolve = Values(project).resolve
    different: dict[Path, str] = {}
    faults: list[str] = []
    for template, page in pages(project).items():
        where = template.relative_to(project).as_posix()
        text, wrong = rendered(template.read_text(encoding="utf-8"), where, resolve)
        text, faults = _with_note(text, NOTE.format(where)), faults + wrong
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            different[page] = text
    refuse(faults)
    return different
