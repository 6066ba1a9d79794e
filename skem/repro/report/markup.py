"""What a run writes, as HTML to stand in a page: Markdown, SVG, and files to download."""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

_TYPES = {
    "csv": "text/csv",
    "js": "text/javascript",
    "md": "text/markdown",
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "tex": "application/x-tex",
    "yaml": "application/yaml",
    "cff": "application/yaml",
}
LOWEST = 150
"""Pixels of height that a figure has at least."""

_NUMBER = re.compile(r"[-+±.,0-9e%()\[\] ]+")
_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_DRAWING = {
    f"{{{_SVG}}}{name}"
    for name in (
        *("svg", "g", "defs", "use", "symbol", "title", "desc", "text", "tspan", "image"),
        *("path", "rect", "circle", "ellipse", "line", "polyline", "polygon"),
        *("clipPath", "mask", "linearGradient", "radialGradient", "stop", "pattern", "marker"),
    )
}
"""Elements of an SVG that draw, and can do nothing else."""
_PLAIN = "".join(chr(code) for code in range(32, 127) if chr(code) not in '%#"&<>\\^`{|}')
"""What may stand in such an address, and in an attribute, as it is."""


def kind(path: Path) -> str:
    """The MIME type of a file, from its name."""
    return _TYPES[path.suffix[1:]]


def data_url(path: Path) -> Markup:
    """A file as an address that needs neither network nor folder, for an attribute in double quotes."""
    content = path.read_bytes()
    if kind(path) == "application/pdf":
        return Markup(f"data:{kind(path)};base64,{b64encode(content).decode('ascii')}")
    # A quarter shorter than base64.
    return Markup(f"data:{kind(path)};charset=utf-8,{quote(content, safe=_PLAIN)}")


def packed(path: Path) -> Markup:
    """A file in gzip and base64, a third of its size where it is a script, for a string in double quotes."""
    return Markup(b64encode(gzip.compress(path.read_bytes(), mtime=0)).decode("ascii"))


def markdown(text: str, title: str, level: int = 4) -> Markup:
    """Markdown without its first heading, the others at a level of the page's; HTML in it is shown, not used.

    A table gets the bold line, or else the heading, before it as caption (without either, ``title``), scopes on
    its headers, and a box of its own to scroll in.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.disable(["image", "link", "autolink"])  # nothing is to be fetched
    tokens = list(_captioned(parser.parse(text), title, level))
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def _captioned(tokens: list[Token], title: str, level: int) -> Iterator[Token]:
    caption, shown, first = title, False, False
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token.type == "heading_open":
            text = tokens[i + 1].content
            if i > 0:
                caption, shown = text, True
                yield _raw(f"<h{level}>{escape(text)}</h{level}>\n")
            i += 3
            continue
        bold = tokens[i + 1].content if token.type == "paragraph_open" else ""
        if re.fullmatch(r"\*\*[^*]+\*\*", bold) and tokens[i + 3].type == "table_open":
            caption, shown = bold.strip("*"), False
            i += 3
            continue
        if token.type == "table_open":
            # What a heading says already is for screen readers only.
            hidden = ' class="unseen"' if shown or caption == title else ""
            yield _raw(
                f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}"><table>\n'
                f"<caption{hidden}>{escape(caption)}</caption>\n"
            )
        elif token.type == "table_close":
            yield _raw("</table></div>\n")
        else:
            if token.type == "tr_open":
                first = True
            elif token.type == "th_open":
                token.attrSet("scope", "col")
            elif token.type == "td_open" and not first and _NUMBER.fullmatch(tokens[i + 1].content):
                token.attrJoin("class", "number")
            elif token.type == "td_open" and first:
                token.tag = "th"
                token.attrSet("scope", "row")
            elif token.type == "td_close" and first:
                token.tag, first = "th", False
            yield token
        i += 1


def _raw(html: str) -> Token:
    return Token("html_block", "", 0, content=html)


def _harmless(key: str, value: str) -> bool:
    """Whether an attribute of a drawing can run nothing and fetch nothing."""
    name = key.rpartition("}")[2].lower()
    if name.startswith("on"):
        return False
    if name in ("href", "src"):
        return value.startswith(("#", "data:image/png;base64,"))
    return all(target.startswith("#") for target in re.findall(r"url\(\s*[\"']?(.)", value))


def inline_svg(path: Path, label: str) -> Markup:
    """A figure to stand in a page: named for screen readers, as wide as there is room.

    Its ids get the file's name in front, since several figures in one page would have the same, and its style
    rules are left to the page, where they would hold for everything. Only what draws is taken over: no script, no event
    handler, nothing from elsewhere.

    Raises
    ------
    ValueError
        If the file is not an SVG.
    """
    for prefix, name in (("", _SVG), ("xlink", _XLINK)):
        ElementTree.register_namespace(prefix, name)
    try:
        root = ElementTree.fromstring(path.read_bytes())
    except ElementTree.ParseError as error:
        raise ValueError(
            f"{path} is not an SVG ({error}); delete it and run `snakemake --cores all`"
        ) from error
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag not in _DRAWING:
                parent.remove(child)
    for element in root.iter():
        element.tail = None
        for key, value in list(element.attrib.items()):
            if not _harmless(key, value):
                del element.attrib[key]
            elif key == "d":  # a hundredth of a point will do
                element.set(
                    key, re.sub(r"\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}", " ".join(value.split()))
                )
            elif key == "id":
                element.set(key, f"{path.stem}-{value}")
            elif key == f"{{{_XLINK}}}href":
                element.set(key, value.replace("#", f"#{path.stem}-"))
            elif "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{path.stem}-"))
    across, down = (float(part) for part in root.get("viewBox", "0 0 600 400").split()[2:])
    width = across * 4 / 3  # points to pixels
    # On a telephone a figure is as wide as the screen, but for one so wide that nothing would be left to see.
    narrowest = min(width, LOWEST * across / down)
    for key in ("width", "height"):
        root.attrib.pop(key, None)
    root.set("role", "img")
    root.set("aria-label", label)
    root.set("style", f"max-width: {width:.0f}px; min-width: {narrowest:.0f}px")
    return Markup(ElementTree.tostring(root, encoding="unicode"))
