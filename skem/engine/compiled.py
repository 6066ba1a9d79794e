"""The modules that numba compiles, imported where they are first needed: that takes a third of a second.

Ctrl-C waits meanwhile. In the middle of an import it would leave half of numba behind, and every later fit would fail.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from skem.engine.interrupts import sigint, uninterrupted
from skem.engine.threads import single_threaded


@uninterrupted
def _import(name: str) -> Any:
    module = importlib.import_module(f"skem.engine.{name}")
    sigint.handle_waiting()
    return module


@cache
def _module(name: str) -> Any:
    with single_threaded():
        return _import(name)


def kernels() -> Any:
    """The E-step's loops."""
    return _module("kernels")


def factors() -> Any:
    """Cholesky factors of many small matrices."""
    return _module("factors")
