"""The README shows what the last reference run measured, and its example does what it says."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_named_files_exist():
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert len(links) > 10
    for link in links:
        assert link.startswith("https://") or (ROOT / link).exists(), link


def test_examples(capsys):
    first, second = (block.split("```")[0] for block in TEXT.split("```python\n")[1:])
    printed = re.findall(r"[0-9.]+", re.search(r"print\(.*\)  # (.+)$", first, re.MULTILINE)[1])
    names = {}
    exec(first, names)
    assert capsys.readouterr().out.split() == printed
    exec(second, names)
    assert not names["outliers"].all()
