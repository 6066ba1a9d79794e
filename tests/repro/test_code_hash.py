"""The hash of a rule's code covers all that its script imports, and nothing else."""

import shutil
import sys
from dataclasses import replace

import pytest
from checkouts import ROOT

from skem.repro import code_hash
from skem.repro.training.classifiers import baselines

SCRIPTS = ("train", "claims", "baseline")


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A copy of the library and its scripts, where `code_hash` looks for them."""
    for folder in ("skem", "workflow/scripts"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.delitem(sys.modules, "skem")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    forget()


def forget():
    for function in vars(code_hash).values():
        getattr(function, "cache_clear", lambda: None)()


def hashes(folder):
    forget()
    return {name: code_hash.code_of(folder / f"workflow/scripts/{name}.py") for name in SCRIPTS}


@pytest.fixture(scope="module")
def before():
    """Hashes of this checkout, which a copy has as well."""
    return hashes(ROOT)


def changed(checkout, before, path, edit):
    """Scripts whose hash an edit of a file changes."""
    text = (checkout / path).read_text(encoding="utf-8")
    assert edit(text) != text
    (checkout / path).write_text(edit(text), encoding="utf-8")
    after = hashes(checkout)
    return {name for name in SCRIPTS if after[name] != before[name]}


@pytest.mark.parametrize(
    ("path", "scripts"),
    [
        ("workflow/scripts/train.py", {"train"}),
        ("skem/engine/kernels.py", {"train", "claims"}),  # imported inside a function
        ("skem/estimators/pskem.py", {"train"}),  # named in a registry
        ("skem/repro/papers/titsias2001/measures.py", {"claims"}),  # a computed name
        ("skem/repro/training/baselines.py", {"baseline"}),
        ("skem/repro/training/classifiers/baselines.py", {"claims"}),  # trains no model again
        ("skem/datasets/_sources.py", set()),  # data are verified by their content
    ],
)
def test_an_edit_changes_the_hashes_of_the_scripts_that_import_the_file(checkout, before, path, scripts):
    assert changed(checkout, before, path, lambda text: f"{text}\nANOTHER = 1\n") == scripts


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("1e-40", "1e-41", False),
        ('"""', '"""Another docstring: ', True),
        ("ACTIVE_ROWS = 1e-40", "ACTIVE_ROWS = (\n    # why\n    1e-40\n)", True),
    ],
)
def test_constants_count_and_docstrings_comments_and_line_breaks_do_not(checkout, before, old, new, same):
    found = changed(checkout, before, "skem/engine/problem.py", lambda text: text.replace(old, new, 1))
    assert found == (set() if same else {"train", "claims"})


def test_adding_a_classifier_changes_no_other(monkeypatch):
    names = ["pskem", "svm_rbf", "mda"]
    before = code_hash.code_of_classifiers(names)
    monkeypatch.setitem(baselines.ENTRIES, "another", baselines.ENTRIES["svm_linear"])
    assert code_hash.code_of_classifiers(names) == before
    monkeypatch.setitem(baselines.ENTRIES, "svm_rbf", replace(baselines.ENTRIES["svm_rbf"], narrow=4.0))
    after = code_hash.code_of_classifiers(names)
    assert {name for name in names if after[name] != before[name]} == {"svm_rbf"}
    (_, of_another), (_, of_svm) = code_hash.code_of_classifiers(["another", "svm_rbf"]).values()
    assert of_another == of_svm == code_hash.code_of(ROOT / "skem/repro/training/svm.py")
