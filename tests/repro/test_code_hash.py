"""What a rule's hash sees of the library."""

import re
import shutil
from pathlib import Path

import pytest

from skem.repro.code_hash import code_of, needed_by

ROOT = Path(__file__).parents[2]
RULES = {
    script
    for path in (ROOT / "workflow" / "rules").glob("*.smk")
    for script in re.findall(r'code=code\("(\w+)"\)', path.read_text(encoding="utf-8"))
}


def needed(script):
    return {
        str(path.relative_to(ROOT / "skem"))
        for path in needed_by(ROOT / f"workflow/scripts/{script}.py", ROOT)
    }


@pytest.fixture
def copy(tmp_path):
    for part in ("skem", "workflow/scripts"):
        shutil.copytree(ROOT / part, tmp_path / "copy" / part, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "copy"


def edited(copy, file, old, new):
    """The hash of training before and after an edit."""
    script, path = copy / "workflow/scripts/train.py", copy / "skem" / file
    before, text = code_of(script, copy), path.read_text(encoding="utf-8")
    assert old in text
    after = copy.parent / "edited"
    shutil.copytree(copy, after)
    (after / "skem" / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    return before, code_of(after / "workflow/scripts/train.py", after)


def test_a_constant_of_the_engine_counts(copy):
    before, after = edited(copy, "engine/problem.py", "ACTIVE_ROWS = 1e-40", "ACTIVE_ROWS = 1e-41")
    assert before != after


@pytest.mark.parametrize("new", ["# A comment.\nACTIVE_ROWS = 1e-40", "ACTIVE_ROWS = (\n    1e-40\n)"])
def test_a_comment_or_a_line_break_does_not(copy, new):
    before, after = edited(copy, "engine/problem.py", "ACTIVE_ROWS = 1e-40", new)
    assert before == after


def test_a_docstring_does_not(copy):
    text = (ROOT / "skem/engine/em.py").read_text(encoding="utf-8")
    before, after = edited(copy, "engine/em.py", text.split("\n")[0], '"""Another sentence.\n')
    assert before == after


def test_the_hash_of_training_goes_down_to_the_engine():
    floors = {"engine/em.py", "engine/covariances.py", "estimators/pskem.py", "repro/training/passes.py"}
    assert floors <= needed("train")
    assert "repro/ledger/verdicts.py" not in needed("train")


def test_every_hash_is_of_a_script_that_needs_the_library():
    assert RULES
    assert [script for script in sorted(RULES) if not needed(script)] == []
