"""Check the links and the text of built pages: python links.py _build/html"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

PLACEHOLDER = re.compile(r"\{\{|\}\}|\{%|%\}|<!--|-->")
NOT_PROSE = ("code", "pre", "script", "style")


class Page(HTMLParser):
    """The links of a page, the places that others can point to, and faults of its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.faults: list[str] = []
        self._inside: list[str] = []  # elements that hold no prose
        self._before, self._end = "", "."  # tags before a text, and the end of the text before them
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and tag != "link":
                self.links.append(value)
            elif name == "id" and value:
                self.places.add(value)
        if tag in NOT_PROSE:
            self._inside.append(tag)
        follows = tag == "p" and not attrs and self._before == "</p>"
        self._before = "</p><p>" if follows else f"<{tag}>"

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()
        self._before = f"</{tag}>"

    def handle_data(self, data: str) -> None:
        text = data.strip()
        if not text:
            return
        if not self._inside and PLACEHOLDER.search(text):
            self.faults.append(f"placeholder in {text[:60]!r}")
        if self._before == "</p><p>" and text[0].islower() and (self._end.isalpha() or self._end == ","):
            self.faults.append(f"a paragraph begins within a sentence: {text[:60]!r}")
        self._before, self._end = "", text[-1]


def broken(root: Path) -> list[str]:
    """A line for every link that leads nowhere, placeholder and sentence that is cut."""
    pages = {path: Page(path) for path in sorted(root.rglob("*.html")) if "_static" not in path.parts}
    faults = []
    for path, page in pages.items():
        faults += [f"{path.relative_to(root)}: {fault}" for fault in page.faults]
        for link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path.resolve()
            there = pages.get(target)
            if not target.exists() or (there and url.fragment and unquote(url.fragment) not in there.places):
                faults.append(f"{path.relative_to(root)}: {link}")
    return faults


if __name__ == "__main__":
    faults = broken(Path(sys.argv[1]).resolve())
    sys.exit("\n".join(["links that lead nowhere, and faults of the text:", *faults]) if faults else 0)
