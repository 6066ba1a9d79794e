"""Markdown, figures and files as HTML of a self-contained page."""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

UNQUOTED = " !$'()*+,-./:;<=>?@[]_`{|}~"
"""Characters that a data URL in double quotes may contain."""


def packed(path: Path) -> Markup:
    """Compress a file to base64, for an attribute that the page's script unpacks."""
    return Markup(b64encode(gzip.compress(path.read_bytes(), mtime=0)).decode("ascii"))


def image(path: Path, alt: str) -> Markup:
    """Render an SVG file as an image, which cannot clash with ids or styles of the page."""
    url = Markup(f"data:image/svg+xml;charset=utf-8,{quote(path.read_bytes(), safe=UNQUOTED)}")
    return Markup('<img src="{}" alt="{}">').format(url, alt)


def markdown(text: str, title: str) -> Markup:
    """Render Markdown without its first heading; HTML in it is shown as text.

    Each table gets a box to scroll in, scopes for screen readers, and a caption: the line before it that begins in bold,
    else the last heading, else ``title``.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "link", "autolink"])
    html = re.sub(r"<(/?)h\d>", r"<\1h4>", parser.render(re.sub(r"\A#+ .*\n", "", text)))
    caption = str(escape(title))

    def framed(found: re.Match[str]) -> str:
        nonlocal caption
        caption = re.sub("<[^>]*>", "", found["bold"] or found["heading"] or caption)
        if found["heading"]:
            return found[0]
        hidden = "" if found["bold"] else ' class="unseen"'
        box = f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}">'
        return f"{box}<table>\n<caption{hidden}>{caption}</caption>"

    bold = r"(?:<p>(?P<bold><strong>[^\n]*)</p>\n)?<table>"
    html = re.sub(rf"{bold}|<h4>(?P<heading>.*)</h4>", framed, html)
    html = re.sub(r"<th(?=[ >])", '<th scope="col"', html.replace("</table>", "</table></div>"))
    return Markup(re.sub(r"<tr>\n<td([^>]*)>(.*)</td>", r'<tr>\n<th scope="row"\1>\2</th>', html))
