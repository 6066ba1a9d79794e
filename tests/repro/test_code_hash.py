"""The hash of a rule's code covers all that its script imports, and nothing else."""

import sys
from dataclasses import replace

import pytest
from checkouts import ROOT

from skem.repro import code_hash
from skem.repro.training.classifiers import baselines

FILES = {
    "skem/__init__.py": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from skem.lazy import Lazy as Lazy
        def __getattr__(name):
            return getattr(__import__("skem.lazy", fromlist=[name]), name)
        """,
    "skem/lazy.py": "Lazy = 1",
    "skem/engine/__init__.py": '"""A docstring."""',
    "skem/engine/em.py": """
        '''A docstring.'''
        # A comment.
        def e_step():
            '''A docstring.'''
            from skem.engine import kernels
            return (kernels, 1e-40)
        """,
    "skem/engine/kernels.py": "from . import threads",
    "skem/engine/threads.py": "LIMIT = 1",
    "skem/other.py": "OTHER = 1",
    "skem/registry.py": 'ENTRIES = {"em": "skem.engine.em:e_step"}',
    "skem/datasets/__init__.py": "from skem.datasets import sources",
    "skem/datasets/sources.py": "import skem.other",
    "skem/papers/__init__.py": """
        from importlib import import_module
        def load(name):
            return import_module(f"{__name__}.{name}.paper")
        """,
    "skem/papers/toy2000/__init__.py": "",
    "skem/papers/toy2000/paper.py": "from skem.engine import em",
    "train.py": """
        from skem import datasets
        from skem.engine.em import e_step
        """,
    "library.py": "from skem import Lazy",
    "claims.py": "from skem import papers",
    "models.py": "from skem import registry",
}
"""A library with one import of each kind, and scripts."""

TRAIN = {"train.py", "skem/engine/em.py", "skem/engine/kernels.py", "skem/engine/threads.py"}
COVERED = {
    "train.py": TRAIN,
    "library.py": {"library.py", "skem/__init__.py", "skem/lazy.py"},
    "models.py": TRAIN - {"train.py"} | {"models.py", "skem/registry.py"},
    "claims.py": TRAIN - {"train.py"}
    | {
        "claims.py",
        "skem/papers/toy2000/paper.py",
        "skem/papers/toy2000/__init__.py",
        "skem/papers/__init__.py",
    },
}


@pytest.fixture
def library(tmp_path, monkeypatch):
    """The library of `FILES`, where `code_hash` looks for skem."""
    monkeypatch.delitem(sys.modules, "skem")
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.replace("\n        ", "\n"), encoding="utf-8")
    yield tmp_path
    forget()


def forget():
    for function in vars(code_hash).values():
        getattr(function, "cache_clear", lambda: None)()


def hashes(folder):
    forget()
    return {script: code_hash.code_of(folder / script) for script in COVERED}


@pytest.mark.parametrize("edited", FILES)
def test_an_edit_changes_the_hashes_of_the_scripts_that_import_the_file(library, edited):
    before = hashes(library)
    path = library / edited
    path.write_text(path.read_text(encoding="utf-8") + "\nANOTHER = 1\n", encoding="utf-8")
    changed = {script for script, code in hashes(library).items() if code != before[script]}
    assert changed == {script for script, files in COVERED.items() if edited in files}


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("1e-40", "1e-41", False),
        ("A docstring.", "Another docstring.", True),
        ("# A comment.", "# Another comment.", True),
        ("(kernels, 1e-40)", "(\n        kernels,  # why\n        1e-40,\n    )", True),
    ],
)
def test_constants_count_and_docstrings_comments_and_line_breaks_do_not(library, old, new, same):
    before, path = hashes(library), library / "skem/engine/em.py"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert (hashes(library) == before) is same


def test_training_jobs_hash_the_engine_and_neither_data_sets_nor_claims():
    train = code_hash.modules_of(ROOT / "workflow/scripts/train.py")
    assert {"skem.engine.em", "skem.estimators.pskem", "skem.repro.training.iterations"} <= train
    assert not [module for module in train if module.startswith(("skem.datasets", "skem.repro.ledger"))]
    families = {module for module in train if module.startswith("skem.repro.training.classifiers.")}
    assert families == {"skem.repro.training.classifiers.shared_kernel"}
    claims = code_hash.modules_of(ROOT / "workflow/scripts/claims.py")
    assert {"skem.repro.papers.pulford2022.measures", "skem.repro.papers.titsias2001.measures"} <= claims


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
