"""What code a job runs: Snakemake sees the script, but not what the script imports."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path


def code_of(script: str | Path, root: str | Path = ".", modules: Sequence[str] = ()) -> str:
    """A hash of all that a script needs of the library, without docstrings and comments.

    Parameters
    ----------
    script : path
        Of Python.
    root : path
        The checkout.
    modules : sequence of str
        Modules that it imports by name.
    """
    digest = hashlib.sha256()
    for path in sorted(needed_by(Path(script), Path(root), modules)):
        digest.update(f"{path.relative_to(root)}\n{_bare(path)}\n".encode())
    return digest.hexdigest()[:16]


def needed_by(script: Path, root: Path, modules: Sequence[str] = ()) -> set[Path]:
    """The files of the library that a script imports, and those that they import."""
    known: set[Path] = set()
    new = _imports(script, root) | {file for module in modules if (file := _file(module, root))}
    while new:
        known |= new
        new = set().union(*(_imports(path, root) for path in new)) - known
    return known


@cache
def _imports(path: Path, root: Path) -> set[Path]:
    """Files of the library that one file imports, at its top or in its functions."""
    found: set[Path | None] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {_file(alias.name, root) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            # Each name is a module of that package, or something that the module itself has.
            found |= {
                _file(f"{node.module}.{alias.name}", root) or _file(node.module, root) for alias in node.names
            }
    return {file for file in found if file is not None}


def _file(module: str, root: Path) -> Path | None:
    if module.split(".")[0] != "skem":
        return None
    base = root.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


@cache
def _bare(path: Path) -> str:
    """The code of a file: the same for other comments, docstrings and line breaks."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [statement for statement in body if not _is_text(statement)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
