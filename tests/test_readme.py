"""The README shows what the last reference run measured, and its example does what it says."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def between(name: str) -> str:
    return TEXT.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0].strip()


def test_speed_is_that_of_the_documentation():
    numbers = [cell.strip() for cell in between("speed").splitlines()[-1].strip("|").split("|")]
    size, dtype = numbers[0].rsplit(", ", 1)
    row = " | ".join([size, "overlapping", dtype, *numbers[1:]])
    assert f"| {row} |" in (ROOT / "docs/reproduce/speed.md").read_text(encoding="utf-8")


def test_named_files_exist():
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert len(links) > 20
    for link in links:
        assert link.startswith("https://") or (ROOT / link).exists(), link


def test_example(capsys):
    code = TEXT.split("```python\n")[1].split("```")[0]
    said = re.search(r"print\(.*\)  # ([0-9.]+)$", code, re.MULTILINE)[1]
    exec(code, {})
    assert f"{float(capsys.readouterr().out):.2f}" == said
