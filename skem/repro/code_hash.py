"""What code a job runs: Snakemake sees the script, but not what the script imports."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

VERIFIED = "skem.datasets"
"""Where following imports stops. A job reads a data set's arrays, which are verified by the hash of their content: whatever
fetches, keeps or decodes them, its numbers are the same."""


def code_of(script: str | Path, root: str | Path = ".") -> str:
    """A hash of a script and all that it needs of the library, without docstrings and comments.

    Parameters
    ----------
    script : path
        Of Python.
    root : path
        The checkout.
    """
    script, root = Path(script), Path(root)
    digest = hashlib.sha256()
    for path in (script, *sorted(needed_by(script, root))):
        digest.update(f"{path.relative_to(root)}\n{_parsed(_text(path)).bare}\n".encode())
    return digest.hexdigest()[:16]


def needed_by(script: Path, root: Path) -> set[Path]:
    """The files of the library that a script imports, and those that they import."""
    known: set[Path] = set()
    new = _imports(script, root)
    while new:
        known |= new
        new = set().union(*(_imports(path, root) for path in new)) - known
    return known


def _imports(path: Path, root: Path) -> set[Path]:
    """Files of the library that one file imports, at its top or in its functions."""
    parsed = _parsed(_text(path))
    found = {file for module, name in parsed.imported if (file := _file(module, name, root))}
    # Names that are known at run time only: whatever stands below.
    return found | set(path.parent.rglob("*.py")) - {path} if parsed.by_name else found


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


class _Parsed(NamedTuple):
    """What code imports, modules and names in them; whether it also imports by names that it computes; and what it does.

    The latter, ``bare``, is the same for other comments, docstrings and line breaks.
    """

    imported: list[tuple[str, str]]
    by_name: bool
    bare: str


@cache
def _parsed(code: str) -> _Parsed:
    tree = ast.parse(code)
    found: list[tuple[str, str]] = []
    # Statements only, not the expressions in them, which are most of the nodes.
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [(node.module, alias.name) for alias in node.names]
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            statements = getattr(node, name, [])
            nodes += statements
            if name == "body" and statements:
                node.body = [one for one in statements if not _is_text(one)]  # type: ignore[attr-defined]
    by_name = any(imported in found for imported in (("importlib", ""), ("importlib", "import_module")))
    return _Parsed(found, by_name, ast.dump(tree))


@cache
def _file(module: str, name: str, root: Path) -> Path | None:
    """Where a name of a module stands: in a module of that package, or in the module itself."""
    whole = f"{module}.{name}"
    if module.split(".")[0] != "skem" or f"{whole}.".startswith(f"{VERIFIED}."):
        return None
    bases = [root.joinpath(*dotted.split(".")) for dotted in (whole, module) if not dotted.endswith(".")]
    places = [place for base in bases for place in (base.with_suffix(".py"), base / "__init__.py")]
    return next((place for place in places if place.is_file()), None)


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
