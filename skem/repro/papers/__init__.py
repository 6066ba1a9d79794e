"""The papers, each in a folder of its own: what a run of it left, its judges, tables and figures.

A paper that has judges says so by a module ``judges`` with ``knows(claim)``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from skem.repro.ledger.estimates import Claim


def judges() -> dict[str, Callable[[Claim], bool]]:
    """By paper that has judges: whether they know a claim, so that its expression need not be formal."""
    return {
        folder.name: import_module(f"{__name__}.{folder.name}.judges").knows
        for folder in iter_modules(__path__)
        if folder.ispkg
    }
