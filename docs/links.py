"""Whether every link from one built page to another leads somewhere: python links.py _build/html"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places that others can point to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and tag != "link":
                self.links.append(value)
            elif name == "id" and value:
                self.places.add(value)


def broken(root: Path) -> list[str]:
    """A line for every link that leads nowhere."""
    pages = {path: Page(path) for path in sorted(root.rglob("*.html")) if "_static" not in path.parts}
    faults = []
    for path, page in pages.items():
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
    sys.exit("\n".join(["links that lead nowhere:", *faults]) if faults else 0)
