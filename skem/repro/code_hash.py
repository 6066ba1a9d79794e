"""Hashes of the code that a job runs: Snakemake hashes a rule's script, but not its imports."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import grimp

from skem.repro.files import write_json
from skem.repro.training.classifiers import find

VERIFIED = "skem.datasets"
"""Package that no hash follows: a job's arrays are verified by the hash of their content, whatever code fetched them."""

HASHES = Path(__file__).with_name("__pycache__") / "code_hashes.json"
"""Hashes of files by path, with their time and size: parsing all files takes more than a second."""


@cache
def code_of(script: str | Path) -> str:
    """Hash a script of the checkout and all of the library that it imports, without docstrings and comments."""
    paths = sorted(map(_file, modules_of(script)))
    hashes = [_hash(Path(script).absolute()), *(_hashes()[path] for path in paths)]
    return hashlib.sha256("".join(hashes).encode()).hexdigest()[:16]


def code_of_classifiers(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Entries of classifiers, and hashes of their code in the library."""
    found = {}
    for name in sorted(set(names)):
        module = find(name).estimator.split(":")[0]
        found[name] = repr(find(name)), code_of(_file(module)) if module in _graph().modules else ""
    return found


def modules_of(script: str | Path) -> set[str]:
    """Name the modules of the library that a script imports, and those that they import."""
    graph = _graph()
    found: set[str] = set()
    for node in ast.walk(ast.parse(Path(script).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & graph.modules or {str(node.module)}
    found &= graph.modules
    return found.union(*(graph.find_upstream_modules(module) for module in found)) - {VERIFIED}


@cache
def _graph() -> grimp.ImportGraph:
    """Imports between the library's modules, those inside functions among them."""
    graph = grimp.build_graph("skem", cache_dir=None)
    for module in {VERIFIED} | graph.find_descendants(VERIFIED):
        graph.remove_module(module)
    graph.add_module(VERIFIED)  # `from skem import datasets` imports that, not skem
    for module in graph.modules:
        text = _file(module).read_text(encoding="utf-8")
        imported = set(re.findall(r'"(skem[\w.]*):\w+"', text)) & graph.modules  # "module:class"
        if "import_module(" in text and module != "skem":  # computed names: of any module below
            imported |= graph.find_descendants(module)
        for name in imported:
            graph.add_import(importer=module, imported=name)
    return graph


@cache
def _file(module: str) -> Path:
    path = _root().joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _root() -> Path:
    """Folder of the checkout."""
    return Path(str(find_spec("skem").origin)).parents[1]  # type: ignore[union-attr]


@cache
def _hashes() -> dict[Path, str]:
    """Hash of each file of the library; of one with the time and size that `HASHES` has, the hash there."""
    try:
        before = json.loads(HASHES.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        before = {}
    found: dict[str, Any] = {}
    for path in map(_file, _graph().modules):
        stat, name = path.stat(), str(path)
        known, current = before.get(name, []), [stat.st_mtime_ns, stat.st_size]
        found[name] = known if known[:2] == current else [*current, _hash(path)]
    if found != before:
        with suppress(OSError):
            write_json(HASHES, found)
    return {Path(name): entry[2] for name, entry in found.items()}


def _hash(path: Path) -> str:
    return hashlib.sha256(_bare(path)).hexdigest()


def _bare(path: Path) -> bytes:
    """Path and syntax tree of a file: the same for other comments, docstrings and line breaks."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    blocks: list[ast.AST] = [tree]
    while blocks:  # statements only: expressions are most of the nodes, and have no docstrings
        block = blocks.pop()
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            blocks += (statements := getattr(block, name, []))
            if name == "body":
                block.body = [one for one in statements if not _is_text(one)]  # type: ignore[attr-defined]
    return f"{path.relative_to(_root())}\n{ast.dump(tree)}\n".encode()


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
